# SPDX-License-Identifier: GPL-2.0-only
"""A Trace with other sizes: compute times and messages by a factor, or more or fewer ranks."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from astra_py.errors import WorkloadError
from astra_py.workloads.calls import MAX_INT64, CollectiveCall
from astra_py.workloads.trace import NodeKind, Trace

__all__ = ["scaled", "weakly_scaled"]

Integers = NDArray[np.int64]

#: Kinds whose size is the whole array, of which each rank has a part.
_WHOLE_ARRAYS = ("all_gather", "reduce_scatter", "gather", "scatter")
#: Kinds whose size is each rank's buffer, however many ranks there are.
_BUFFERS = ("all_reduce", "all_to_all", "broadcast", "reduce", "barrier")


def scaled(trace: Trace, *, compute: float = 1.0, comm: float = 1.0) -> Trace:
    """Multiply compute times, and the bytes of collectives and flows.

    Results are rounded to the nearest picosecond and byte, halves to even, of the decimal number that a factor is
    written as. What has some bytes keeps at least one. Of an array that parts into equal segments, each segment is
    scaled, so that it still does. Memory work and the starts of flows stay as they are.

    Parameters
    ----------
    trace : what every rank does.
    compute, comm : the factors, above 0.

    Raises
    ------
    WorkloadError : a factor that is not above 0, or a scaled figure that is not allowed; names the node or call.
    """
    compute_factor, comm_factor = _exact(compute, "compute"), _exact(comm, "comm")
    duration = trace.duration_ps
    if compute_factor != 1:
        is_compute = trace.kind == NodeKind.COMPUTE
        duration = duration.copy()
        duration[is_compute] = _multiplied(duration[is_compute], compute_factor, "a compute time")
    calls = trace.calls if comm_factor == 1 else tuple(_scaled_call(call, comm_factor) for call in trace.calls)
    return replace(trace, duration_ps=duration, calls=calls)


def weakly_scaled(trace: Trace, ranks: int) -> Trace:
    """The job of as many ranks as wanted, each of which does what a rank of ``trace`` does.

    That is weak scaling: compute, and the bytes that a rank has in each collective, stay as they are. Buffers of
    all-reduce, all-to-all, broadcast and reduce keep their size; the arrays of all-gather, reduce-scatter, gather and
    scatter grow with the ranks.

    Parameters
    ----------
    trace : a job in which all ranks do the same, in collectives of all of them.
    ranks : how many there are to be.

    Raises
    ------
    WorkloadError : the job cannot be scaled, with what is in the way.
    """
    if ranks < 1:
        raise WorkloadError(f"a job has at least one rank, not {ranks}")
    nodes = _nodes_of_rank_0(trace)
    calls = tuple(_of_ranks(call, trace.ranks, ranks) for call in trace.calls)
    count, waits = len(nodes), np.diff(trace.dep_ptr)[nodes]
    own = np.searchsorted(nodes, _rows(trace, nodes))

    def column(values: NDArray[np.int32]) -> NDArray[np.int32]:
        return np.repeat(values[nodes], ranks)

    # node k of rank r is k * ranks + r: parts in one collective stand together, in order of rank
    deps = np.repeat(np.arange(count), waits)
    order = np.lexsort(
        (np.tile(np.arange(len(own)), ranks), np.repeat(np.arange(ranks), len(own)), np.tile(deps, ranks))
    )
    dep_node = (np.tile(own, ranks) * ranks + np.repeat(np.arange(ranks), len(own)))[order]
    return replace(
        trace,
        ranks=ranks,
        kind=np.repeat(trace.kind[nodes], ranks),
        rank=np.tile(np.arange(ranks, dtype=np.int32), count),
        name=column(trace.name),
        duration_ps=np.repeat(trace.duration_ps[nodes], ranks),
        call=column(trace.call),
        iteration=column(trace.iteration),
        phase=column(trace.phase),
        stream=column(trace.stream),
        dep_ptr=np.concatenate([[0], np.cumsum(np.repeat(waits, ranks))]).astype(np.int64),
        dep_node=dep_node.astype(np.int64),
        calls=calls,
    )


def _exact(factor: float, what: str) -> Fraction:
    """The decimal number that was written, without its binary rounding."""
    if not 0 < factor < float("inf"):
        raise WorkloadError(f"{what} scaled by {factor}: a factor is a finite number above 0")
    return Fraction(str(factor))


def _multiplied(values: Integers, factor: Fraction, what: str) -> Integers:
    """Values times a factor, rounded to nearest and halves to even; exact whatever they are."""
    top = int(values.max(initial=0))
    if round(top * factor) > MAX_INT64:
        raise WorkloadError(f"{what} of {top}, scaled by {float(factor):g}, is above 2^63 - 1")
    whole, rest = np.divmod(values, factor.denominator)
    if factor.denominator * factor.numerator > MAX_INT64 // 4:
        each = [round(value * factor) for value in values.ravel().tolist()]
        return np.array(each, dtype=np.int64).reshape(values.shape)
    floor, over = np.divmod(rest * factor.numerator, factor.denominator)
    result: Integers = whole * factor.numerator + floor
    is_odd = result % 2 == 1
    result += (2 * over > factor.denominator) | ((2 * over == factor.denominator) & is_odd)
    return result


def _scaled_call(call: CollectiveCall, factor: Fraction) -> CollectiveCall:
    try:
        if call.flows is not None:
            return replace(call, flows=call.flows.scaled(_kept(call.flows.size_bytes, factor)))
        if call.matrix is not None:
            return replace(call, matrix=_kept(call.matrix, factor))
        assert call.size_bytes is not None
        parts = len(call.group) if call.kind in _WHOLE_ARRAYS and call.size_bytes % len(call.group) == 0 else 1
        part = _kept(np.array([call.size_bytes // parts], dtype=np.int64), factor)
        return replace(call, size_bytes=parts * int(part[0]))
    except WorkloadError as error:
        error.add_note(f"while scaling the bytes of collective {call.name!r} by {float(factor):g}")
        raise


def _kept(size_bytes: Integers, factor: Fraction) -> Integers:
    """Scaled sizes, at least 1 where there was something."""
    sizes: Integers = np.maximum(_multiplied(size_bytes, factor, "a size"), (size_bytes > 0).astype(np.int64))
    return sizes


def _nodes_of_rank_0(trace: Trace) -> Integers:
    """Nodes of rank 0, of a job in which every other rank does the same in the same order.

    Raises
    ------
    WorkloadError : names the first rank that does something else.
    """
    if trace.jobs:
        raise WorkloadError("jobs that are joined have their ranks; scale each of them before")
    order = np.argsort(trace.rank, kind="stable")
    first = np.searchsorted(trace.rank[order], np.arange(trace.ranks + 1))
    own = order[first[0] : first[1]]
    place = np.empty(len(trace), dtype=np.int64)
    for rank in range(trace.ranks):
        mine = order[first[rank] : first[rank + 1]]
        place[mine] = np.arange(len(mine))
    for rank in range(1, trace.ranks):
        mine = order[first[rank] : first[rank + 1]]
        is_alike = len(mine) == len(own) and all(
            np.array_equal(getattr(trace, name)[mine], getattr(trace, name)[own])
            for name in ("kind", "name", "duration_ps", "call", "iteration", "phase", "stream")
        )
        if not is_alike or not _wait_alike(trace, place, mine, own):
            raise WorkloadError(
                f"the job of {trace.ranks} ranks cannot have another number of them: rank {rank} does not do the same "
                "as rank 0"
            )
    return own


def _wait_alike(trace: Trace, place: Integers, mine: Integers, own: Integers) -> bool:
    waits = np.diff(trace.dep_ptr)
    return np.array_equal(waits[mine], waits[own]) and np.array_equal(
        place[_rows(trace, mine)], place[_rows(trace, own)]
    )


def _rows(trace: Trace, nodes: Integers) -> Integers:
    """What each of the nodes waits for, one after another."""
    count = np.diff(trace.dep_ptr)[nodes]
    at = np.repeat(trace.dep_ptr[nodes] - np.cumsum(count) + count, count) + np.arange(count.sum())
    waited_for: Integers = trace.dep_node[at]
    return waited_for


def _of_ranks(call: CollectiveCall, before: int, ranks: int) -> CollectiveCall:
    """A collective of all ranks, of another number of them."""
    if len(call.group) != before:
        raise call.error(f"it is of {len(call.group)} of the {before} ranks, and only one of all can be of other ranks")
    if call.kind in _BUFFERS:
        size_bytes = call.size_bytes
    elif call.kind in _WHOLE_ARRAYS:
        part, left_over = divmod(call.size_bytes or 0, before)
        if left_over:
            raise call.error(f"its array of {call.size_bytes} B has no equal part for each of {before} ranks")
        size_bytes = part * ranks
    else:
        raise call.error(f"{call.kind} says who sends what to whom, which other ranks do not know")
    return replace(call, group=tuple(range(ranks)), size_bytes=size_bytes)
