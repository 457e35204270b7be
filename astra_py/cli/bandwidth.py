# SPDX-License-Identifier: GPL-2.0-only
"""``astra-py bandwidth``: what a platform's collectives reach, as a table for sharders."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from astra_py.analysis.bandwidths import KINDS
from astra_py.cli.common import print_json
from astra_py.cli.sizes import parse_sizes
from astra_py.errors import ConfigError
from astra_py.results.text import figure, grid
from astra_py.units import format_size

__all__ = ["bandwidth"]

_SIZES = "1MiB:256MiB:4"


def bandwidth(
    overrides: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SCENARIO] [key.path=value]...", help="Scenario file, and changes to it.", show_default=False
        ),
    ] = None,
    collectives: Annotated[str, typer.Option(help="Collectives, with commas.")] = ",".join(KINDS),
    sizes: Annotated[str, typer.Option(help="Sizes such as 16MiB,100MB, or FROM:TO:FACTOR.")] = _SIZES,
    ranks: Annotated[
        str | None,
        typer.Option(help="How many ranks, from rank 0 on, such as 8,64; all without it.", show_default=False),
    ] = None,
    engine: Annotated[str, typer.Option(help="analytic, flow or packet.")] = "analytic",
    out: Annotated[Path | None, typer.Option(help="Write the table there as CSV.", show_default=False)] = None,
    is_overwritten: Annotated[bool, typer.Option("--overwrite", help="Write to --out whatever is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a row.")] = False,
    is_quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Time collectives alone by kind, number of ranks and size: GB/s, as sharders take them."""
    from astra_py.analysis.bandwidths import bandwidth_table

    if out is not None and out.exists() and not is_overwritten:
        raise ConfigError(f"--out {out}: it exists; allowed: a path that does not, or --overwrite")
    if is_overwritten and out is None:
        raise ConfigError("--overwrite: there is no --out that it would allow to replace")
    source, changes = _source(list(overrides or []))
    table = bandwidth_table(
        source,
        *changes,
        sizes=parse_sizes(sizes),
        kinds=collectives.split(","),
        ranks=None if ranks is None else _counts(ranks),
        engine=engine,
        tell=None if is_quiet else lambda line: print(line, file=sys.stderr),
    )
    if out is not None:
        try:
            table.to_csv(out, index=False)
        except OSError as error:
            raise ConfigError(f"--out {out}: cannot be written: {error.strerror}") from error
    records = [{str(key): value for key, value in row.items()} for row in table.to_dict("records")]
    if as_json:
        print_json(records)
        return
    rows = [
        [
            row["collective"],
            str(row["ranks"]),
            format_size(row["size_bytes"]),
            figure(row["time_us"]),
            figure(row["algbw_GBps"]),
            figure(row["busbw_GBps"]),
            row["algorithm"],
        ]
        for row in records
    ]
    print("\n".join(grid(["collective", "ranks", "size", "time us", "algbw GB/s", "busbw GB/s", "algorithm"], rows)))


def _source(arguments: list[str]) -> tuple[Path | dict[str, str], list[str]]:
    """Split a scenario file off, if there is one."""
    first = arguments[0] if arguments else ""
    if first and ("=" not in first or Path(first).is_file()):
        return Path(first), arguments[1:]
    return {}, arguments


def _counts(text: str) -> list[int]:
    parts = text.split(",")
    if not all(part.strip().isascii() and part.strip().isdigit() for part in parts):
        raise ConfigError(f"--ranks {text!r}; allowed: whole numbers with commas, such as 8,64")
    return [int(part) for part in parts]
