# SPDX-License-Identifier: GPL-2.0-only
"""Sections of the package's docstrings as definition lists: numpy's, with what a thing is in place of its type.

Annotations have the types, so that an entry is ``name : what it is, with shape and unit``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from sphinx.application import Sphinx

SECTIONS = ("Attributes", "Parameters", "Returns", "Yields", "Raises", "Notes", "Examples")
#: A page that a docstring names by its file.
PAGE = re.compile(r"(``)?\bdocs/([\w/-]+)\.md(?(1)``)")
#: An entry's names, and what they are.
ENTRY = re.compile(r"(\*{0,2}\w[\w.*]*(?:, \*{0,2}\w[\w.*]*)*) :(?: (.*))?")


def sections_as_lists(lines: list[str]) -> list[str]:
    """The docstring ``lines`` (without indentation in common) as reStructuredText."""
    written: list[str] = []
    section = ""
    at = 0
    while at < len(lines):
        if lines[at] in SECTIONS and set(lines[at + 1 : at + 2]) == {"-" * len(lines[at])}:
            section = lines[at]
            written += [f".. rubric:: {section}", ""]
            at += 2
        elif section and section not in ("Notes", "Examples") and (entry := ENTRY.fullmatch(lines[at])):
            body = [entry[2] or "", *_indented(lines[at + 1 :])]
            written += ["", _term(entry[1], section), *(f"    {line.strip()}" for line in body if line.strip()), ""]
            at += len(body)
        else:
            written.append(lines[at])
            at += 1
    return written


def _term(names: str, section: str) -> str:
    quote = ":class:`{}`" if section == "Raises" else "``{}``"
    return ", ".join(quote.format(name) for name in names.split(", "))


def _indented(lines: list[str]) -> Iterator[str]:
    for line in lines:
        if not line.startswith(" "):
            return
        yield line


def _process(app: Sphinx, what: str, name: str, thing: object, options: Any, lines: list[str]) -> None:
    lines[:] = [PAGE.sub(r":doc:`\2`", line) for line in sections_as_lists(lines)]


def _sign(
    app: Sphinx, what: str, name: str, thing: object, options: Any, signature: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    """The default of a dataclass's field that is made anew each time is no expression that Sphinx could read."""
    return signature and signature.replace("<factory>", "..."), returned


def setup(app: Sphinx) -> dict[str, bool]:
    """Let autodoc's docstrings and signatures pass through here."""
    app.connect("autodoc-process-docstring", _process)
    app.connect("autodoc-process-signature", _sign)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
