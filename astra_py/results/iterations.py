# SPDX-License-Identifier: GPL-2.0-only
"""The table of iterations: how long each took, and how much of it is exposed communication.

On one rank, iteration k starts with the rank's first operation of iteration k and ends where its iteration k + 1
starts; the first starts with the run and the last ends with the rank's last operation, so that a rank's iterations add
up to its time. The table follows the rank that ends the run. Exposed communication is the iteration less the union of
the rank's compute: waiting for others and update delays, which come after a collective, are part of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.schedule import OuterKind
from astra_py.results.columns import Columns, us

if TYPE_CHECKING:
    from astra_py.results.record import RunRecord

__all__ = ["iterations_table"]


def iterations_table(record: RunRecord) -> Columns:
    """Columns of the table ``iterations``, one row an iteration."""
    numbers, bounds = _bounds(record)
    spans = np.diff(bounds, axis=1)
    rank = int(np.argmax(bounds[:, -1]))
    low, high, time = bounds[rank, :-1], bounds[rank, 1:], spans[rank]
    compute, memory, communication = (
        record.busy(rank, kind) for kind in (OuterKind.COMPUTE, OuterKind.MEMORY, OuterKind.COLLECTIVE)
    )
    computing = compute.covered(low, high)
    occupied = compute | communication
    exposed = time - computing
    return {
        "iteration": numbers,
        "rank": np.full(len(numbers), rank),
        "start_us": us(low),
        "time_us": us(time),
        "compute_us": us(computing),
        "communication_us": us(communication.covered(low, high)),
        "exposed_us": us(exposed),
        "exposed_percent": np.divide(100.0 * exposed, time, out=np.full(len(time), np.nan), where=time > 0),
        "memory_us": us((occupied | memory).covered(low, high) - occupied.covered(low, high)),
        "fastest_rank_time_us": us(spans.min(axis=0)),
        "slowest_rank_time_us": us(spans.max(axis=0)),
        "time_ps": time,
    }


def _bounds(record: RunRecord) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The iterations' numbers, i64[k], and where each starts and the last one ends on each rank, i64[ranks, k + 1]."""
    schedule, columns = record.schedule, record.columns
    numbers, column = np.unique(schedule.iteration, return_inverse=True)
    end = np.zeros(schedule.ranks, dtype=np.int64)
    np.maximum.at(end, schedule.rank, columns.op_end_ps)
    bounds = np.repeat(end[:, None], len(numbers) + 1, axis=1)
    np.minimum.at(bounds, (schedule.rank, column), columns.op_start_ps)
    bounds[:, 0] = 0
    # a rank without work in an iteration, or early with work of a later one, has an empty iteration there
    bounds = np.minimum.accumulate(bounds[:, ::-1], axis=1)[:, ::-1]
    return numbers.astype(np.int64), bounds
