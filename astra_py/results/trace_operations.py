# SPDX-License-Identifier: GPL-2.0-only
"""Iterations, collectives and operations of a timeline, and when ranks do not compute."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.results.intervals import IntervalSet
from astra_py.results.trace_events import Tracks, plain, slice_text
from astra_py.results.trace_lanes import gaps, lanes
from astra_py.results.trace_limits import Limits, Section, longest, said
from astra_py.units import TIME

if TYPE_CHECKING:
    from astra_py.results.columns import Columns
    from astra_py.results.result import Result

__all__ = ["EXPOSED", "operations_section", "run_section"]

#: The track of when a rank does not compute, and the name of its slices.
EXPOSED = "exposed communication"
#: Tracks of operations that are in no stream, in the order in which they are shown.
_BESIDE = {"compute": "compute", "collective": "collectives", "memory": "memory"}
_OF_A_COLLECTIVE = (
    *("collective", "kind", "algorithm", "iteration", "ranks", "size_bytes", "busbw_GBps", "exposed_us"),
    *("bottleneck", "bottleneck_percent", "bottleneck_at"),
)


def run_section(result: Result, tracks: Tracks, pid: int, limits: Limits) -> Section:
    """Iterations, and each collective from its first rank's joining to its last rank's end."""
    iterations, collectives = result.columns("iterations"), result.columns("collectives")
    shown = longest(iterations["time_ps"], limits.iterations)
    drawn = longest(collectives["time_ps"], limits.collectives)

    def events() -> Iterator[str]:
        for i in shown.tolist():
            job = iterations["job"][i]
            tid = tracks.track(pid, f"iterations of {job}" if job else "iterations")
            start = _picoseconds(iterations["start_us"][i])
            args = plain(iterations, i, "rank", "compute_us", "communication_us", "exposed_us")
            name = f"iteration {iterations['iteration'][i]}"
            yield slice_text(pid, tid, start, start + int(iterations["time_ps"][i]), name, args)
        starts = np.array([_picoseconds(start) for start in collectives["start_us"][drawn]], dtype=np.int64)
        ends = starts + collectives["time_ps"][drawn]
        for k, lane in enumerate(lanes(starts, ends).tolist()):
            i = int(drawn[k])
            tid = tracks.track(pid, "collectives", lane)
            args = plain(collectives, i, *_OF_A_COLLECTIVE)
            yield slice_text(pid, tid, int(starts[k]), int(ends[k]), collectives["name"][i], args)

    left_out = (
        *said("iterations", limits.iterations, len(iterations["time_ps"])),
        *said("collectives", limits.collectives, len(collectives["time_ps"])),
    )
    return Section(left_out, events)


def operations_section(result: Result, tracks: Tracks, pid_of_rank: Callable[[int], int], limits: Limits) -> Section:
    """What each rank does: a track a stream, and lanes for what is in none; and when it does not compute."""
    table = result.columns("operations")
    run_end = int(result.manifest["run"]["time_ps"])
    starts, ends = table["start_ps"], np.where(table["end_ps"] < 0, run_end, table["end_ps"])
    begun = np.flatnonzero(starts >= 0)
    drawn = begun[longest((ends - starts)[begun], limits.operations)]
    exposed = _exposed(result, table, starts, ends, begun)
    wide = longest(exposed[:, 2] - exposed[:, 1], limits.exposed)

    def events() -> Iterator[str]:
        of_rank = _rows_by(table["rank"][drawn], drawn)
        gaps_of_rank = _rows_by(exposed[wide, 0], wide)
        none = np.zeros(0, dtype=np.int64)
        for rank in sorted({*of_rank, *gaps_of_rank}):
            pid = pid_of_rank(rank)
            rows = of_rank.get(rank, none)
            for title, mine in _streams(table, rows):
                yield from _slices(table, tracks, pid, title, mine, starts, ends)
            beside = rows[table["stream"][rows] == ""]
            for kind, title in _BESIDE.items():
                yield from _slices(table, tracks, pid, title, beside[table["kind"][beside] == kind], starts, ends)
                if kind == "compute":
                    for low, high in exposed[gaps_of_rank.get(rank, none), 1:].tolist():
                        yield slice_text(pid, tracks.track(pid, EXPOSED), low, high, EXPOSED, {})

    left_out = (
        *said("operations", limits.operations, len(begun)),
        *said(EXPOSED, limits.exposed, len(exposed), "times that are longest are drawn"),
    )
    return Section(left_out, events)


def _slices(
    table: Columns,
    tracks: Tracks,
    pid: int,
    title: str,
    rows: NDArray[np.int64],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
) -> Iterator[str]:
    """The slices of operations on a track, in lanes where several go on at once."""
    for i, lane in zip(rows.tolist(), lanes(starts[rows], ends[rows]).tolist(), strict=True):
        args = plain(table, i, "operation", "kind", "iteration", "phase", "collective")
        args |= {} if table["end_ps"][i] >= 0 else {"unfinished": True}
        yield slice_text(pid, tracks.track(pid, title, lane), int(starts[i]), int(ends[i]), table["name"][i], args)


def _streams(table: Columns, rows: NDArray[np.int64]) -> list[tuple[str, NDArray[np.int64]]]:
    """The tracks of streams and what is in each, those that compute first, then in the order of the table."""
    found = []
    for stream in dict.fromkeys(table["stream"][rows].tolist()):
        if stream:
            mine = rows[table["stream"][rows] == stream]
            found.append((not (table["kind"][mine] == "compute").any(), f"stream {stream}", mine))
    return [(title, mine) for _, title, mine in sorted(found, key=lambda each: each[0])]


def _exposed(
    result: Result,
    table: Columns,
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    begun: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Rank, start and end of when ranks do not compute, from their job's start to their last operation; i64[n, 3]."""
    found: list[tuple[int, int, int]] = []
    starts_of_jobs = _starts_of_jobs(result)
    for rank, rows in _rows_by(table["rank"][begun], begun).items():
        mine = rows[table["kind"][rows] == "compute"]
        # flows beside a job are no job's
        begin = next((starts_of_jobs[job] for job in table["job"][rows].tolist() if job in starts_of_jobs), 0)
        for low, high in gaps(IntervalSet(starts[mine], ends[mine]), begin, int(ends[rows].max())):
            found.append((rank, low, high))
    return np.array(found, dtype=np.int64).reshape(-1, 3)


def _rows_by(key: NDArray[np.int64], rows: NDArray[np.int64]) -> dict[int, NDArray[np.int64]]:
    """The rows of each value of ``key``, in order."""
    order = np.argsort(key, kind="stable")
    values, first = np.unique(key[order], return_index=True)
    return dict(zip(values.tolist(), np.split(rows[order], first[1:]), strict=True)) if len(values) else {}


def _starts_of_jobs(result: Result) -> dict[str, int]:
    """When each job begins, by its first iteration; where none has ended, by the scenario."""
    iterations = result.columns("iterations")
    starts: dict[str, int] = {}
    for job, start in zip(iterations["job"], iterations["start_us"], strict=True):
        starts.setdefault(job, _picoseconds(start))
    for name, job in result.manifest.get("scenario", {}).get("jobs", {}).items():
        starts.setdefault(name, TIME.parse(job.get("start", "0s")))
    return starts


def _picoseconds(time_us: float) -> int:
    """Microseconds as the whole picoseconds that they were: exact up to some hours (2^53 of a thousandth of one)."""
    return round(float(time_us) * 1e6)
