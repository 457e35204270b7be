# SPDX-License-Identifier: GPL-2.0-only
"""The job of a trace of one file a rank: files that are missing, iterations, scales."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from astra_py.config.input_files import input_files
from astra_py.errors import ConfigError, WorkloadError
from astra_py.formats.joined_ranks import joined
from astra_py.formats.rank_graph import RankGraph
from astra_py.workloads import Job, NodeKind, Trace, scaled

if TYPE_CHECKING:
    from astra_py.config import Scenario

__all__ = ["complete", "counted", "graph_job", "rank_files", "span"]

#: The number that a file of a rank has in its name, before its suffixes.
_RANK = re.compile(r"([0-9]{1,7})(?:\.[A-Za-z][A-Za-z0-9]*)+$")


def rank_files(path: Path) -> dict[int, Path]:
    """Return the files that ``path`` names, by rank.

    One whole name is that file alone, of the rank that the last number in the name says, or of rank 0. Otherwise it is
    what the names of one file a rank begin with.

    Raises
    ------
    WorkloadError : there is none, or there are two of one rank.
    """
    if path.is_file():
        number = _RANK.search(path.name)
        return {int(number[1]) if number else 0: path}
    try:
        found = input_files(path)
    except ConfigError as error:
        raise WorkloadError(str(error)) from None
    if not found:
        raise WorkloadError(f"{path}: cannot be read: no file has this name or one that begins so")
    return found


def complete(ranks: Collection[int]) -> int | None:
    """How many ranks there are, where there are files of several and no gap; one file alone may be one of many."""
    return len(ranks) if len(ranks) > 1 and max(ranks) == len(ranks) - 1 else None


def counted(count: int, what: str) -> str:
    """``"1 file"``, ``"2 files"``."""
    many = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{count} {what if count == 1 else many}"


def span(sizes: Iterable[int]) -> str:
    """The least and the most of some sizes in bytes, ``"8 to 64 B"``, or one where they are the same."""
    least, *_, most = sorted({*sizes}) * 2
    return f"{least} B" if least == most else f"{least} to {most} B"


def graph_job(path: Path, graphs: Mapping[int, RankGraph], scenario: Scenario, ranks: int) -> Job:
    """Make the job of all ranks.

    Parameters
    ----------
    path : what the scenario names.
    graphs : by rank, of the files that there are.
    scenario : its ``[workload]`` says what becomes of ranks without a file, how often the nodes are done, and scales.
    ranks : number of ranks of the platform.

    Raises
    ------
    WorkloadError : ranks have no file, files no rank, or they do not go together; see
        :func:`~astra_py.formats.joined_ranks.joined`.
    """
    config = scenario.require_workload()
    beyond = [rank for rank in graphs if rank >= ranks]
    if beyond:
        raise WorkloadError(
            f"{graphs[beyond[0]].path}: is of rank {beyond[0]}, and the platform has ranks 0 to {ranks - 1}"
        )
    notes = []
    missing = [rank for rank in range(ranks) if rank not in graphs]
    every = dict(graphs)
    if missing:
        model = graphs[min(graphs)]
        if config.missing_ranks == "error":
            raise WorkloadError(
                f"{path}: {counted(len(graphs), 'file')} for the platform's {ranks} ranks; missing is that of rank "
                f"{missing[0]}; allowed: one file a rank, or workload.missing_ranks = 'same'"
            )
        every |= {rank: model.of_rank(rank) for rank in missing}
        who = "1 rank has no file and does" if len(missing) == 1 else f"{len(missing)} ranks have no file and do"
        notes.append(f"{who} the same as rank {model.rank} ({model.path})")
    trace = joined([every[rank] for rank in range(ranks)], ranks)
    if config.iterations > 1:
        notes.append(f"the nodes of the files are done {config.iterations} times, an iteration each")
    trace = scaled(trace, compute=config.compute_scale, comm=config.comm_scale)
    return Job(_repeated(trace, config.iterations), tuple(notes))


def _repeated(trace: Trace, iterations: int) -> Trace:
    """Do all nodes several times; a rank begins again when all that it did before is done."""
    if iterations == 1 or not len(trace):
        return trace
    count, ranks, calls = len(trace), trace.ranks, len(trace.calls)
    period = count + ranks  # the nodes, then one a rank that waits for its last ones, and that its next ones wait for
    waits, owner = np.diff(trace.dep_ptr), np.repeat(np.arange(count), np.diff(trace.dep_ptr))
    is_last = np.ones(count, dtype=np.bool_)
    is_last[trace.dep_node] = False
    last, first = np.flatnonzero(is_last), np.flatnonzero(waits == 0)
    joint = count + np.arange(ranks)

    def again(column: str, at_joint: int) -> NDArray[Any]:
        values = getattr(trace, column)
        return np.tile(np.concatenate([values, np.full(ranks, at_joint, dtype=values.dtype)]), iterations)[:-ranks]

    nodes, waited = [], []
    for iteration in range(iterations):
        start = iteration * period
        nodes.append(owner + start)
        waited.append(trace.dep_node + start)
        if iteration:
            nodes.append(first + start)
            waited.append(joint[trace.rank[first]] + start - period)
        if iteration < iterations - 1:
            nodes.append(joint[trace.rank[last]] + start)
            waited.append(last + start)
    node = np.concatenate(nodes)
    total = iterations * period - ranks
    dep_ptr = np.zeros(total + 1, dtype=np.int64)
    np.cumsum(np.bincount(node, minlength=total), out=dep_ptr[1:])
    number = np.repeat(np.arange(iterations), period)[:total]
    call, of_file = again("call", -1), trace.iterations
    rank = np.tile(np.concatenate([trace.rank, np.arange(ranks, dtype=np.int32)]), iterations)[:-ranks]
    return replace(
        trace,
        kind=again("kind", NodeKind.MEMORY),
        rank=rank,
        name=again("name", len(trace.names)),
        names=(*trace.names, "iteration_end"),
        duration_ps=again("duration_ps", 0),
        call=np.where(call >= 0, call + number * calls, -1).astype(np.int32),
        iteration=(again("iteration", of_file - 1) + number * of_file).astype(np.int32),
        phase=again("phase", 0),
        stream=again("stream", -1),
        dep_ptr=dep_ptr,
        dep_node=np.concatenate(waited)[np.argsort(node, kind="stable")],
        calls=tuple(
            replace(call, iteration=call.iteration + iteration * of_file)
            for iteration in range(iterations)
            for call in trace.calls
        ),
    )
