# SPDX-License-Identifier: GPL-2.0-only
"""``astra-py plot``: a picture of results."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from astra_py.cli.common import print_json
from astra_py.errors import ConfigError

__all__ = ["plot"]


def plot(
    kind: Annotated[
        str,
        typer.Argument(help="timeline, busbw, why, topology, links, queues, flows or traffic.", show_default=False),
    ],
    results: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULTS...",
            help="Folder that astra-py run --out wrote; for why one of astra-py compare --out; for busbw several, and "
            "files of astra-py collective --json.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="File to write: .svg, .pdf or .png; KIND.svg without it.", show_default=False),
    ] = None,
    size: Annotated[
        str, typer.Option(help="paper (6.9 in, two columns), column (3.35 in) or slide, with large letters.")
    ] = "paper",
    rank: Annotated[
        str | None,
        typer.Option(help="timeline: a rank, or all; the one that ends the run without it.", show_default=False),
    ] = None,
    iteration: Annotated[
        int | None, typer.Option(help="timeline: its number; the last one without it.", show_default=False)
    ] = None,
    job: Annotated[
        str | None,
        typer.Option(help="timeline: one of several jobs; the one that ends last without it.", show_default=False),
    ] = None,
    log: Annotated[
        Path | None, typer.Option(help="busbw: an nccl-tests log to draw beside.", show_default=False)
    ] = None,
    ports: Annotated[
        int | None, typer.Option(help="queues: how many, the fullest; 6 without it.", show_default=False)
    ] = None,
    of: Annotated[
        str | None, typer.Option(help="flows: time or slowdown; time without it.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object: what was written.")] = False,
    is_quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing of what was written.")] = False,
) -> None:
    """Draw results from their tables: with units, a legend and a caption that says what was run."""
    from astra_py.plots.figure import require_format, require_pyplot, save_figure
    from astra_py.plots.kinds import draw, require_options
    from astra_py.plots.style import figure_size

    given = {"rank": _rank(rank), "iteration": iteration, "job": job, "log": log, "ports": ports, "of": of}
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    path = Path(f"{kind}.svg") if out is None else out
    # what can be wrong is found before large tables are read
    require_options(kind, len(results), options)
    require_format(path)
    figure_size(size)
    require_pyplot().switch_backend("Agg")
    save_figure(draw(kind, results, size=size, **options), path)
    if as_json:
        print_json([{"kind": kind, "out": str(path), "bytes": path.stat().st_size}])
    elif not is_quiet:
        print(f"{kind}: {path}", file=sys.stderr)


def _rank(text: str | None) -> int | str | None:
    if text is None or text == "all":
        return text
    if not text.isdecimal():
        raise ConfigError(f"--rank {text!r}; allowed: a number, or all")
    return int(text)
