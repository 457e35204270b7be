# SPDX-License-Identifier: GPL-2.0-only
"""Broadcast and reduce: one buffer from member 0 to all members, or the sum of all members' buffers to member 0."""

from __future__ import annotations

import numpy as np

from astra_py.collectives.builder import Dep, ScheduleBuilder
from astra_py.collectives.patterns import post
from astra_py.collectives.registry import Group, collective
from astra_py.collectives.schedule import Combine, EdgeOn
from astra_py.collectives.trees import Tree, binomial_parents, chain_parents, pieces_of

__all__ = [
    "broadcast_direct",
    "broadcast_ring",
    "broadcast_tree",
    "reduce_direct",
    "reduce_ring",
    "reduce_tree",
]


def _in_pieces(build: ScheduleBuilder, parent: np.ndarray, size_bytes: int, piece_bytes: int) -> Tree:
    pieces = pieces_of(size_bytes, piece_bytes)
    return Tree(build, parent, pieces, np.arange(len(pieces)))


@collective("broadcast", name="tree")
def broadcast_tree(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
    """Down a binomial tree: whoever has the buffer sends it to one after another, those with most to serve first."""
    n = group.size
    received, sent = np.full(n, -1, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    for bit in reversed(range((n - 1).bit_length())):
        dst = np.arange(1 << bit, n, 2 << bit)
        src = dst - (1 << bit)
        after = [Dep(received[src][:, np.newaxis]), Dep(sent[src][:, np.newaxis], on=EdgeOn.SENT)]
        sizes, blocks = np.full(len(dst), size_bytes), np.zeros((len(dst), 1), dtype=np.int64)
        received[dst] = sent[src] = post(build, src, dst, sizes, blocks, after)


@collective("broadcast", name="ring")
def broadcast_ring(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
    """From member to member, in pieces of ``SystemModel.piece_bytes`` that are passed on as they come."""
    _in_pieces(build, chain_parents(group.size), size_bytes, build.system.piece_bytes).broadcast(None, None)


@collective("broadcast", name="direct")
def broadcast_direct(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
    """Member 0 sends the whole buffer to each other member, all posted at once."""
    others = np.arange(1, group.size)
    sizes = np.full(len(others), size_bytes)
    post(build, np.zeros(1, dtype=np.int64), others, sizes, np.zeros((len(others), 1), dtype=np.int64), is_limited=True)


@collective("reduce", name="tree")
def reduce_tree(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
    """Up the binomial tree of a broadcast: a member that has the sums of all its children adds them and sends it on."""
    _in_pieces(build, binomial_parents(group.size), size_bytes, max(size_bytes, 1)).reduce(None)


@collective("reduce", name="ring")
def reduce_ring(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
    """From the last member to member 0 in pieces, to each of which every member on the way adds its own."""
    _in_pieces(build, chain_parents(group.size), size_bytes, build.system.piece_bytes).reduce(None)


@collective("reduce", name="direct")
def reduce_direct(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
    """All others send their whole buffer to member 0 at once, which adds up what comes."""
    others = np.arange(1, group.size)
    sizes, root = np.full(len(others), size_bytes), np.zeros(len(others), dtype=np.int64)
    sent = post(build, others, root, sizes, root[:, np.newaxis], combine=Combine.ADD, is_limited=True)
    if size_bytes:
        build.reduce(root, sizes, sent)
