# SPDX-License-Identifier: GPL-2.0-only
"""Several jobs on one platform: their Traces joined into one, so that they share the network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from astra_py.errors import WorkloadError
from astra_py.workloads.calls import CollectiveCall
from astra_py.workloads.trace import NodeKind, PlacedJob, Trace

__all__ = ["JobTrace", "joined"]

#: The phase of what a rank waits before its job starts.
START = "start"


@dataclass(frozen=True)
class JobTrace:
    """A job and its place.

    Attributes
    ----------
    name : what tables call it.
    trace : what its ranks do, in numbers of its own.
    ranks : the platform's rank of each of them.
    start_ps : when it starts.
    """

    name: str
    trace: Trace
    ranks: Sequence[int]
    start_ps: int = 0


def joined(jobs: Sequence[JobTrace], ranks: int) -> Trace:
    """One Trace of ``ranks`` ranks in which all ``jobs`` run beside one another.

    Names of nodes, calls and streams begin with the job's, ``"a/embedding.forward"``. Each job has its own iterations,
    from 0 on. Where a job starts later, each of its ranks begins with memory work that lasts until then; flows of a
    list begin so much later.

    Parameters
    ----------
    jobs : with names that differ.
    ranks : those of the platform.

    Raises
    ------
    WorkloadError : two jobs of one name, a rank twice in a job or not on the platform, more or fewer ranks than the
        trace has, a start before 0, or two jobs that work on the same rank; flows work on none.
    """
    owner = np.full(ranks, -1, dtype=np.int64)
    for index, job in enumerate(jobs):
        _check(job, ranks, [other.name for other in jobs[:index]])
        if not job.trace.is_of_flows.all():
            at = np.array(job.ranks, dtype=np.int64)
            if (owner[at] >= 0).any():
                rank = int(at[owner[at] >= 0][0])
                raise WorkloadError(
                    f"rank {rank} is of jobs {jobs[int(owner[rank])].name!r} and {job.name!r}; allowed: one job a "
                    "rank, and any number of flows"
                )
            owner[at] = index
    parts = [_placed(job, ranks) for job in jobs]
    sizes = [len(part) for part in parts]
    first_node = np.cumsum([0, *sizes])
    first_call = np.cumsum([0, *(len(part.calls) for part in parts)])
    names, name = _merged([part.names for part in parts], [part.name for part in parts])
    phases, phase = _merged([part.phases for part in parts], [part.phase for part in parts])
    streams, stream = _merged([part.streams for part in parts], [part.stream for part in parts])
    dep_ptr = [part.dep_ptr[1:] for part in parts]
    first_dep = np.cumsum([0, *(len(part.dep_node) for part in parts)])
    return Trace(
        ranks=ranks,
        kind=_column([part.kind for part in parts], np.uint8),
        rank=_column([part.rank for part in parts], np.int32),
        name=name,
        names=names,
        duration_ps=_column([part.duration_ps for part in parts], np.int64),
        call=_column(
            [np.where(part.call < 0, -1, part.call + first_call[i]) for i, part in enumerate(parts)], np.int32
        ),
        iteration=_column([part.iteration for part in parts], np.int32),
        phase=phase,
        phases=phases,
        stream=stream,
        streams=streams,
        dep_ptr=_column([np.zeros(1), *(ptr + first_dep[i] for i, ptr in enumerate(dep_ptr))], np.int64),
        dep_node=_column([part.dep_node + first_node[i] for i, part in enumerate(parts)], np.int64),
        calls=tuple(call for part in parts for call in part.calls),
        jobs=tuple(PlacedJob(job.name, tuple(map(int, job.ranks)), job.start_ps) for job in jobs),
        job=np.repeat(np.arange(len(jobs), dtype=np.int32), sizes),
    )


def _check(job: JobTrace, ranks: int, names: list[str]) -> None:
    placed = list(job.ranks)
    if job.name in names:
        raise WorkloadError(f"two jobs are called {job.name!r}; names differ")
    if job.trace.jobs:
        raise WorkloadError(f"job {job.name!r} is made of several jobs already")
    if len(placed) != job.trace.ranks:
        raise WorkloadError(f"job {job.name!r} has {job.trace.ranks} ranks, and {len(placed)} are given to it")
    if len(set(placed)) != len(placed):
        raise WorkloadError(f"job {job.name!r} is given a rank twice")
    if outside := [rank for rank in placed if not 0 <= rank < ranks]:
        raise WorkloadError(f"job {job.name!r}: rank {outside[0]} is not on the platform; allowed: 0 to {ranks - 1}")
    if job.start_ps < 0:
        raise WorkloadError(f"job {job.name!r} starts at {job.start_ps} ps; allowed: from 0")


def _placed(job: JobTrace, ranks: int) -> Trace:
    """The job's trace in ranks of the platform, under its name, from its start on."""
    trace, at = job.trace, np.array(job.ranks, dtype=np.int32)
    moved = _moved_flows(trace) if job.start_ps else np.zeros(len(trace.calls), dtype=np.bool_)
    calls = tuple(_placed_call(call, job, is_later=moved[i]) for i, call in enumerate(trace.calls))
    renamed = replace(
        trace,
        ranks=ranks,
        rank=at[trace.rank],
        names=tuple(f"{job.name}/{name}" for name in trace.names),
        streams=tuple(f"{job.name}/{stream}" for stream in trace.streams),
        calls=calls,
    )
    return _delayed(renamed, job, moved) if job.start_ps else renamed


def _moved_flows(trace: Trace) -> NDArray[np.bool_]:
    """bool[calls]: the lists of flows that wait for nothing, whose flows themselves can be told to start later."""
    is_moved = np.array([call.flows is not None for call in trace.calls], dtype=np.bool_)
    is_moved[trace.call[(np.diff(trace.dep_ptr) > 0) & (trace.call >= 0)]] = False
    return is_moved


def _placed_call(call: CollectiveCall, job: JobTrace, *, is_later: np.bool_) -> CollectiveCall:
    flows = call.flows
    if flows is not None and is_later:
        flows = flows.later(job.start_ps)
    group = tuple(int(job.ranks[rank]) for rank in call.group)
    return replace(call, name=f"{job.name}/{call.name}", group=group, flows=flows)


def _delayed(trace: Trace, job: JobTrace, moved: NDArray[np.bool_]) -> Trace:
    """As ``trace``, where each rank's first nodes wait until the job's start, but those of flows that are ``moved``."""
    waits = np.diff(trace.dep_ptr)
    is_root = (waits == 0) & ~np.append(moved, False)[trace.call]
    waiting = np.unique(trace.rank[is_root])
    count = len(waiting)
    number = np.zeros(trace.ranks, dtype=np.int64)
    number[waiting] = np.arange(count)
    later = np.where(is_root, 1, waits)
    dep_node = np.empty(int(later.sum()), dtype=np.int64)
    is_new = np.repeat(is_root, later)
    dep_node[is_new] = number[trace.rank[is_root]]
    dep_node[~is_new] = trace.dep_node + count

    def column(name: str, value: int) -> NDArray[Any]:
        values = getattr(trace, name)
        return np.concatenate([np.full(count, value, dtype=values.dtype), values])

    return replace(
        trace,
        kind=column("kind", NodeKind.MEMORY),
        rank=np.concatenate([waiting, trace.rank]).astype(np.int32),
        name=column("name", len(trace.names)),
        names=(*trace.names, f"{job.name}/{START}"),
        duration_ps=column("duration_ps", job.start_ps),
        call=column("call", -1),
        iteration=column("iteration", int(trace.iteration.min())),
        phase=column("phase", len(trace.phases)),
        phases=(*trace.phases, START),
        stream=column("stream", -1),
        dep_ptr=np.concatenate([np.zeros(count + 1, dtype=np.int64), np.cumsum(later)]).astype(np.int64),
        dep_node=dep_node,
    )


def _merged(
    labels: list[tuple[str, ...]], columns: list[NDArray[np.int32]]
) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Labels of all parts, each once, and the columns that index them; -1 stays."""
    index: dict[str, int] = {}
    parts = []
    for names, column in zip(labels, columns, strict=True):
        number = np.array([*(index.setdefault(name, len(index)) for name in names), -1], dtype=np.int32)
        parts.append(number[column])
    return tuple(index), _column(parts, np.int32)


def _column(parts: Sequence[NDArray[Any]], dtype: type) -> NDArray[Any]:
    return np.concatenate(parts).astype(dtype) if len(parts) else np.zeros(0, dtype=dtype)
