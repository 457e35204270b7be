# SPDX-License-Identifier: GPL-2.0-only
"""``astra-py inspect``: what a file is, and what is taken from it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from astra_py.cli.common import print_json

__all__ = ["inspect"]


def inspect(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A file, or what the names of one file a rank begin with."),
    ],
    format: Annotated[
        str | None, typer.Option("--format", help="Its format; recognised from its content without it.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Take warnings for errors.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
    is_quiet: Annotated[
        bool, typer.Option("--quiet", help="Only whether it is well: the exit code, and errors.")
    ] = False,
) -> None:
    """Recognise a file, check it, and print what is taken from it, with units, and what is not."""
    from astra_py.formats import find_format
    from astra_py.formats.convert import inspect as look

    document = look(file, format, is_strict=strict)
    found = find_format(format or document.format)
    if as_json:
        facts = {"path": str(file), "format": found.name, "title": found.title, "kind": found.kind.value}
        said = {"summary": document.summary, "warnings": document.warnings, "ignored": document.ignored}
        print_json([{**facts, "ranks": document.ranks, **{key: list(lines) for key, lines in said.items()}}])
        return
    if is_quiet:
        return
    print(f"{found.title} ({found.name}), a {found.kind} file")
    for line in document.summary:
        print(f"  {line}")
    for line in document.warnings:
        print(f"  warning: {line}")
    for line in document.ignored:
        print(f"  ignored: {line}")
