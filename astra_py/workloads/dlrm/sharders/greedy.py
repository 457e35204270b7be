# SPDX-License-Identifier: GPL-2.0-only
"""Longest first: each part, the costliest first, goes to the rank with the least cost so far that has room for it.

Graham, 1969 (longest processing time first); Mudigere et al., ISCA 2022, section 4.2.5, place tables so.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from astra_py.workloads.dlrm.sharders.bins import Bins
from astra_py.workloads.dlrm.sharders.parts import Parts, Placement, Scope

__all__ = ["place_greedy"]


def place_greedy(parts: Parts, costs: Sequence[int], is_host: NDArray[np.bool_]) -> Placement:
    """Place parts longest first.

    Parameters
    ----------
    parts : what is placed.
    costs : of each part.
    is_host : bool[parts], which go to the hosts' memory.

    Raises
    ------
    NoRoomError : a part finds no place.
    """
    bins = Bins(parts, costs, is_host)
    bins.put_everywhere()
    bins.put_on_machines()
    queue = [(load, rank) for rank, load in enumerate(bins.loads)]  # (cost so far, rank), a heap
    heapq.heapify(queue)
    for part in bins.of_scope(Scope.RANK):
        full = []
        while queue and not bins.has_room(part, queue[0][1]):
            full.append(heapq.heappop(queue))
        if not queue:
            raise bins.no_room(part, max(bins.room(part, rank) for rank in range(parts.memory.ranks)))
        rank = heapq.heappop(queue)[1]
        bins.put(part, rank)
        for entry in (*full, (bins.loads[rank], rank)):
            heapq.heappush(queue, entry)
    return bins.placement()
