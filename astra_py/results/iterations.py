# SPDX-License-Identifier: GPL-2.0-only
"""The table of iterations: how long each took, and how much of it is exposed communication.

On one rank, iteration k ends when the last operation of iterations 0 to k ends, such as its last all-reduce, and the
next begins there: iterations overlap, and this way each holds the wait for its own collectives and all add up to the
rank's time. The table follows the rank that ends the run. Exposed communication is the iteration's time less its
compute: waiting for others and update delays, which come after a collective, are part of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.schedule import OuterKind
from astra_py.results.columns import Columns
from astra_py.results.intervals import IntervalSet

if TYPE_CHECKING:
    from astra_py.results.record import RunRecord

__all__ = ["iterations_table"]


def iterations_table(record: RunRecord) -> Columns:
    """Columns of the table ``iterations``, one row an iteration of a job, job after job."""
    trace = record.trace
    if not trace.jobs:
        return _of_job(record, "", np.ones(len(record.schedule), dtype=np.bool_), 0)
    is_work = ~trace.is_of_flows
    tables = [
        _of_job(record, job.name, mine, job.start_ps)
        for index, job in enumerate(trace.jobs)
        if (mine := is_work & (trace.job == index)).any()
    ]
    if not tables:
        return _of_job(record, "", np.zeros(len(record.schedule), dtype=np.bool_), 0)
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


def _of_job(record: RunRecord, name: str, ops: NDArray[np.bool_], start_ps: int) -> Columns:
    """The rows of the operations ``ops``, which are a job's that starts at ``start_ps``."""
    schedule = record.schedule
    numbers = np.unique(schedule.iteration[ops])
    bounds = _bounds(record, numbers, ops, start_ps)
    spans = np.diff(bounds, axis=1)
    rank = int(np.argmax(bounds[:, -1]))
    time = spans[rank]
    # a rank's wait for its job's start is no work of its
    mine = ops & (schedule.rank == rank) & (record.columns.op_start_ps >= start_ps)
    busy = np.array([_busy(record, mine & (schedule.iteration == number)) for number in numbers], dtype=np.int64)
    compute, communication, memory = busy.reshape(-1, 3).T
    exposed = time - compute
    percent = np.full(len(time), np.nan)
    np.divide(100.0 * exposed, time, out=percent, where=time > 0)
    working = np.unique(schedule.rank[ops])
    fastest, slowest = (pick(spans[working], axis=0) if len(working) else time for pick in (np.min, np.max))
    return {
        "job": np.full(len(numbers), name, dtype=object),
        "iteration": numbers,
        "rank": np.full(len(numbers), rank),
        "start_us": bounds[rank, :-1] / 1e6,
        "time_us": time / 1e6,
        "compute_us": compute / 1e6,
        "communication_us": communication / 1e6,
        "exposed_us": exposed / 1e6,
        "exposed_percent": percent,
        "memory_us": memory / 1e6,
        "fastest_rank_time_us": fastest / 1e6,
        "slowest_rank_time_us": slowest / 1e6,
        "time_ps": time,
    }


def _bounds(record: RunRecord, numbers: NDArray[np.int32], ops: NDArray[np.bool_], start_ps: int) -> NDArray[np.int64]:
    """i64[ranks, k + 1]: where each iteration begins on each rank, and where the last one ends."""
    schedule = record.schedule
    bounds = np.full((schedule.ranks, len(numbers) + 1), start_ps, dtype=np.int64)
    column = np.searchsorted(numbers, schedule.iteration[ops]) + 1
    np.maximum.at(bounds, (schedule.rank[ops], column), record.columns.op_end_ps[ops])
    # an iteration whose work was done before the one before it ended is empty
    return np.maximum.accumulate(bounds, axis=1)


def _busy(record: RunRecord, mine: NDArray[np.bool_]) -> tuple[int, int, int]:
    """How long the operations ``mine`` compute, have a collective under way, and have memory work alone under way."""
    schedule, columns = record.schedule, record.columns
    of_kind = [mine & (schedule.kind == kind) for kind in (OuterKind.COMPUTE, OuterKind.COLLECTIVE, OuterKind.MEMORY)]
    compute, communication, memory = (IntervalSet(columns.op_start_ps[ops], columns.op_end_ps[ops]) for ops in of_kind)
    occupied = compute | communication
    return compute.length, communication.length, (occupied | memory).length - occupied.length
