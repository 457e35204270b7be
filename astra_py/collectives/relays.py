# SPDX-License-Identifier: GPL-2.0-only
"""All-to-all algorithms that go to the right rail inside a machine first, and then along it to the other machines.

The relay of a message is the member of its sender's machine whose place there is that of the receiver in its own, so
that it leaves by a NIC of the receiver's rail; in a machine of fewer members, the place is taken modulo their number.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.builder import Dep, ScheduleBuilder
from astra_py.collectives.machines import local_index
from astra_py.collectives.patterns import post
from astra_py.collectives.registry import Group, collective
from astra_py.collectives.sections import rows_by_rank

__all__ = ["hierarchical", "pxn"]

Ids = NDArray[np.int64]


@collective("all_to_all", name="hierarchical")
@collective("all_to_all_v", name="hierarchical")
def hierarchical(build: ScheduleBuilder, group: Group, matrix: NDArray[np.int64]) -> None:
    """Inside each machine first, then along the rails between machines.

    Inside, a rank sends each local peer all that it has for the members of that peer's rail, its machine's own
    included. When a rank is done with that, it sends every other member of its rail what its machine has for that
    member, one message to each. Of equal parts of M bytes on N machines of L members a rank sends (L - 1)/L M
    inside and (N - 1)/N M between machines, in N - 1 messages.
    """
    ways = _Ways(group, matrix)
    inside = np.flatnonzero(ways.relay != ways.src)
    if len(inside):
        build.begin_phase("all_to_all inside")
        turn = ways.turn(ways.index[ways.src], ways.index[ways.relay], ways.members[ways.src])
        _send(build, ways, inside, ways.src, ways.relay, (ways.src, turn), phase=None)
    between = np.flatnonzero(ways.relay != ways.dst)
    if len(between):
        build.begin_phase("all_to_all between")
        _send(build, ways, between, ways.relay, ways.dst, ways.order_between(), phase=None)


@collective("all_to_all", name="pxn")
@collective("all_to_all_v", name="pxn")
def pxn(build: ScheduleBuilder, group: Group, matrix: NDArray[np.int64]) -> None:
    """As NCCL over PXN: the ways of ``hierarchical``, but what goes to one rank goes as soon as it is together.

    Inside, a rank sends a relay what it has for each other machine in a message of its own; a relay sends on to a
    rank once its local peers' messages for that rank have come. What stays in the machine goes straight.
    """
    ways = _Ways(group, matrix)
    target = ways.machine[ways.dst]
    machine_turn = ways.turn(ways.machine[ways.src], target, ways.machine.max() + 1)
    local_turn = ways.turn(ways.index[ways.src], ways.index[ways.relay], ways.members[ways.src])
    inside = np.flatnonzero(ways.relay != ways.src)
    first: tuple[Ids, ...] = (ways.src, machine_turn, local_turn)
    handed, message = _send(build, ways, inside, ways.src, ways.relay, first, phase="all_to_all inside")
    between = np.flatnonzero(ways.relay != ways.dst)
    came_by = np.full(len(ways.src), -1, dtype=np.int64)
    came_by[inside] = handed[message]
    order = ways.order_between()
    _send(build, ways, between, ways.relay, ways.dst, order, came_by, phase="all_to_all between")


class _Ways:
    """Sender, relay and receiver of each entry of a byte matrix that is not 0 and not on its diagonal.

    Attributes
    ----------
    src, relay, dst, block, size_bytes : i64[k]; the relay is the receiver itself inside a machine.
    machine, index, members : i64[n], each member's machine, its place there, and how many are in that machine.
    """

    def __init__(self, group: Group, matrix: Ids) -> None:
        self.machine = group.machines.astype(np.int64)
        self.index = local_index(group.machines)
        self.members = np.bincount(self.machine)[self.machine]
        self.src, self.dst = np.nonzero(matrix * ~np.eye(group.size, dtype=np.bool_))
        self.block = self.src * group.size + self.dst
        self.size_bytes = matrix.ravel()[self.block]
        by_machine = np.argsort(self.machine, kind="stable")
        first = np.searchsorted(self.machine[by_machine], self.machine[self.src])
        place = first + self.index[self.dst] % self.members[self.src]
        is_inside = self.machine[self.src] == self.machine[self.dst]
        self.relay = np.where(is_inside, self.dst, by_machine[place])

    @staticmethod
    def turn(own: Ids, other: Ids, count: Ids) -> Ids:
        """At which turn ``other`` is served, of ``count``, where own + 1 is the first."""
        return (other - own - 1) % count

    def order_between(self) -> tuple[Ids, ...]:
        """Messages between machines by relay, then machine, its own + 1 first, then receiver."""
        turn = self.turn(self.machine[self.relay], self.machine[self.dst], self.machine.max() + 1)
        return self.relay, turn, self.index[self.dst]


def _send(
    build: ScheduleBuilder,
    ways: _Ways,
    which: Ids,
    src: Ids,
    dst: Ids,
    order: tuple[Ids, ...],
    after: Ids | None = None,
    *,
    phase: str | None,
) -> tuple[Ids, Ids]:
    """Send entries ``which``, those of equal ``order`` in one message, in that order, after what any of them waits for.

    Returns
    -------
    The messages' numbers, and for each of ``which`` the index of its message among them.
    """
    keys = np.stack([key[which] for key in order], axis=1)
    _, first, message = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    message = message.ravel()
    count = len(first)
    sizes = np.zeros(count, dtype=np.int64)
    np.add.at(sizes, message, ways.size_bytes[which])
    waits = [] if after is None else [Dep(_distinct(rows_by_rank(message, after[which], count)))]
    src, dst = src[which[first]], dst[which[first]]
    blocks = rows_by_rank(message, ways.block[which], count)
    sent = post(build, src, dst, sizes, blocks, waits, phase=phase, is_limited=True)
    return sent, message


def _distinct(rows: Ids) -> Ids:
    """Each row's numbers once, -1 in place of the others."""
    rows = np.sort(rows, axis=1)
    rows[:, 1:][rows[:, 1:] == rows[:, :-1]] = -1
    return rows
