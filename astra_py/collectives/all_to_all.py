# SPDX-License-Identifier: GPL-2.0-only
"""All-to-all algorithms, for equal parts and for any byte matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.builder import ScheduleBuilder
from astra_py.collectives.machines import members_by_machine
from astra_py.collectives.patterns import in_flight
from astra_py.collectives.registry import Group, collective

__all__ = ["direct", "hierarchical"]

Ids = NDArray[np.int64]


@collective("all_to_all", name="direct")
@collective("all_to_all_v", name="direct")
def direct(build: ScheduleBuilder, group: Group, matrix: NDArray[np.int64]) -> None:
    """Every rank sends straight to every peer, in the order own + 1, own + 2, ..., all posted at once.

    An entry of 0 bytes sends nothing, and the diagonal stays where it is. With ``SystemModel.in_flight`` a rank has at
    most that many messages posted and not yet acknowledged.
    """
    n = group.size
    src = np.repeat(np.arange(n), n - 1)
    dst = (src + np.tile(np.arange(1, n), n)) % n
    _exchange(build, matrix, src, dst, (src * n + dst)[:, np.newaxis], phase=None)


@collective("all_to_all", name="hierarchical")
@collective("all_to_all_v", name="hierarchical")
def hierarchical(build: ScheduleBuilder, group: Group, matrix: NDArray[np.int64]) -> None:
    """Inside each machine first, then along the rails between machines.

    With N machines of L members, rail l is the ranks l of all machines. Inside, a rank sends each local peer l all that
    it has for the members of rail l, its machine's own included. Then each rank sends every other member of its rail
    what its machine has for that member, one message to each. Of equal parts of M bytes a rank sends (L - 1)/L M inside
    and (N - 1)/N M between machines, in N - 1 messages. A message of 0 bytes is not sent.

    Raises
    ------
    ConfigError : the machines have unequal numbers of members.
    """
    members = members_by_machine(group, f"{build.collective} algorithm 'hierarchical'")
    machines, local = members.shape
    n = group.size
    machine, index = (axis.ravel() for axis in np.indices(members.shape))
    member = members.ravel()
    if local > 1:
        source, relay = _pairs(index, local)
        src = member[source]
        rail = members[:, relay].T
        _exchange(
            build,
            matrix,
            src,
            members[machine[source], relay],
            src[:, np.newaxis] * n + rail,
            phase="all_to_all inside",
        )
    if machines > 1:
        build.begin_phase("all_to_all between")
        source, target = _pairs(machine, machines)
        dst = members[target, index[source]]
        blocks = members[machine[source]] * n + dst[:, np.newaxis]
        _exchange(build, matrix, member[source], dst, blocks, phase=None)


def _pairs(place: Ids, size: int) -> tuple[Ids, Ids]:
    """For each rank the other places beside its own of ``size``, own + 1 first: (number of the rank, place)."""
    source = np.repeat(np.arange(len(place)), size - 1)
    return source, (place[source] + np.tile(np.arange(1, size), len(place))) % size


def _exchange(build: ScheduleBuilder, matrix: Ids, src: Ids, dst: Ids, blocks: Ids, *, phase: str | None) -> None:
    """Send each ``blocks`` [m, k] from ``src`` to ``dst`` in one message, unless they are of 0 bytes."""
    block_bytes = matrix.ravel()[blocks]
    size_bytes = block_bytes.sum(axis=1)
    is_sent = size_bytes > 0
    blocks = np.where(block_bytes > 0, blocks, -1)
    src = src[is_sent]
    build.send(src, dst[is_sent], size_bytes[is_sent], phase=phase, blocks=blocks[is_sent], pools=in_flight(build, src))
