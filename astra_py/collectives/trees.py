# SPDX-License-Identifier: GPL-2.0-only
"""Trees over the members of a group, as arrays of parents, and how a buffer goes up and down them in pieces."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.builder import ScheduleBuilder
from astra_py.collectives.partition import segment_bytes
from astra_py.collectives.schedule import Combine

__all__ = ["Tree", "binomial_parents", "chain_parents", "double_tree_parents", "star_parents"]

Ids = NDArray[np.int64]


def binomial_parents(ranks: int) -> Ids:
    """i64[ranks], the binomial tree of rank 0: a rank's parent is the rank without its lowest bit; -1 of the root."""
    rank = np.arange(ranks)
    parent = rank & (rank - 1)
    parent[0] = -1
    return parent


def chain_parents(ranks: int) -> Ids:
    """i64[ranks], the tree in which every rank has one child, the next one."""
    return np.arange(-1, ranks - 1)


def star_parents(ranks: int) -> Ids:
    """i64[ranks], the tree in which all are children of rank 0."""
    parent = np.zeros(ranks, dtype=np.int64)
    parent[0] = -1
    return parent


def double_tree_parents(ranks: int) -> tuple[Ids, Ids]:
    """Two binary trees over all ranks; who has two children in one has none in the other (Sanders and others, 2009).

    The first is the tree in order of numbers, with rank 0 above its root: at height h are the multiples of 2^h that are
    none of 2^(h + 1). In the second the numbers are mirrored, or, for an odd number of ranks, shifted by one.

    Returns
    -------
    i64[ranks] each, the parent of every rank; -1 of the root.
    """
    rank = np.arange(ranks)
    lowest = rank & -rank
    above = (rank ^ lowest) | (lowest << 1)
    first = np.where(above < ranks, above, rank ^ lowest)
    first[0] = -1
    if ranks % 2:
        second = np.where(np.roll(first, 1) >= 0, (np.roll(first, 1) + 1) % ranks, -1)
    else:
        second = np.where(first[::-1] >= 0, ranks - 1 - first[::-1], -1)
    return first, second


class Tree:
    """A tree whose edges carry a buffer in pieces: piece c is passed on as soon as it is there.

    Parameters
    ----------
    parent : i64[n], -1 of the root.
    size_bytes : i64[c], bytes of each piece; pieces of 0 bytes are not sent.
    blocks : i64[c], their blocks.
    """

    def __init__(self, build: ScheduleBuilder, parent: Ids, size_bytes: Ids, blocks: Ids) -> None:
        self._build = build
        self._parent = parent
        is_used = size_bytes > 0
        self._size_bytes, self._blocks = size_bytes[is_used], blocks[is_used]
        self._levels = _levels(parent)

    def reduce(self, phase: str | None) -> Ids:
        """Every rank sends each piece to its parent once it has added what its children sent.

        Returns
        -------
        i64[c, k], what the root waits for before using each piece.
        """
        pieces = len(self._size_bytes)
        children = int(np.bincount(self._parent[self._parent >= 0], minlength=1).max())
        arrived = np.full((len(self._parent), pieces, children), -1, dtype=np.int64)
        count = np.zeros(len(self._parent), dtype=np.int64)
        for level in reversed(self._levels):
            sent = self._pass(level, self._parent[level], arrived[level], Combine.ADD, phase)
            for parent, ids in zip(self._parent[level].tolist(), sent, strict=True):
                arrived[parent, :, count[parent]] = self._build.reduce(parent, self._size_bytes, ids, phase=phase)
                count[parent] += 1
        at_root: Ids = arrived[int(np.flatnonzero(self._parent < 0)[0])]
        return at_root

    def broadcast(self, ready: Ids | None, phase: str | None) -> None:
        """The root sends each piece to its children once ``ready`` [c, k] is done, and they to theirs."""
        pieces = len(self._size_bytes)
        arrived: dict[int, Ids] = {int(np.flatnonzero(self._parent < 0)[0]): np.empty((pieces, 0), dtype=np.int64)}
        if ready is not None:
            arrived = dict.fromkeys(arrived, ready)
        for level in self._levels:
            after = np.stack([arrived[parent] for parent in self._parent[level].tolist()])
            sent = self._pass(self._parent[level], level, after, Combine.KEEP, phase)
            arrived.update(zip(level.tolist(), sent[..., np.newaxis], strict=True))

    def _pass(self, src: Ids, dst: Ids, after: Ids, combine: Combine, phase: str | None) -> Ids:
        """All pieces along some edges; ``after`` is i64[edges, c, k]. Returns i64[edges, c]."""
        edges, pieces = len(src), len(self._size_bytes)
        sent = self._build.send(
            np.tile(src, pieces),
            np.tile(dst, pieces),
            np.repeat(self._size_bytes, edges),
            after.transpose(1, 0, 2).reshape(edges * pieces, after.shape[2]),
            phase=phase,
            blocks=np.repeat(self._blocks, edges),
            combine=combine,
        )
        return sent.reshape(pieces, edges).T


def _levels(parent: Ids) -> list[Ids]:
    """The ranks at each depth below the root."""
    levels, depth = [], np.flatnonzero(parent < 0)
    while len(depth := np.flatnonzero(np.isin(parent, depth) & (parent >= 0))):
        levels.append(depth)
    return levels


def pieces_of(size_bytes: int, piece_bytes: int, multiple: int = 1) -> Ids:
    """Bytes of the equal pieces of a buffer, i64[c]: of at most ``piece_bytes``, a multiple of so many of them."""
    count = multiple * max(-(-size_bytes // (multiple * piece_bytes)), 1)
    return segment_bytes(size_bytes, count)
