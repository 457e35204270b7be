# SPDX-License-Identifier: GPL-2.0-only
"""``astra-py report``: results as one HTML file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from astra_py.cli.common import print_json
from astra_py.errors import ConfigError

__all__ = ["report"]


def report(
    results: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULTS...",
            help="Folders that astra-py run --out wrote; of several, what differs is side by side.",
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Option(help="File to write, .html; one that is there is replaced.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object: what was written.")] = False,
    is_quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing of what was written.")] = False,
) -> None:
    """Write one HTML file that needs nothing else: headline, timeline, tables, scenario, checks, provenance."""
    from astra_py.report import write_report
    from astra_py.results import read_result

    if out.suffix != ".html":
        raise ConfigError(f"--out {out}: a report is a page; allowed: a name that ends in .html")
    if len(set(results)) < len(results):
        raise ConfigError("a folder of results is given twice; allowed: each once")
    if len(results) == 1:
        write_report(read_result(results[0]), out)
    else:
        write_report({str(folder): read_result(folder) for folder in results}, out)
    if as_json:
        print_json([{"out": str(out), "bytes": out.stat().st_size}])
    elif not is_quiet:
        print(f"report: {out}, {out.stat().st_size / 1e6:,.1f} MB", file=sys.stderr)
