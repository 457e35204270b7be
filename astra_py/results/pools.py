# SPDX-License-Identifier: GPL-2.0-only
"""Checks of what is counted: no stream, limit on active collectives or shared pool ever has more out than it may."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.schedule import FIRST_SHARED_POOL
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
    """A rank runs one node of a stream at a time, and never has more collectives or units of its pools than allowed."""
    trace, columns = record.trace, record.columns
    names = [f"stream {name!r}" for name in trace.streams]
    width = len(names) + 1
    in_stream = np.flatnonzero(trace.stream >= 0)
    pool = trace.rank[in_stream].astype(np.int64) * width + trace.stream[in_stream]
    node = in_stream
    capacity = np.ones((trace.ranks, width), dtype=np.int64)
    capacity[:, -1] = 0
    if record.max_active_collectives is not None:
        parts = np.flatnonzero(trace.is_collective)
        pool = np.concatenate([pool, trace.rank[parts].astype(np.int64) * width + width - 1])
        node = np.concatenate([in_stream, parts])
        capacity[:, -1] = record.max_active_collectives
    shared_pool, taken_ps, given_back_ps = _shared_units(record)
    schedule = record.schedule
    units = [np.full(trace.ranks, schedule.pool_capacity[first]) for first in schedule.shared_first]
    allowed = np.concatenate([capacity.ravel(), *units])
    pool = np.concatenate([pool, capacity.size + shared_pool])
    start = np.concatenate([columns.op_start_ps[node], taken_ps])
    most = most_at_once(pool, start, np.concatenate([columns.op_end_ps[node], given_back_ps]), len(allowed))
    used = np.flatnonzero(np.bincount(pool, minlength=len(allowed)))
    allowed, most = allowed[used], most[used]

    def place(index: int) -> str:
        if used[index] >= capacity.size:
            which, rank = divmod(int(used[index]) - capacity.size, trace.ranks)
            return f"pool {schedule.shared_pools[which]!r} of rank {rank}, {most[index]} at once"
        rank, which = divmod(int(used[index]), width)
        return f"{[*names, 'active collectives'][which]} of rank {rank}, {most[index]} at once"

    return compare(
        "limits",
        "streams, collectives, pools: never more than allowed",
        allowed,
        np.maximum(most, allowed),
        place,
    )


def _shared_units(record: RunRecord) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Of each unit that a message took of a shared pool: the pool, when it was taken and when given back; i64[n] each.

    The pool is name x ranks + rank. A unit is taken before its message is posted, and counts from there on.
    """
    schedule, columns = record.schedule, record.columns
    moments = np.stack([columns.message_sent_ps, columns.message_delivered_ps, columns.message_acked_ps])
    found: list[list[NDArray[np.int64]]] = [[], [], []]
    for number, template in enumerate(schedule.templates):
        use = np.flatnonzero(template.use_pool <= FIRST_SHARED_POOL)
        if not len(use):
            continue
        name = np.array([schedule.shared_pools.index(each) for each in template.shared_pools])
        taker = np.repeat(np.arange(len(template)), np.diff(template.use_ptr))[use]
        giver = template.release_op[use] if len(template.release_op) else taker
        pool = name[FIRST_SHARED_POOL - template.use_pool[use]] * schedule.ranks
        for instance in np.flatnonzero(schedule.instance_template == number):
            taken, given = (record.message_row[record.first_row[instance] + ops] for ops in (taker, giver))
            seen = (taken >= 0) & (given >= 0)
            taken, given = taken[seen], given[seen]
            found[0].append(pool[seen] + columns.message_src[taken])
            found[1].append(columns.message_posted_ps[taken])
            found[2].append(moments[template.release_on[use][seen], given])
    pools, start, end = (np.concatenate(part) if part else np.zeros(0, dtype=np.int64) for part in found)
    return pools, start, end


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
