# SPDX-License-Identifier: GPL-2.0-only
"""Checks of what is counted: no stream, and no limit on active collectives, ever holds more than it may; priorities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.results.check import Check, compare
from astra_py.workloads.trace import NodeKind

if TYPE_CHECKING:
    from astra_py.results.record import RunRecord

__all__ = ["check_limits", "check_priorities", "most_at_once"]


def most_at_once(
    pool: NDArray[np.int64], start: NDArray[np.int64], end: NDArray[np.int64], pools: int
) -> NDArray[np.int64]:
    """How many operations each pool held at the same time at most; i64[pools].

    Parameters
    ----------
    pool : i64[n], the pool that each operation is in, 0 to ``pools`` - 1.
    start, end : i64[n], in ps; an operation that ends when another starts is not there at the same time.
    pools : how many pools there are.
    """
    moment = np.concatenate([start, end])
    step = np.repeat(np.array([1, -1], dtype=np.int64), len(pool))
    # of equal moments the ends come first, and each pool is empty again before the next one's turn
    order = np.lexsort((step, moment, np.tile(pool, 2)))
    held = np.cumsum(step[order])
    most = np.zeros(pools, dtype=np.int64)
    np.maximum.at(most, np.tile(pool, 2)[order], held)
    return most


def check_limits(record: RunRecord) -> Check:
    """A rank runs one node of a stream at a time, and takes part in no more collectives than the system allows."""
    trace, columns = record.trace, record.columns
    names = [f"stream {name!r}" for name in trace.streams]
    width = len(names) + 1
    in_stream = np.flatnonzero(trace.stream >= 0)
    pool = trace.rank[in_stream].astype(np.int64) * width + trace.stream[in_stream]
    node = in_stream
    capacity = np.ones((trace.ranks, width), dtype=np.int64)
    capacity[:, -1] = 0
    if record.max_active_collectives is not None:
        parts = np.flatnonzero(trace.kind == NodeKind.COLLECTIVE)
        pool = np.concatenate([pool, trace.rank[parts].astype(np.int64) * width + width - 1])
        node = np.concatenate([in_stream, parts])
        capacity[:, -1] = record.max_active_collectives
    most = most_at_once(pool, columns.op_start_ps[node], columns.op_end_ps[node], capacity.size)
    used = np.flatnonzero(np.bincount(pool, minlength=capacity.size))
    allowed, most = capacity.ravel()[used], most[used]

    def place(index: int) -> str:
        rank, which = divmod(int(used[index]), width)
        return f"{[*names, 'active collectives'][which]} of rank {rank}, {most[index]} at once"

    return compare(
        "limits",
        "streams and active collectives, never more than allowed",
        allowed,
        np.maximum(most, allowed),
        place,
    )


def check_priorities(record: RunRecord) -> Check:
    """Collectives and the parts in them have the priorities of the workload's calls."""
    trace, schedule = record.trace, record.schedule
    priority = np.array([call.priority for call in trace.calls], dtype=np.int64)
    parts = np.flatnonzero(trace.kind == NodeKind.COLLECTIVE)
    calls = len(priority)

    def place(index: int) -> str:
        if index < calls:
            return f"{trace.calls[schedule.instance_call[index]].name}"
        part = parts[index - calls]
        return f"{trace.calls[trace.call[part]].name} on rank {trace.rank[part]}"

    return compare(
        "priorities",
        "of collectives and of each rank's part in them",
        np.concatenate([priority[schedule.instance_call], priority[trace.call[parts]]]),
        np.concatenate([schedule.instance_priority, schedule.priority[parts]]).astype(np.int64),
        place,
    )
