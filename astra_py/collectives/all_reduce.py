# SPDX-License-Identifier: GPL-2.0-only
"""All-reduce algorithms that go among all members alike; for levels see :mod:`astra_py.collectives.hierarchical`."""

from __future__ import annotations

import numpy as np

from astra_py.collectives.builder import ScheduleBuilder
from astra_py.collectives.halving import doubling_all_reduce, halving_all_reduce, power_of_two
from astra_py.collectives.patterns import Teams, direct_all_reduce, ring_all_reduce
from astra_py.collectives.registry import Group, collective
from astra_py.collectives.rings import rail_orders, ring_orders, teams_of_rings
from astra_py.collectives.trees import Tree, double_tree_parents, pieces_of

__all__ = [
    "direct",
    "double_binary_tree",
    "halving_doubling",
    "rail",
    "recursive_doubling",
    "ring",
    "ring_bidirectional",
]


@collective("all_reduce", name="ring")
def ring(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
    """Reduce-scatter, then all-gather, round a ring: 2(n - 1) steps, each rank to the next one (Patarasuk 2009).

    In step k rank r sends segment (r - k) mod n, which is what it received in step k - 1, so that a send waits for the
    previous receive and, in the first half, for its reduction. With ``SystemModel.rings`` above 1 the buffer is parted
    among as many rings.
    """
    teams = teams_of_rings(ring_orders(group, build.system.rings), size_bytes, is_by_owner=False)
    ring_all_reduce(build, teams, scatter="reduce_scatter", gather="all_gather")


@collective("all_reduce", name="ring_bidirectional")
def ring_bidirectional(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
    """A ring for each half of the buffer, one in each direction: both directions of its links are in use."""
    orders = ring_orders(group, build.system.rings)
    teams = teams_of_rings(np.concatenate([orders, orders[:, ::-1]]), size_bytes, is_by_owner=False)
    ring_all_reduce(build, teams, scatter="reduce_scatter", gather="all_gather")


@collective("all_reduce", name="rail")
def rail(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
    """As many rings as a machine has members, each of which goes between machines along a rail of its own.

    Raises
    ------
    ConfigError : the machines have unequal numbers of members.
    """
    teams = teams_of_rings(rail_orders(group, "all_reduce algorithm 'rail'"), size_bytes, is_by_owner=False)
    ring_all_reduce(build, teams, scatter="reduce_scatter", gather="all_gather")


@collective("all_reduce", name="direct")
def direct(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
    """Two steps: every rank gets its segment from all others and adds them up, then sends the sum to all."""
    direct_all_reduce(build, Teams.whole_group(group.size, size_bytes), scatter="reduce_scatter", gather="all_gather")


@collective("all_reduce", name="halving_doubling")
def halving_doubling(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
    """Reduce-scatter by recursive halving, all-gather by recursive doubling, for any number of ranks (Rabenseifner)."""
    teams = Teams.whole_group(group.size, size_bytes, power_of_two(group.size))
    halving_all_reduce(build, teams, scatter="reduce_scatter", gather="all_gather")


@collective("all_reduce", name="recursive_doubling")
def recursive_doubling(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
    """Few steps and many bytes: in log2 n steps, whole buffers with the rank whose number differs in one bit."""
    doubling_all_reduce(build, Teams.whole_group(group.size, size_bytes, 1), phase=None)


@collective("all_reduce", name="double_binary_tree")
def double_binary_tree(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
    """Each half of the buffer goes up and down a binary tree of its own, in pieces of ``SystemModel.piece_bytes``.

    Who has two children in one tree has none in the other, so that no rank sends or receives more than twice the buffer
    (Sanders, Speck and Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan", 2009).
    """
    pieces = pieces_of(size_bytes, build.system.piece_bytes, multiple=2)
    for parent, part in zip(double_tree_parents(group.size), np.split(np.arange(len(pieces)), 2), strict=True):
        tree = Tree(build, parent, pieces[part], part)
        tree.broadcast(tree.reduce("reduce"), "broadcast")
