# SPDX-License-Identifier: GPL-2.0-only
"""A run as one flat row: what one plots over the keys of a sweep."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from astra_py.errors import ConfigError
from astra_py.results.flow_report import flow_rows
from astra_py.workloads.calls import FLOWS

if TYPE_CHECKING:
    from astra_py.batch.point import Point
    from astra_py.batch.study import Study
    from astra_py.results.result import Result

__all__ = ["point_row", "run_point"]

#: Figures of a run that differ from one time to the next: what it cost.
_COST = ("setup_cpu_s", "simulation_cpu_s", "peak_rss_bytes")
#: Columns of the table ``iterations`` that are figures of a row.
_ITERATION = ("compute_us", "communication_us", "exposed_us", "exposed_percent", "memory_us")
_FLOW_FIGURES = ("mean_us", "p50_us", "p95_us", "p99_us", "max_us", "slowdown_mean", "slowdown_p50", "slowdown_p99")


def run_point(study: Study, point: Point) -> tuple[dict[str, Any], dict[str, float]]:
    """Run a point; give its row and what it cost (CPU seconds and bytes of memory, by name).

    Raises
    ------
    AstraPyError : as :meth:`astra_py.Run.run`; a ConfigError where an input file is no longer what it was when the
        sweep began.
    """
    from astra_py.api import Run

    scenario = study.scenario(point)
    if scenario.digest != point.digest:
        raise ConfigError(
            f"{point.title}: an input file was changed after the sweep began: its digest was "
            f"{point.digest[:12]} and is {scenario.digest[:12]}"
        )
    run = Run(scenario)
    result = run.run()
    cost = {name: result.manifest["run"][name] for name in _COST}
    return {**point_row(result), "warnings": "; ".join(run.warnings)}, cost


def point_row(result: Result) -> dict[str, Any]:
    """The headline figures of a run by column, plain JSON; the same for the same run whoever makes it.

    Columns, of which those of a job among several begin with ``JOB.``:

    - ``time_us``: the run. ``iterations``: how many each job has.
    - of the last iteration, the steady state: ``iteration_time_us``, ``compute_us``, ``communication_us``,
      ``exposed_us``, ``exposed_percent``, ``memory_us``;
    - of its collectives of each kind: ``KIND_count``, ``KIND_time_us`` (mean), ``KIND_busbw_GBps`` and
      ``KIND_algbw_GBps`` (means weighted by time: all bytes over all time), ``KIND_exposed_us`` (sum),
      ``KIND_ratio`` (all time over all analytic time of each alone), ``KIND_bottleneck`` (what bounds the longest);
    - of lists of flows: ``flows_count``, ``flows_mean_us``, ``flows_p99_us``, ``flows_slowdown_p99``, ...;
    - of hosts, where they are simulated: ``max_core_utilisation_percent``;
    - of the network: ``max_link_utilisation_percent``, ``max_queue_bytes``, ``wire_bytes``, ``messages``, and what the
      engine counted (``events``, ``packets``, ``packet_hops``, ``retransmissions``, ...).
    """
    result.require_whole()
    links = result.columns("links")
    row: dict[str, Any] = {"time_us": result.manifest["run"]["time_ps"] / 1e6}
    for prefix, job in _jobs(result):
        row |= {f"{prefix}{name}": value for name, value in _job_figures(result, job)}
    cores = result.columns("host_cores")["utilisation_percent"]
    if len(cores):
        row["max_core_utilisation_percent"] = float(cores.max())
    row |= {
        "max_link_utilisation_percent": float(links["utilisation_percent"].max(initial=0.0)),
        "max_queue_bytes": int(links["max_queue_bytes"].max(initial=0)),
        "wire_bytes": int(links["line_bytes"].sum()),
        "messages": int(result.manifest["run"]["messages"]),
        **{name: int(value) for name, value in result.counters.items()},
    }
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in row.items()
    }


def _jobs(result: Result) -> Iterator[tuple[str, str]]:
    """What names of columns begin with, and the job; one job alone has plain names."""
    jobs = list(
        dict.fromkeys([*result.columns("iterations")["job"].tolist(), *result.columns("flow_sizes")["job"].tolist()])
    )
    for job in jobs:
        yield (f"{job}." if len(jobs) > 1 else ""), job


def _job_figures(result: Result, job: str) -> Iterator[tuple[str, Any]]:
    table = result.columns("iterations")
    mine = np.flatnonzero(table["job"] == job)
    if len(mine):
        last = mine[-1]
        yield "iterations", len(mine)
        yield "iteration_time_us", float(table["time_us"][last])
        for name in _ITERATION:
            yield name, float(table[name][last])
        yield from _collective_figures(result, job, int(table["iteration"][last]))
    for flows in flow_rows(result):
        # the first row of a list is that of all sizes
        if flows["job"] == job:
            yield "flows_count", flows["flows"]
            for name in _FLOW_FIGURES:
                yield f"flows_{name}", flows[name]
            break


def _collective_figures(result: Result, job: str, iteration: int) -> Iterator[tuple[str, Any]]:
    """Figures of each kind of collective of an iteration, kinds in alphabetical order."""
    table = result.columns("collectives")
    chosen = (table["job"] == job) & (table["iteration"] == iteration) & (table["kind"] != FLOWS)
    for kind in np.unique(table["kind"][chosen]).tolist():
        rows = chosen & (table["kind"] == kind)
        time, analytic = table["time_us"][rows], table["analytic_time_us"][rows].sum()
        yield f"{kind}_count", int(rows.sum())
        yield f"{kind}_time_us", float(time.mean())
        for name in ("busbw_GBps", "algbw_GBps"):
            yield f"{kind}_{name}", float((table[name][rows] * time).sum() / time.sum()) if time.sum() else None
        yield f"{kind}_exposed_us", float(table["exposed_us"][rows].sum())
        yield f"{kind}_ratio", float(time.sum() / analytic) if analytic else None
        yield f"{kind}_bottleneck", str(table["bottleneck"][rows][time.argmax()])
