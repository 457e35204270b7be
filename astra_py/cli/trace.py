# SPDX-License-Identifier: GPL-2.0-only
"""``astra-py trace``: results as a timeline for Perfetto."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from astra_py.cli.common import print_json

__all__ = ["trace"]


def trace(
    results: Annotated[
        Path, typer.Argument(metavar="RESULTS", help="Folder that astra-py run --out wrote.", show_default=False)
    ],
    out: Annotated[
        Path, typer.Option(help="File to write: .json or .json.gz; one that is there is replaced.", show_default=False)
    ],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object: what was written.")] = False,
    is_quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing of what was written.")] = False,
) -> None:
    """Write a timeline that ui.perfetto.dev opens: what each rank computes and waits for, messages, links."""
    from astra_py.results import read_result, write_trace

    written = write_trace(read_result(results), out)
    if as_json:
        facts = {"out": str(out), "events": written.events, "bytes": written.bytes}
        print_json([{**facts, "left_out": list(written.left_out)}])
    if as_json or is_quiet:
        return
    for line in written.left_out:
        print(f"left out: {line}", file=sys.stderr)
    print(f"trace: {out}, {written.events:,} events, {written.bytes / 1e6:,.1f} MB", file=sys.stderr)
