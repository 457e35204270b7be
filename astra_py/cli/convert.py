# SPDX-License-Identifier: GPL-2.0-only
"""``astra-py convert``: a file written as one of another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from astra_py.cli.common import print_json

__all__ = ["convert"]


def convert(
    source: Annotated[
        Path, typer.Argument(metavar="IN", help="A file, or what the names of one file a rank begin with.")
    ],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="What to write; its suffix tells the format.")],
    overrides: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[key.path=value]...",
            help="Of a workload: keys of the scenario that it is given in, such as workload.missing_ranks=same.",
            show_default=False,
        ),
    ] = None,
    to: Annotated[str | None, typer.Option("--to", help="The format to write, where the suffix does not tell.")] = None,
    format: Annotated[
        str | None, typer.Option("--format", help="The format of IN; recognised from its content without it.")
    ] = None,
    ranks: Annotated[int | None, typer.Option("--ranks", min=1, help="Ranks of the job, where IN fits any.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Take warnings for errors.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Write over OUT.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
    is_quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing of what was taken and written.")] = False,
) -> None:
    """Write a file as one of another format, and print what was taken from it and what was written."""
    from astra_py.formats.convert import convert as write

    said = write(
        source,
        target,
        to,
        overrides=overrides or (),
        format=format,
        ranks=ranks,
        is_strict=strict,
        is_overwriting=overwrite,
    )
    if as_json:
        print_json([{"in": str(source), "out": str(target), "said": list(said)}])
        return
    if is_quiet:
        return
    for line in said:
        print(line)
