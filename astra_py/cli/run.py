# SPDX-License-Identifier: GPL-2.0-only
"""``astra-py run``: a training job, from its scenario to its tables."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

import typer

from astra_py.cli.common import print_json
from astra_py.cli.interrupts import finished_first
from astra_py.cli.progress import progress
from astra_py.errors import ConfigError
from astra_py.results.text import WIDTH

if TYPE_CHECKING:
    from astra_py.results.estimate import Estimate
    from astra_py.results.result import Result

__all__ = ["run"]


def run(
    scenario: Annotated[Path, typer.Argument(help="Scenario file.", show_default=False)],
    overrides: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[key.path=value]...", help="Changes, such as platform.link_rate=200Gbps.", show_default=False
        ),
    ] = None,
    engine: Annotated[
        str | None, typer.Option(help="packet, flow or analytic; the scenario's without it.", show_default=False)
    ] = None,
    out_text: Annotated[
        str | None,
        typer.Option(
            "--out",
            metavar="PATH",
            help="Folder for tables and manifest: absent, empty, or of the same digest.",
            show_default=False,
        ),
    ] = None,
    is_overwritten: Annotated[
        bool, typer.Option("--overwrite", help="Write to --out whatever it holds, but for a sweep.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object: iterations, flows, collectives, phases, run.")
    ] = False,
    is_alone: Annotated[
        bool, typer.Option("--alone", help="Run each job alone, too: how much longer it takes beside the others.")
    ] = False,
    is_dry: Annotated[bool, typer.Option("--dry-run", help="Check everything, estimate the cost, do not run.")] = False,
    is_strict: Annotated[bool, typer.Option("--strict", help="Take warnings for errors.")] = False,
    is_quiet: Annotated[bool, typer.Option("--quiet", help="No progress, no warnings.")] = False,
) -> None:
    """Simulate a training job and print iteration, compute, communication and what of it is exposed."""
    from astra_py.api import load
    from astra_py.jobs_alone import job_slowdowns, slowdown_lines
    from astra_py.results.flow_report import flow_rows
    from astra_py.results.rows import collective_rows, iteration_rows, phase_rows, run_row
    from astra_py.results.store import require_free, reserved
    from astra_py.results.tables_on_disk import require_writable

    # a path would take nothing for the current folder
    if out_text == "":
        raise ConfigError("--out '': no folder is named; allowed: the path of a folder, '.' for the current one")
    out = None if out_text is None else Path(out_text)
    changes = list(overrides or []) + ([f"engine={engine}"] if engine is not None else [])
    job = load(scenario, *changes)
    if is_overwritten and out is None:
        raise ConfigError("--overwrite: there is no --out whose content it would allow to replace")
    if out is not None:
        require_free(out, job.digest, overwrite=is_overwritten)
        require_writable(job.scenario.results.format)
    warnings = job.warnings
    if warnings and is_strict:
        raise ConfigError("--strict: " + "; ".join(warnings))
    if not is_quiet:
        for warning in warnings:
            print(f"warning: {warning}", file=sys.stderr)
    if is_dry:
        _print_estimate(job.estimate(), job.notes, as_json=as_json)
        return
    place = nullcontext() if out is None else reserved(out, job.digest, overwrite=is_overwritten)
    with place as save, progress(job.title, is_quiet=is_quiet) as tell:
        try:
            result = job.run(progress=tell)
        except BaseException as error:
            _keep(error, out, save)
            raise
        kept = "its results are not written: there is no --out"
        if out is not None and save is not None:
            _save(result, out, save)
            kept = f"its results are whole: {out}"
    try:
        slowdowns = job_slowdowns(job, result) if is_alone else []
        if as_json:
            rows = {
                "iterations": iteration_rows(result),
                "flows": flow_rows(result),
                "collectives": collective_rows(result),
                "phases": phase_rows(result),
                "run": run_row(result),
            }
            if is_alone:
                rows["alone"] = [{**asdict(each), "slowdown": each.slowdown} for each in slowdowns]
            print_json([rows])
        else:
            print(result.report())
            if is_alone:
                print("\n" + "\n".join(slowdown_lines(slowdowns)))
            if out is not None:
                print(f"\ntables and manifest: {out}")
    except KeyboardInterrupt as interrupt:
        interrupt.add_note(f"the run is over, and {kept}")
        raise


def _save(result: Result, out: Path, save: Callable[[Result], bool]) -> None:
    """Save the result of a run that is over, though the user interrupts; a note says what became of it."""
    is_saved = False
    try:
        with finished_first(f"the run is over, and its results are being written to {out}"):
            is_saved = save(result)
    except KeyboardInterrupt as interrupt:
        interrupt.add_note(
            f"the run is over, and its results are whole: {out}"
            if is_saved
            else f"the run is over, and its results are not written to {out}"
        )
        raise


def _keep(error: BaseException, out: Path | None, save: Callable[[Result], bool] | None) -> None:
    """Save the partial result of a run that ``error`` stopped; a note of it tells what was kept."""
    from astra_py.results.result import how_far

    partial: Result | None = getattr(error, "partial", None)
    if partial is None:
        if isinstance(error, KeyboardInterrupt):
            error.add_note("nothing was simulated yet, and nothing is kept")
        return
    how = how_far(partial.manifest["run"])
    if save is None:
        error.add_note(f"{how}; nothing is kept without --out")
        return
    is_saved: bool | None = None
    try:
        with finished_first(f"{how}; partial results are being written to {out}"):
            is_saved = save(partial)
    except KeyboardInterrupt as again:
        if is_saved is None:
            again.add_note(f"{how}; partial results are not written to {out}")
            raise
    if is_saved:
        error.add_note(f"{how}; partial results, of what had happened by then: {out}")
    else:
        error.add_note(f"{how}; {out} keeps the whole results that it has, the partial ones are not written")


def _print_estimate(estimate: Estimate, notes: Sequence[str], *, as_json: bool) -> None:
    if as_json:
        print_json([{**asdict(estimate), "notes": list(notes)}])
        return
    print("dry run: everything that can be checked beforehand is fine; nothing was simulated")
    for name in ("ranks", "operations", "collectives", "messages", "packets", "packet_hops"):
        print(f"  {name.replace('_', '-'):<13} {getattr(estimate, name):>15,}")
    print(f"  {'CPU time':<13} {estimate.cpu_s:>15,.1f} s, estimated")
    print(f"  {'memory':<13} {estimate.memory_bytes / 1e6:>15,.0f} MB, estimated")
    if notes:
        print()
    for note in notes:
        print("\n".join(wrap(f"- {note}", WIDTH, subsequent_indent="  ", break_on_hyphens=False)))
