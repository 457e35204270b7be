# SPDX-License-Identifier: GPL-2.0-only
"""``astra-py params``: every key of a scenario."""

from __future__ import annotations

import textwrap
from dataclasses import asdict
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated

import typer

from astra_py.cli.common import print_json
from astra_py.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from astra_py.config import Parameter

__all__ = ["params"]

_WIDTH = 110


def params(
    pattern: Annotated[
        str, typer.Argument(help="Part of a key, or a pattern with * and ?; all keys without it.", show_default=False)
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a parameter.")] = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="A Markdown table.")] = False,
    is_quiet: Annotated[bool, typer.Option("--quiet", help="Only the keys.")] = False,
) -> None:
    """List the parameters of scenarios: key, kind, unit, default, what is allowed, where the default comes from."""
    from astra_py.config import parameter_table

    if as_json and as_markdown:
        raise ConfigError("--json and --markdown: both are given; allowed: one of the two")
    table = parameter_table()
    found = [row for row in table if _matches(row.key, pattern)]
    if not found:
        hint = did_you_mean(pattern, [row.key for row in table])
        raise ConfigError(f"{pattern!r} is part of no key{hint}; allowed: a part of a key, or a pattern with * and ?")
    if as_json:
        print_json(asdict(row) for row in found)
    elif as_markdown:
        _print_markdown(found)
    elif is_quiet:
        print("\n".join(row.key for row in found))
    else:
        for row in found:
            _print_text(row)


def _matches(key: str, pattern: str) -> bool:
    return fnmatchcase(key, pattern) if set("*?[") & set(pattern) else pattern in key


def _facts(row: Parameter) -> list[tuple[str, str]]:
    """Return the labelled facts of a parameter, without those that it has not."""
    facts = [
        ("allowed", row.allowed),
        ("only", row.only),
        ("held in", row.unit),
        ("source", row.source),
        *(("preset", f"{name}: {value} ({source})") for name, (value, source) in row.presets.items()),
        ("ns-3", ", ".join(row.ns3)),
    ]
    return [(label, text) for label, text in facts if text]


def _default(row: Parameter) -> str:
    if row.default is None:
        return "must be given"
    others = [f"; {default} with transport.kind = {kind!r}" for kind, default in row.by_transport.items()]
    return f"default {row.default}{''.join(others)}"


def _print_text(row: Parameter) -> None:
    print(f"{row.key}  ({row.type}, {_default(row)})")
    print(textwrap.fill(row.description, _WIDTH, initial_indent="    ", subsequent_indent="    "))
    for label, text in _facts(row):
        start = f"    {label + ':':<9}"
        print(textwrap.fill(text, _WIDTH, initial_indent=start, subsequent_indent=" " * len(start)))


def _print_markdown(rows: list[Parameter]) -> None:
    print("| key | kind | unit | default | allowed | source | ns-3 | description |")
    print("|---|---|---|---|---|---|---|---|")
    for row in rows:
        allowed = f"{row.allowed}; {row.only}" if row.only else row.allowed
        default = "" if row.default is None else f"`{row.default}`"
        default += "".join(f"; {kind}: `{other}`" for kind, other in row.by_transport.items())
        sources = [row.source, *(f"{name}: `{value}`, {source}" for name, (value, source) in row.presets.items())]
        source = "; ".join(filter(None, sources))
        cells = [f"`{row.key}`", row.type, row.unit, default, allowed, source, ", ".join(row.ns3), row.description]
        print("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
