# SPDX-License-Identifier: GPL-2.0-only
"""What is left of each rank's memory, and the cost that it has so far, while parts are placed."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from astra_py.errors import WorkloadError
from astra_py.workloads.dlrm.sharders.parts import Parts, Placement, Scope
from astra_py.workloads.dlrm.text import rounded_size

__all__ = ["Bins", "NoRoomError"]


class NoRoomError(WorkloadError):
    """A part found no place with room."""


class Bins:
    """Ranks and machines that parts are put into.

    Parameters
    ----------
    parts : what is placed.
    costs : of each part.
    is_host : bool[parts], which go to the hosts' memory.

    Attributes
    ----------
    loads : cost of each rank so far; what goes everywhere costs all the same and is left out.
    left, host_left : bytes that are left of each rank's memory for tables, and of each machine's host memory.
    place : where each part is, -1 while it is not placed.
    """

    def __init__(self, parts: Parts, costs: Sequence[int], is_host: NDArray[np.bool_]) -> None:
        memory = parts.memory
        self.parts = parts
        self.costs = costs
        self.is_host = is_host
        self.loads = [0] * memory.ranks
        self.left = [memory.room_bytes(parts.model)] * memory.ranks
        self.host_left = [memory.host_bytes] * memory.machine_count
        self.place = [-1] * len(parts)
        self._machine = memory.machines.tolist()
        self._members = [np.flatnonzero(memory.machines == m).tolist() for m in range(memory.machine_count)]
        self._size = parts.rank_bytes.tolist()
        self._host = is_host.tolist()

    def of_scope(self, scope: Scope) -> list[int]:
        """Return the parts of a scope, the costliest first."""
        chosen = np.flatnonzero(self.parts.scope == scope).tolist()
        return sorted(chosen, key=lambda part: (-self.costs[part], part))

    def room(self, part: int, rank: int) -> int:
        """Bytes that are left where the part would go on a rank."""
        return self.host_left[self._machine[rank]] if self._host[part] else self.left[rank]

    def has_room(self, part: int, rank: int) -> bool:
        """Whether a part of one rank fits there."""
        size: int = self._size[part]
        return size <= self.room(part, rank)

    def put(self, part: int, rank: int, sign: int = 1) -> None:
        """Put a part of one rank there; take it away again with ``sign = -1``."""
        if self._host[part]:
            self.host_left[self._machine[rank]] -= sign * self._size[part]
        else:
            self.left[rank] -= sign * self._size[part]
        self.loads[rank] += sign * self.costs[part]
        self.place[part] = rank if sign > 0 else -1

    def put_everywhere(self) -> None:
        """Put what goes to all ranks.

        Raises
        ------
        NoRoomError : a rank or host has no room for it.
        """
        everywhere = self.parts.scope == Scope.ALL
        hbm = int(self.parts.rank_bytes[everywhere & ~self.is_host].sum())
        host = int(self.parts.rank_bytes[everywhere & self.is_host].sum())
        self.left = [left - hbm for left in self.left]
        for machine, members in enumerate(self._members):
            self.host_left[machine] -= host * len(members)
        for part in np.flatnonzero(everywhere).tolist():
            self.place[part] = 0
        if min(self.left) < 0 or min(self.host_left) < 0:
            parts, where = (hbm, "memory") if min(self.left) < 0 else (host, "share of the host's memory")
            raise NoRoomError(
                f"what goes to all ranks needs {rounded_size(parts)} of each rank's {where}, and "
                f"{self.parts.memory.has(self.parts.model)}"
            )

    def put_on_machines(self) -> None:
        """Put each part that goes over a machine to the one whose ranks have the least cost so far, costliest first.

        Of those that have room; where several have the least, to the one with most ranks.

        Raises
        ------
        NoRoomError : none has room.
        """
        left = [min(self.left[rank] for rank in members) for members in self._members]
        sizes = [len(members) for members in self._members]
        # a heap of (cost of a rank so far in equal whole units, less ranks, machine): a part weighs less on more ranks
        queue = [(0, -sizes[machine], machine) for machine in range(len(left))]
        heapq.heapify(queue)
        unit = math.lcm(*sizes)
        for part in self.of_scope(Scope.MACHINE):
            size, full = self._size[part], []
            while queue and not self._fits_machine(part, left, queue[0][2]):
                full.append(heapq.heappop(queue))
            if not queue:
                raise self.no_room(part, max(self.host_left if self._host[part] else left))
            load, _, machine = heapq.heappop(queue)
            members = self._members[machine]
            self.place[part] = machine
            if self._host[part]:
                self.host_left[machine] -= size * len(members)
            else:
                left[machine] -= size
            for rank in members:
                self.loads[rank] += self.costs[part] // len(members)
                if not self._host[part]:
                    self.left[rank] -= size
            for entry in (*full, (load + self.costs[part] * (unit // len(members)), -len(members), machine)):
                heapq.heappush(queue, entry)

    def no_room(self, part: int, most_left: int) -> NoRoomError:
        """Make the error that a part finds no place."""
        model = self.parts.model
        where = "machine" if self.parts.scope[part] == Scope.MACHINE else "rank"
        return NoRoomError(
            f"{self.parts.name(part)} of {rounded_size(int(self.parts.all_bytes[part]))} finds no {where} with room: "
            f"the costliest are placed first, and the most that is left is {rounded_size(most_left)}, where "
            f"{self.parts.memory.has(model)}"
        )

    def placement(self) -> Placement:
        """Where everything is."""
        return Placement(place=np.array(self.place, dtype=np.int32), is_host=self.is_host)

    def _fits_machine(self, part: int, left: Sequence[int], machine: int) -> bool:
        size: int = self._size[part]
        if self._host[part]:
            return size * len(self._members[machine]) <= self.host_left[machine]
        return size <= left[machine]
