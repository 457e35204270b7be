# SPDX-License-Identifier: GPL-2.0-only
"""What one rank does, as one file of a trace of a file a rank says it; :mod:`joined_ranks` makes a Trace of all."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from astra_py.errors import WorkloadError

__all__ = ["Exchange", "Group", "RankGraph", "dependencies"]


@dataclass(frozen=True)
class Group:
    """A group of ranks as files name it.

    Attributes
    ----------
    name : by which the ranks' files mean the same group; empty for that of all ranks.
    ranks : its members in group order; None for all ranks of the job.
    """

    name: str = ""
    ranks: tuple[int, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """One rank's part in a collective, or one end of a message.

    Attributes
    ----------
    row : its node.
    kind : as :attr:`~astra_py.workloads.CollectiveCall.kind`.
    group : who takes part; of a message nobody but the two, and it means nothing.
    size_bytes : as :attr:`~astra_py.workloads.CollectiveCall.size_bytes`; None where it follows from ``part_bytes``, or
        depends on the peer (``send_bytes``).
    part_bytes : one rank's part of an array that all have parts of: the group's size times that is the whole. None
        where the file does not give it.
    send_bytes, receive_bytes : of all_to_all_v: bytes to and from each member, in group order; ``receive_bytes`` is
        None where they follow from what the others send.
    root : of broadcast, reduce, gather and scatter: its group coordinate.
    peer, tag : of a message: the other rank, and what tells messages of a pair apart.
    is_sender : of a message.
    dtype, priority, algorithm : as those of :class:`~astra_py.workloads.CollectiveCall`.
    """

    row: int
    kind: str
    group: Group = Group()
    size_bytes: int | None = None
    part_bytes: int | None = None
    send_bytes: tuple[int, ...] | None = None
    receive_bytes: tuple[int, ...] | None = None
    root: int = 0
    peer: int = -1
    tag: int = 0
    is_sender: bool = False
    dtype: str = ""
    priority: int = 0
    algorithm: str | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class RankGraph:
    """What one rank does, one row a node.

    Attributes
    ----------
    path : the file that says so.
    rank : whose it is.
    id : u64[m], each node's name in that file.
    kind : u8[m], :class:`~astra_py.workloads.NodeKind`.
    name, names : i32[m] and the names it indexes.
    duration_ps : i64[m], 0 for exchanges.
    iteration : i32[m].
    phase, phases : i32[m] and the labels it indexes.
    stream, streams : i32[m] and the names it indexes, -1 for none.
    dep_ptr, dep_row : i64[m + 1], i64[k]; node i waits for ``dep_row[dep_ptr[i]:dep_ptr[i + 1]]``.
    exchanges : one for each node of kind COLLECTIVE.
    """

    path: Path
    rank: int
    id: NDArray[np.uint64]
    kind: NDArray[np.uint8]
    name: NDArray[np.int32]
    names: tuple[str, ...]
    duration_ps: NDArray[np.int64]
    iteration: NDArray[np.int32]
    phase: NDArray[np.int32]
    phases: tuple[str, ...]
    stream: NDArray[np.int32]
    streams: tuple[str, ...]
    dep_ptr: NDArray[np.int64]
    dep_row: NDArray[np.int64]
    exchanges: tuple[Exchange, ...]

    def __len__(self) -> int:
        return len(self.id)

    def where(self, row: int) -> str:
        """File, node and name, as error messages begin."""
        return f"{self.path}, node {self.id[row]} ({self.names[self.name[row]]!r})"

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """Rows in an order where every dependency precedes its dependant, that of the file where it is one.

        Raises
        ------
        WorkloadError : the nodes wait for each other in a circle.
        """
        waiting = np.repeat(np.arange(len(self)), np.diff(self.dep_ptr))
        if (self.dep_row < waiting).all():
            return np.arange(len(self))
        by_dependency = np.argsort(self.dep_row, kind="stable")
        dependants = waiting[by_dependency].tolist()
        bounds = np.searchsorted(self.dep_row[by_dependency], np.arange(len(self) + 1)).tolist()
        missing = np.diff(self.dep_ptr).tolist()
        ready = [row for row, count in enumerate(missing) if not count]  # sorted, so a heap
        order = []
        while ready:
            row = heapq.heappop(ready)
            order.append(row)
            for dependant in dependants[bounds[row] : bounds[row + 1]]:
                missing[dependant] -= 1
                if not missing[dependant]:
                    heapq.heappush(ready, dependant)
        if len(order) < len(self):
            raise WorkloadError(f"{self._circle(missing)}; nothing can begin")
        return np.array(order, dtype=np.int64)

    def _circle(self, missing: list[int]) -> str:
        """Name nodes that wait for each other: from any that never begins, back to one that was met before."""
        row, way = next(row for row, count in enumerate(missing) if count), []
        while row not in way:
            way.append(row)
            waits_for = self.dep_row[self.dep_ptr[row] : self.dep_ptr[row + 1]].tolist()
            row = next(dependency for dependency in waits_for if missing[dependency])
        circle = way[way.index(row) :]
        named = " -> ".join(str(self.id[row]) for row in [*circle[:8], *(circle[:1] if len(circle) <= 8 else [])])
        return f"{self.where(circle[0])}: waits for itself: {named}" + (" -> ..." if len(circle) > 8 else "")

    def in_job_of(self, ranks: int) -> RankGraph:
        """The graph with groups that list all ranks of the job in order as groups of all ranks."""
        everyone = tuple(range(ranks))
        exchanges = tuple(
            replace(exchange, group=Group(exchange.group.name)) if exchange.group.ranks == everyone else exchange
            for exchange in self.exchanges
        )
        return replace(self, exchanges=exchanges)

    def of_rank(self, rank: int) -> RankGraph:
        """The same of another rank, where what it does is taken to be the same.

        Every rank takes part in all that this one does, and sends in an all_to_all_v what this one sends to the same
        members; what it receives follows.

        Raises
        ------
        WorkloadError : a collective is of a group of some ranks, or a message: who does that with the other rank is
            not in the file.
        """
        for exchange in self.exchanges:
            if exchange.kind == "sendrecv" or exchange.group.ranks is not None:
                what = "a message" if exchange.kind == "sendrecv" else f"of group {exchange.group.ranks}"
                raise WorkloadError(
                    f"{self.where(exchange.row)}: is {what}, so what rank {rank} does, whose file is missing, cannot "
                    "be the same; allowed: only collectives of all ranks with workload.missing_ranks = 'same'"
                )
        exchanges = tuple(replace(exchange, receive_bytes=None) for exchange in self.exchanges)
        return replace(self, rank=rank, exchanges=exchanges)


def dependencies(
    where: str, id: NDArray[np.uint64], dep_ptr: NDArray[np.int64], dep_id: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find the rows of nodes that are waited for, each once a node.

    Parameters
    ----------
    where : the file, for messages.
    id : u64[m].
    dep_ptr, dep_id : i64[m + 1], u64[k]; node i waits for the nodes ``dep_id[dep_ptr[i]:dep_ptr[i + 1]]``.

    Returns
    -------
    ``dep_ptr`` and ``dep_row``, i64[m + 1] and i64[at most k], as :class:`RankGraph` has them.

    Raises
    ------
    WorkloadError : two nodes have one id, a node waits for one that does not exist.
    """
    by_id = np.argsort(id, kind="stable")
    in_order = id[by_id]
    if (twice := np.flatnonzero(in_order[1:] == in_order[:-1])).size:
        raise WorkloadError(f"{where}: two nodes have the id {in_order[twice[0]]}")
    waiting = np.repeat(np.arange(len(id)), np.diff(dep_ptr))
    place = np.searchsorted(in_order, dep_id)
    found = np.zeros(len(dep_id), dtype=np.bool_)
    is_inside = place < len(id)
    found[is_inside] = in_order[place[is_inside]] == dep_id[is_inside]
    if not found.all():
        at = int(np.argmin(found))
        raise WorkloadError(f"{where}, node {id[waiting[at]]}: waits for node {dep_id[at]}, which does not exist")
    pairs = np.unique(np.stack([waiting, by_id[place]], axis=1), axis=0) if len(dep_id) else np.empty((0, 2), np.int64)
    ptr = np.zeros(len(id) + 1, dtype=np.int64)
    np.cumsum(np.bincount(pairs[:, 0], minlength=len(id)), out=ptr[1:])
    return ptr, pairs[:, 1].astype(np.int64)
