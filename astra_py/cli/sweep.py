# SPDX-License-Identifier: GPL-2.0-only
"""``astra-py sweep``: a scenario at many points, unattended and resumable."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from astra_py.cli.common import print_json
from astra_py.cli.sweep_progress import sweep_progress
from astra_py.errors import ConfigError
from astra_py.units import parse_size, parse_time

if TYPE_CHECKING:
    from astra_py.batch import Executor, Limits, Shard, Study

__all__ = ["POINTS_FAILED", "sweep"]

#: Exit code where all points are over and some have failed: that of a failed simulation.
POINTS_FAILED = 3


def sweep(
    file: Annotated[Path, typer.Argument(help="Sweep file.", show_default=False)],
    overrides: Annotated[
        list[str] | None,
        typer.Argument(metavar="[key.path=value]...", help="Changes for all points.", show_default=False),
    ] = None,
    out_text: Annotated[
        str | None,
        typer.Option(
            "--out",
            metavar="PATH",
            help="Folder for journal and tables: absent, empty, or of the same sweep, which is then gone on with.",
            show_default=False,
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Points at once; as many as there are CPUs without it.", show_default=False)
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="tcp://HOST:PORT", help="Scheduler of a Dask cluster to run on.", show_default=False),
    ] = None,
    shard_text: Annotated[
        str | None,
        typer.Option("--shard", metavar="I/N", help="Run every N-th point, from the I-th on.", show_default=False),
    ] = None,
    time_limit: Annotated[
        str | None, typer.Option(metavar="TIME", help="Time of one point, such as 600s.", show_default=False)
    ] = None,
    memory_limit: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Memory of one point, such as 4GB.", show_default=False)
    ] = None,
    retries: Annotated[int, typer.Option(help="How often a point is tried again whose process died.")] = 0,
    is_failed_retried: Annotated[
        bool, typer.Option("--retry-failed", help="Run points again that failed before.")
    ] = False,
    is_overwritten: Annotated[
        bool, typer.Option("--overwrite", help="Begin anew, whatever sweep --out holds.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a point.")] = False,
    is_dry: Annotated[
        bool, typer.Option("--dry-run", help="Check all points, estimate the first, do not run.")
    ] = False,
    is_quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Run a scenario at many points, each in a process of its own; a point that fails is a row with its reason.

    Exit codes: 0 all points are fine, 3 some have failed, 2 the sweep is not allowed and nothing was run.
    """
    from astra_py.batch import Shard, read_study, run_study
    from astra_py.batch.driver import distinct
    from astra_py.batch.shard import WHOLE

    study = read_study(file, *(overrides or []))
    shard = WHOLE if shard_text is None else Shard.of(shard_text)
    limits = _limits(time_limit, memory_limit, retries)
    if is_dry:
        _print_plan(study, shard, as_json=as_json)
        return
    if not out_text:
        raise ConfigError("--out: no folder is named, and a sweep is kept in one; allowed: the path of a folder")
    try:
        with sweep_progress(study.title, is_quiet=is_quiet) as tell:
            found = run_study(
                study,
                out=out_text,
                workers=workers,
                limits=limits,
                executor=_executor(cluster),
                shard=shard,
                overwrite=is_overwritten,
                retry_failed=is_failed_retried,
                told=tell,
            )
    except KeyboardInterrupt:
        print(f"what is done is kept in {out_text}; the same command goes on with the rest", file=sys.stderr)
        raise
    if as_json:
        print_json(found.results.rows)
    else:
        print(found.report())
    # of a shard its own, since it is its own work that an array job asks after
    mine = {point.digest for point in shard.share(distinct(study.points))}
    if any(row["status"] != "ok" and row["digest"] in mine for row in found.results.rows):
        raise typer.Exit(POINTS_FAILED)


def _limits(time_limit: str | None, memory_limit: str | None, retries: int) -> Limits:
    from astra_py.batch import Limits

    return Limits(
        time_s=None if time_limit is None else parse_time(time_limit) / 1e12,
        memory_bytes=None if memory_limit is None else parse_size(memory_limit),
        retries=retries,
    )


def _executor(cluster: str | None) -> Executor | None:
    if cluster is None:
        return None
    from astra_py.batch.dask import DaskExecutor

    return DaskExecutor(cluster)


def _print_plan(study: Study, shard: Shard, *, as_json: bool) -> None:
    """What would be run, and what the first run is likely to cost."""
    from astra_py.api import Run
    from astra_py.batch.driver import distinct

    runs = shard.share(distinct(study.points))
    plan: dict[str, object] = {"points": len(study.points), "runs": len(runs), "keys": list(study.keys)}
    if runs:
        estimate = Run(study.scenario(runs[0])).estimate()
        plan |= {"first_cpu_s": estimate.cpu_s, "first_memory_bytes": estimate.memory_bytes}
    if as_json:
        print_json([plan])
        return
    print("dry run: every point's scenario is allowed; nothing was simulated")
    print(f"  points     {len(study.points):>12,}, over {', '.join(study.keys)}")
    print(f"  runs       {len(runs):>12,}{'' if shard.is_whole else f' of shard {shard.number}/{shard.count}'}")
    if runs:
        print(f"  CPU time   {estimate.cpu_s:>12,.1f} s, estimated, of the first run")
        print(f"  memory     {estimate.memory_bytes / 1e6:>12,.0f} MB, estimated, of the first run")
