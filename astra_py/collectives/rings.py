# SPDX-License-Identifier: GPL-2.0-only
"""Orders of members round rings: one ring, several that leave machines at different members, and rings along rails."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.machines import members_by_machine
from astra_py.collectives.partition import segment_bytes
from astra_py.collectives.patterns import Teams
from astra_py.collectives.registry import Group

__all__ = ["rail_orders", "ring_orders", "teams_of_rings"]

Ids = NDArray[np.int64]


def ring_orders(group: Group, rings: int) -> Ids:
    """i64[rings, n], the members in the order of each ring.

    One ring goes in group order. Of several each goes from machine to machine, through the members of a machine in an
    order that begins elsewhere, so that another member's NIC carries what comes and goes.
    """
    if rings == 1:
        return np.arange(group.size)[np.newaxis]
    by_machine = np.argsort(group.machines, kind="stable")
    count = np.bincount(group.machines)
    first = np.repeat(np.cumsum(count) - count, count)
    local, size = np.arange(group.size) - first, np.repeat(count, count)
    turn = np.arange(rings)[:, np.newaxis] * size // rings
    orders: Ids = by_machine[first + (local + turn) % size]
    return orders


def rail_orders(group: Group, what: str) -> Ids:
    """i64[L, n], a ring for each of the L members of a machine, which goes between machines along that rail only.

    Machines are passed in turns from member l on upwards and, the next one, down to it again: where a ring leaves a
    machine at member l - 1, it enters the following one there. Of an odd number of machines, the last and the first are
    joined from rail to rail.

    Raises
    ------
    ConfigError : the machines have unequal numbers of members; ``what`` is the algorithm.
    """
    members = members_by_machine(group, what)
    machines, local = members.shape
    rail, place = np.arange(local)[:, np.newaxis, np.newaxis], np.arange(local)
    is_down = np.arange(machines)[:, np.newaxis] % 2 == 1
    index = np.where(is_down, rail + local - 1 - place, rail + place) % local
    orders: Ids = members[np.arange(machines)[:, np.newaxis], index].reshape(local, -1)
    return orders


def teams_of_rings(orders: Ids, size_bytes: int, *, is_by_owner: bool) -> Teams:
    """A team for each ring, whose members are in its order; each works on an equal share of the buffer.

    With ``is_by_owner`` the segments are those of the members, each cut among the rings (block k n + i: ring k's part
    of member i's segment); without it the buffer is cut among the rings and each share among their members.
    """
    rings, n = orders.shape
    blocks = np.arange(rings * n).reshape(rings, n)
    if not is_by_owner:
        return Teams(orders, segment_bytes(size_bytes, rings * n).reshape(rings, n), blocks[..., np.newaxis])
    ring = np.arange(rings)[:, np.newaxis]
    floor, larger = np.divmod(segment_bytes(size_bytes, n)[orders], rings)
    return Teams(orders, floor + (ring < larger), (ring * n + orders)[..., np.newaxis])
