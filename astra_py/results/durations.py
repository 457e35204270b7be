# SPDX-License-Identifier: GPL-2.0-only
"""The check of local work: each compute and memory operation does the work that it was given, and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.results.check import Check, compare
from astra_py.results.intervals import IntervalSet
from astra_py.workloads.trace import NodeKind

if TYPE_CHECKING:
    from astra_py.results.record import RunRecord

__all__ = ["check_durations"]


def check_durations(record: RunRecord) -> Check:
    """Each operation lasts as long as its work, the part of it that is beside collectives times the slowdown.

    With a slowdown f, in a picosecond beside a collective of the rank 1/f of a picosecond of work is done. So the
    work of an operation is the time that it has without any, and 1/f of the other, rounded down: it ends in the first
    picosecond by which all is done.
    """
    trace, columns = record.trace, record.columns
    local = np.flatnonzero(trace.kind != NodeKind.COLLECTIVE)
    start, end = columns.op_start_ps[local], columns.op_end_ps[local]
    meaning = "ps of compute and memory operations, from start to end"
    done = end - start
    if record.compute_slowdown != 1:
        meaning = "ps of work of compute and memory operations, from start to end"
        done = _work(record, trace.rank[local], start, end)
    return compare(
        "durations",
        meaning,
        trace.duration_ps[local],
        done,
        lambda i: f"{trace.names[trace.name[local[i]]]} on rank {trace.rank[local[i]]}",
    )


def _work(
    record: RunRecord, rank: NDArray[np.int32], start: NDArray[np.int64], end: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Work that each rank does in a window, in whole ps."""
    trace, columns, slowdown = record.trace, record.columns, record.compute_slowdown
    parts = np.flatnonzero(trace.is_collective)
    beside = np.zeros(len(start), dtype=np.int64)
    for each in np.unique(rank):
        mine, own = rank == each, parts[trace.rank[parts] == each]
        under_way = IntervalSet(columns.op_start_ps[own], columns.op_end_ps[own])
        beside[mine] = under_way.covered(start[mine], end[mine])
    # Python's integers: a product of a time and a decimal fraction's digits may leave 64 bits
    slow = [time * slowdown.denominator // slowdown.numerator for time in beside.tolist()]
    return end - start - beside + np.array(slow, dtype=np.int64)
