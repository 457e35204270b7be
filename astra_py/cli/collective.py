# SPDX-License-Identifier: GPL-2.0-only
"""``astra-py collective``: one collective alone, over a range of sizes."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from astra_py.cli.common import print_json
from astra_py.cli.nccl import nccl_table
from astra_py.cli.progress import progress
from astra_py.cli.sizes import parse_sizes
from astra_py.errors import ConfigError, SimulationError
from astra_py.results.text import figure, grid
from astra_py.units import format_size
from astra_py.workloads.calls import COLLECTIVE_KINDS

__all__ = ["collective"]

_FORMATS = ("table", "nccl")
_SIZES = "1MiB:64MiB:2"


def collective(
    kind: Annotated[str, typer.Argument(help=f"One of {', '.join(COLLECTIVE_KINDS)}.", show_default=False)],
    overrides: Annotated[
        list[str] | None,
        typer.Argument(metavar="[key.path=value]...", help="Changes, such as platform.ranks=16.", show_default=False),
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            help=f"Sizes such as 16MiB,100MB, or FROM:TO:FACTOR such as {_SIZES}, which is meant without it; not for "
            "barrier.",
            show_default=False,
        ),
    ] = None,
    algorithm: Annotated[
        str | None,
        typer.Option(
            help="Algorithm, or auto for the one of least analytic time; that of the scenario without it.",
            show_default=False,
        ),
    ] = None,
    scenario: Annotated[
        Path | None,
        typer.Option(help="Scenario file whose platform and transport are used; its workload is not run."),
    ] = None,
    engine: Annotated[
        str | None, typer.Option(help="packet, flow or analytic; the scenario's without it.", show_default=False)
    ] = None,
    src: Annotated[int | None, typer.Option(help="Sending rank of sendrecv; 0 without it.", show_default=False)] = None,
    dst: Annotated[
        int | None, typer.Option(help="Receiving rank of sendrecv; 1 without it.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a size.")] = False,
    form: Annotated[str, typer.Option("--format", help="table, or nccl: the columns of nccl-tests.")] = "table",
    is_quiet: Annotated[bool, typer.Option("--quiet", help="No progress, no warnings.")] = False,
) -> None:
    """Time one collective alone, all ranks joining at once: time, bandwidths, ideal and analytic time."""
    from astra_py.analysis.collective_times import collective_times

    if form not in _FORMATS:
        raise ConfigError(f"--format {form!r}; allowed: {', '.join(_FORMATS)}")
    if as_json and form != "table":
        raise ConfigError(f"--json and --format {form}: both are given; allowed: one of the two")
    wanted = _sizes(kind, sizes)
    times = collective_times(
        {} if scenario is None else scenario,
        *_changes(kind, list(overrides or []), algorithm, engine),
        kind=kind,
        group=_group(kind, src, dst),
        sizes=wanted,
        observe=partial(progress, is_quiet=is_quiet),
        warn=None if is_quiet else lambda warning: print(f"warning: {warning}", file=sys.stderr),
    )
    rows: list[dict[str, Any]] = []
    try:
        for row in times:
            rows.append(row)
            if as_json:
                print_json([row])
                sys.stdout.flush()
    except (SimulationError, KeyboardInterrupt) as error:
        # the sizes that are done were not for nothing
        if rows:
            error.add_note(f"{len(rows)} of {len(wanted)} sizes are done, and printed")
            _print(rows, form, as_json=as_json)
        raise
    _print(rows, form, as_json=as_json)


def _print(rows: list[dict[str, Any]], form: str, *, as_json: bool) -> None:
    """Print the table of all sizes; as JSON each was printed when it was done."""
    if form == "nccl":
        print(nccl_table(rows))
    elif not as_json:
        print("\n".join(_table(rows)))


def _sizes(kind: str, sizes: str | None) -> list[int]:
    """The sizes to run, in bytes."""
    if kind == "barrier":
        if sizes is not None:
            raise ConfigError(f"--sizes {sizes!r}: a barrier has no bytes; allowed: no --sizes")
        return [0]
    wanted = parse_sizes(_SIZES if sizes is None else sizes)
    # a message of no bytes still has its headers; of the other collectives nothing is left
    if kind != "sendrecv" and 0 in wanted:
        raise ConfigError(f"--sizes {sizes!r}: {kind} of 0 bytes sends nothing; allowed: sizes above 0")
    return wanted


def _group(kind: str, src: int | None, dst: int | None) -> tuple[int, ...] | None:
    """The ranks that take part where these are not all: sender and receiver of sendrecv."""
    from astra_py.collectives.registry import require_runnable

    require_runnable(kind)
    if kind != "sendrecv":
        if src is not None or dst is not None:
            raise ConfigError(f"--src and --dst: only sendrecv takes them, not {kind}")
        return None
    pair = (0 if src is None else src, 1 if dst is None else dst)
    if pair[0] == pair[1]:
        raise ConfigError(f"sendrecv needs two different ranks: --src A --dst B, not {pair[0]} twice")
    return pair


def _changes(kind: str, overrides: list[str], algorithm: str | None, engine: str | None) -> list[str]:
    """The overrides, and options that stand for one."""
    if algorithm is not None:
        overrides.append(f"collective.{kind}={algorithm}")
    if engine is not None:
        overrides.append(f"engine={engine}")
    return overrides


def _table(rows: list[dict[str, Any]]) -> list[str]:
    first = rows[0]
    header = ["size", "time us", "algbw GB/s", "busbw GB/s", "ideal us", "analytic us", "ratio", "packets", "CPU s"]
    names = [row["algorithm"] for row in rows]
    is_one = len(set(names)) == 1
    lines = [
        [
            format_size(row["size_bytes"]),
            figure(row["time_ps"] / 1e6),
            figure(row["algbw_GBps"] or 0.0),
            figure(row["busbw_GBps"] or 0.0),
            figure(row["ideal_time_ps"] / 1e6),
            figure(row["analytic_time_ps"] / 1e6),
            figure(row["time_ps"] / row["analytic_time_ps"] if row["analytic_time_ps"] else float("nan")),
            f"{row['packets']:,}",
            figure(row["simulation_cpu_s"], 2),
            *([] if is_one else [row["algorithm"]]),
        ]
        for row in rows
    ]
    # auto may choose another one for each size
    header += [] if is_one else ["algorithm"]
    title = f"{first['collective']} {names[0] if is_one else 'auto'}, {first['ranks']} ranks, engine {first['engine']}"
    checks = f"{len(first['checks'])} checks passed at each size: declared = measured"
    return [title, "", *grid(header, lines), "", checks]
