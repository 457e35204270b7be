# SPDX-License-Identifier: GPL-2.0-only
"""A part of a Trace, or a Trace several times over."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from astra_py.errors import WorkloadError, did_you_mean
from astra_py.workloads.calls import CollectiveCall
from astra_py.workloads.trace import NodeKind, Trace

__all__ = ["repeated", "trimmed"]

#: How many times its nodes a Trace may have in dependencies between one repetition and the next.
_MOST_JOINS = 4


def trimmed(
    trace: Trace,
    *,
    iterations: Collection[int] | None = None,
    phases: Collection[str] | None = None,
    window: tuple[int, int] | None = None,
) -> tuple[Trace, tuple[str, ...]]:
    """Keep some iterations, phases or nodes of a Trace, and cut the rest.

    What is kept goes in the same order as before: where a node waited for one that is cut, it waits for what that one
    waited for. A collective is kept where the parts of all its members are. Iterations and phases keep their numbers
    and names.

    Parameters
    ----------
    trace : what every rank does.
    iterations, phases : those to keep; all where None.
    window : the first node to keep, and the first one after it that is not; all where None.

    Returns
    -------
    The Trace, and what was cut, a sentence each; nothing where all was kept.

    Raises
    ------
    WorkloadError : an iteration or phase that the trace does not have, a window outside its nodes, or nothing is left.
    """
    keep = np.ones(len(trace), dtype=np.bool_)
    if iterations is not None:
        known = np.unique(trace.iteration).tolist()
        if unknown := sorted(set(iterations) - set(known)):
            raise WorkloadError(f"the job has no iteration {unknown[0]}; allowed: {_span(known)}")
        keep &= np.isin(trace.iteration, list(iterations))
    if phases is not None:
        if unknown_phases := sorted(set(phases) - set(trace.phases)):
            hint = did_you_mean(unknown_phases[0], trace.phases)
            raise WorkloadError(
                f"the job has no phase {unknown_phases[0]!r}; allowed: {', '.join(map(repr, trace.phases))}{hint}"
            )
        keep &= np.isin(trace.phase, [trace.phases.index(phase) for phase in phases])
    if window is not None:
        first, after = window
        if not 0 <= first < after <= len(trace):
            raise WorkloadError(f"nodes {first} to before {after} are outside the job's {len(trace)} nodes")
        keep[:first] = keep[after:] = False
    is_whole = np.ones(len(trace.calls) + 1, dtype=np.bool_)
    is_whole[trace.call[~keep]] = False
    is_whole[-1] = True  # what is no collective
    torn = keep & ~is_whole[trace.call]
    keep &= is_whole[trace.call]
    if not keep.any():
        raise WorkloadError("nothing of the job is left: all of its nodes are cut")
    return _only(trace, keep), _account(trace, keep, torn)


def repeated(trace: Trace, times: int) -> Trace:
    """Do all of a Trace several times; iterations are numbered on.

    Each rank begins a repetition when all that it did in the one before has ended. Where very many nodes begin and end
    at once, each rank begins with one more node, ``"begin"``, of no time, so that it has as many dependencies as nodes
    and not as many as pairs of them.

    Raises
    ------
    WorkloadError : a number of times below 1.
    """
    if times < 1:
        raise WorkloadError(f"a job is done at least once, not {times} times")
    if times == 1 or not len(trace):
        return trace
    roots, ends = _outermost(trace)
    joins = _of_ranks(trace, roots) * _of_ranks(trace, ends)
    if joins.sum() > _MOST_JOINS * len(trace):
        trace = _begun(trace, roots)
        roots, ends = _outermost(trace)
    count, calls = len(trace), len(trace.calls)
    iterations = int(trace.iteration.max() - trace.iteration.min()) + 1
    again = np.arange(times)
    waits = np.diff(trace.dep_ptr)
    # each root waits for all ends of its rank
    ends = ends[np.argsort(trace.rank[ends], kind="stable")]
    first = np.searchsorted(trace.rank[ends], np.arange(trace.ranks + 1))
    of_rank = trace.rank[roots]
    joins = np.diff(first)[of_rank]
    at = np.repeat(first[of_rank] - np.cumsum(joins) + joins, joins) + np.arange(joins.sum())
    later = waits.copy()
    later[roots] = joins
    later_ptr = np.concatenate([[0], np.cumsum(later)])
    later_node = np.empty(later_ptr[-1], dtype=np.int64)
    is_join = np.repeat(waits == 0, later)
    later_node[~is_join] = trace.dep_node + count
    later_node[is_join] = ends[at]
    tiled: dict[str, Any] = {
        name: np.tile(getattr(trace, name), times)
        for name in ("kind", "rank", "name", "duration_ps", "phase", "stream", "job")
    }
    dep_node = [trace.dep_node, *(later_node + (k - 1) * count for k in range(1, times))]
    return replace(
        trace,
        **tiled,
        call=np.where(trace.call < 0, -1, trace.call + again[:, np.newaxis] * calls).ravel().astype(np.int32),
        iteration=(trace.iteration + again[:, np.newaxis] * iterations).ravel().astype(np.int32),
        dep_ptr=np.concatenate([[0], np.cumsum(np.concatenate([waits, *[later] * (times - 1)]))]).astype(np.int64),
        dep_node=np.concatenate(dep_node),
        calls=tuple(_in_iteration(call, call.iteration + k * iterations) for k in range(times) for call in trace.calls),
    )


def _outermost(trace: Trace) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The nodes that wait for none, and those that none waits for."""
    is_end = np.ones(len(trace), dtype=np.bool_)
    is_end[trace.dep_node] = False
    return np.flatnonzero(np.diff(trace.dep_ptr) == 0), np.flatnonzero(is_end)


def _of_ranks(trace: Trace, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """i64[ranks]: how many of the nodes each rank has."""
    return np.bincount(trace.rank[nodes], minlength=trace.ranks)


def _begun(trace: Trace, roots: NDArray[np.int64]) -> Trace:
    """As ``trace``, where each rank begins with one node, of no time, that all of its ``roots`` wait for.

    The node is of the iteration, phase and job of the rank's first root.
    """
    ranks, first = np.unique(trace.rank[roots], return_index=True)
    count, first = len(ranks), roots[first]
    number = np.zeros(trace.ranks, dtype=np.int64)
    number[ranks] = np.arange(count)
    waits = np.diff(trace.dep_ptr)
    is_root = waits == 0
    later = np.where(is_root, 1, waits)
    dep_node = np.empty(int(later.sum()), dtype=np.int64)
    is_new = np.repeat(is_root, later)
    dep_node[is_new] = number[trace.rank[roots]]
    dep_node[~is_new] = trace.dep_node + count
    given = {"kind": NodeKind.MEMORY, "name": len(trace.names), "duration_ps": 0, "call": -1, "stream": -1}
    columns: dict[str, Any] = {
        name: np.concatenate([np.full(count, value, dtype=getattr(trace, name).dtype), getattr(trace, name)])
        for name, value in given.items()
    }
    for name in ("rank", "iteration", "phase", *(["job"] if trace.jobs else [])):
        columns[name] = np.concatenate([getattr(trace, name)[first], getattr(trace, name)])
    return replace(
        trace,
        **columns,
        names=(*trace.names, "begin"),
        dep_ptr=np.concatenate([np.zeros(count + 1, dtype=np.int64), np.cumsum(later)]).astype(np.int64),
        dep_node=dep_node,
    )


def _in_iteration(call: CollectiveCall, iteration: int) -> CollectiveCall:
    return call if iteration == call.iteration else replace(call, iteration=iteration)


def _only(trace: Trace, keep: NDArray[np.bool_]) -> Trace:
    """The nodes to ``keep``, each waiting for the nearest kept ones that it came after."""
    if keep.all():
        return trace
    number = np.cumsum(keep) - 1
    call_number = np.full(len(trace.calls), -1, dtype=np.int32)
    used = np.unique(trace.call[keep & (trace.call >= 0)])
    call_number[used] = np.arange(len(used))
    waits = _nearest(trace, keep)
    kept = np.flatnonzero(keep)
    columns = {
        name: getattr(trace, name)[keep]
        for name in ("kind", "rank", "name", "duration_ps", "iteration", "phase", "stream")
    }
    call = trace.call[keep]
    return replace(
        trace,
        **columns,
        call=np.where(call < 0, -1, call_number[call]).astype(np.int32) if len(trace.calls) else call,
        job=trace.job[keep] if trace.jobs else trace.job,
        dep_ptr=np.concatenate([[0], np.cumsum([len(waits[node]) for node in kept.tolist()])]).astype(np.int64),
        dep_node=number[np.array([before for node in kept.tolist() for before in waits[node]], dtype=np.int64)],
        calls=tuple(trace.calls[i] for i in used.tolist()),
    )


def _nearest(trace: Trace, keep: NDArray[np.bool_]) -> list[tuple[int, ...]]:
    """Per node, the kept nodes that it waits for once those that are cut stand no longer between."""
    bounds, nodes, is_kept = trace.dep_ptr.tolist(), trace.dep_node.tolist(), keep.tolist()
    found: list[tuple[int, ...]] = []
    for node in range(len(trace)):
        before = nodes[bounds[node] : bounds[node + 1]]
        if all(is_kept[each] for each in before):
            found.append(tuple(before))
            continue
        nearest: dict[int, None] = {}
        for each in before:
            nearest.update(dict.fromkeys((each,) if is_kept[each] else found[each]))
        found.append(tuple(nearest))
    return found


def _account(trace: Trace, keep: NDArray[np.bool_], torn: NDArray[np.bool_]) -> tuple[str, ...]:
    if keep.all():
        return ()
    kinds = ", ".join(
        f"{int((~keep & (trace.kind == kind)).sum()):,} {kind.name.lower()}"
        for kind in NodeKind
        if (~keep & (trace.kind == kind)).any()
    )
    lines = [f"cut: {int((~keep).sum()):,} of the job's {len(trace):,} nodes ({kinds})"]
    if torn.any():
        calls = len(np.unique(trace.call[torn]))
        lines.append(f"cut in these: {calls} collectives of which some members' parts are outside what is kept")
    return tuple(lines)


def _span(numbers: list[int]) -> str:
    is_dense = numbers == list(range(numbers[0], numbers[-1] + 1))
    return f"{numbers[0]} to {numbers[-1]}" if is_dense and len(numbers) > 1 else ", ".join(map(str, numbers))
