# SPDX-License-Identifier: GPL-2.0-only
"""All-reduce algorithms."""

from __future__ import annotations

import numpy as np

from astra_py.collectives.builder import ScheduleBuilder
from astra_py.collectives.machines import members_by_machine
from astra_py.collectives.partition import segment_bytes
from astra_py.collectives.patterns import (
    Teams,
    direct_all_reduce,
    direct_gather,
    direct_scatter,
    ring_all_reduce,
    ring_steps,
)
from astra_py.collectives.registry import Group, collective

__all__ = ["direct", "hierarchical", "ring"]


@collective("all_reduce", name="ring")
def ring(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
    """Reduce-scatter, then all-gather, round one ring: 2(n - 1) steps, each rank to the next one (Patarasuk 2009).

    In step k rank r sends segment (r - k) mod n, which is what it received in step k - 1, so that a send waits for the
    previous receive and, in the first half, for its reduction.
    """
    ring_all_reduce(build, Teams.whole_group(group.size, size_bytes), scatter="reduce_scatter", gather="all_gather")


@collective("all_reduce", name="direct")
def direct(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
    """Two steps: every rank gets its segment from all others and adds them up, then sends the sum to all."""
    direct_all_reduce(build, Teams.whole_group(group.size, size_bytes), scatter="reduce_scatter", gather="all_gather")


@collective("all_reduce", name="hierarchical")
def hierarchical(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
    """Reduce-scatter inside each machine, all-reduce of its segments along the rails, all-gather inside.

    With N machines of L members, rank l of each machine gets segment l of L, all-reduces it with the ranks l of the
    other machines in N parts, and gathers what the others of its machine have got. Of M bytes a rank sends 2(L - 1)/L M
    inside and 2(N - 1)/(N L) M between machines. Each level is ``"ring"`` or ``"direct"``, by
    ``SystemModel.all_reduce_inside`` and ``all_reduce_between``.

    Raises
    ------
    ConfigError : the machines have unequal numbers of members.
    """
    members = members_by_machine(group, "all_reduce algorithm 'hierarchical'")
    machines, local = members.shape
    blocks = np.arange(group.size).reshape(local, machines)
    part_bytes = segment_bytes(size_bytes, group.size).reshape(local, machines)
    inside = Teams(
        members,
        np.broadcast_to(part_bytes.sum(axis=1), members.shape),
        np.broadcast_to(blocks, (machines, local, machines)),
    )
    rails = Teams(members.T, part_bytes, blocks[..., np.newaxis])
    is_ring = build.system.all_reduce_inside == "ring"
    if local > 1:
        if is_ring:
            ring_steps(build, inside, range(1, local), None, is_reducing=True, phase="reduce_scatter inside")
        else:
            direct_scatter(build, inside, phase="reduce_scatter inside")
    if machines > 1:
        build.begin_phase("all_reduce between")
        all_reduce = ring_all_reduce if build.system.all_reduce_between == "ring" else direct_all_reduce
        all_reduce(build, rails, scatter=None, gather=None)
    if local > 1:
        build.begin_phase("all_gather inside")
        if is_ring:
            ring_steps(build, inside, range(local - 1), None, is_reducing=False, phase=None)
        else:
            direct_gather(build, inside, None, phase=None)
