# SPDX-License-Identifier: GPL-2.0-only
"""Largest differencing: the two most uneven partial partitions are joined against each other until one is left.

Karmarkar and Karp, 1982, in the form for many ranks; Mudigere et al., ISCA 2022, section 4.2.5, as the better of two. A
partial partition is a list of as many subsets as there are ranks, with the costs of each. Two are joined by putting the
costliest subset of one to the cheapest of the other, and so on; what is left to even out is the difference of the new
one's largest and smallest. The last one's subsets go to the ranks, the costliest to the rank with the least so far.

The differencing looks at costs alone. Memory limits are met afterwards: as long as a rank has too much, a part of its
is moved to a rank with room for it, or exchanged for a smaller one; of all ways to do so, the one that leaves the least
cost on the costlier of the two. Each step leaves less too much, so there is an end: all fit, or no step helps and the
plan is refused, though one may exist.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from astra_py.workloads.dlrm.sharders.bins import Bins, NoRoomError
from astra_py.workloads.dlrm.sharders.parts import Parts, Placement, Scope
from astra_py.workloads.dlrm.text import rounded_size

__all__ = ["place_karmarkar_karp"]


def place_karmarkar_karp(parts: Parts, costs: Sequence[int], is_host: NDArray[np.bool_]) -> Placement:
    """Place parts by largest differencing; parameters and errors as of :func:`place_greedy`."""
    bins = Bins(parts, costs, is_host)
    bins.put_everywhere()
    bins.put_on_machines()
    chosen = bins.of_scope(Scope.RANK)
    subsets = _differenced([costs[part] for part in chosen], parts.memory.ranks)
    ranks = sorted(range(parts.memory.ranks), key=lambda rank: (bins.loads[rank], rank))
    held: list[set[int]] = [set() for _ in ranks]
    for rank, subset in zip(ranks, subsets, strict=True):
        held[rank] = {chosen[i] for i in subset}
        for part in sorted(held[rank]):
            bins.put(part, rank)
    _Repair(bins, held).run()
    return bins.placement()


@dataclass
class _Partition:
    """Subsets that are not empty, by rising cost; ``members`` are the items of each."""

    costs: list[int]
    members: list[list[int]]

    def difference(self, ranks: int) -> int:
        """Largest less smallest cost of a subset."""
        return self.costs[-1] - (self.costs[0] if len(self.costs) == ranks else 0)


def _differenced(costs: Sequence[int], ranks: int) -> list[list[int]]:
    """Return ``ranks`` subsets of items, the costliest first."""
    partitions = [_Partition([cost], [[item]]) for item, cost in enumerate(costs)]
    queue = [(-partition.difference(ranks), i) for i, partition in enumerate(partitions)]
    heapq.heapify(queue)
    while len(queue) > 1:
        first, second = heapq.heappop(queue)[1], heapq.heappop(queue)[1]
        partitions.append(_joined(partitions[first], partitions[second], ranks))
        heapq.heappush(queue, (-partitions[-1].difference(ranks), len(partitions) - 1))
    members = partitions[-1].members[::-1] if partitions else []
    return [*members, *([] for _ in range(ranks - len(members)))]


def _joined(one: _Partition, other: _Partition, ranks: int) -> _Partition:
    """Join two partitions, the costliest subsets of each with the cheapest of the other, empty ones included."""
    shared = max(len(one.costs) + len(other.costs) - ranks, 0)  # pairs in which neither subset is empty
    pairs = [
        (one.costs[i] + other.costs[shared - 1 - i], one.members[i] + other.members[shared - 1 - i])
        for i in range(shared)
    ]
    for partition in (one, other):
        pairs += zip(partition.costs[shared:], partition.members[shared:], strict=True)
    pairs.sort(key=lambda pair: pair[0])
    return _Partition([cost for cost, _ in pairs], [members for _, members in pairs])


class _Repair:
    """Moves and exchanges until every rank's parts fit its memory."""

    def __init__(self, bins: Bins, held: list[set[int]]) -> None:
        self.bins = bins
        self.held = held
        self.size = bins.parts.rank_bytes.tolist()
        self.is_host = bins.is_host.tolist()

    def run(self) -> None:
        """Repair.

        Raises
        ------
        NoRoomError : no move or exchange helps.
        """
        while (rank := self._overfull()) is not None:
            step = self._best_step(rank)
            if step is None:
                bins = self.bins
                raise NoRoomError(
                    f"largest differencing leaves rank {rank} with {rounded_size(self._excess(rank))} more than it has "
                    "room for, and no move or exchange of tables helps, where "
                    f"{bins.parts.memory.has(bins.parts.model)}"
                )
            part, other, back = step
            self._move(part, rank, other)
            if back is not None:
                self._move(back, other, rank)

    def _excess(self, rank: int) -> int:
        """Bytes that a rank has too much, or its host where it is a cause of that."""
        bins = self.bins
        host = -bins.host_left[int(bins.parts.memory.machines[rank])]
        mine = any(self.is_host[part] for part in self.held[rank])
        return max(-bins.left[rank], host if mine else 0, 0)

    def _overfull(self) -> int | None:
        """Return the rank with the most too much."""
        excess = [self._excess(rank) for rank in range(len(self.held))]
        most = max(excess)
        return excess.index(most) if most else None

    def _best_step(self, rank: int) -> tuple[int, int, int | None] | None:
        """Return the part to move away, where to, and what comes back for it."""
        bins, host_is_cause = self.bins, -self.bins.left[rank] <= 0
        moving = [part for part in sorted(self.held[rank]) if self.is_host[part] == host_is_cause]
        best: tuple[int, int, int, int] | None = None
        for other in range(len(self.held)):
            if other == rank or (host_is_cause and self._share_host(rank, other)):
                continue
            for part in moving:
                for back in (-1, *sorted(self.held[other])):
                    if back >= 0 and (self.is_host[back] != host_is_cause or self.size[back] >= self.size[part]):
                        continue
                    gained = self.size[part] - (self.size[back] if back >= 0 else 0)
                    if gained > bins.room(part, other):
                        continue
                    shift = bins.costs[part] - (bins.costs[back] if back >= 0 else 0)
                    worst = max(bins.loads[rank] - shift, bins.loads[other] + shift)
                    if best is None or (worst, other, part, back) < best:
                        best = (worst, other, part, back)
        if best is None:
            return None
        return best[2], best[1], best[3] if best[3] >= 0 else None

    def _share_host(self, rank: int, other: int) -> bool:
        machines = self.bins.parts.memory.machines
        return bool(machines[rank] == machines[other])

    def _move(self, part: int, source: int, target: int) -> None:
        self.bins.put(part, source, sign=-1)
        self.bins.put(part, target)
        self.held[source].remove(part)
        self.held[target].add(part)
