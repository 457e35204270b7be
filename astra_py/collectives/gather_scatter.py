# SPDX-License-Identifier: GPL-2.0-only
"""Gather and scatter: segment i of the whole array from member i to member 0, or from member 0 to member i."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.builder import Dep, ScheduleBuilder
from astra_py.collectives.partition import segment_bytes
from astra_py.collectives.patterns import post
from astra_py.collectives.registry import Group, collective
from astra_py.collectives.schedule import EdgeOn

__all__ = ["gather_direct", "gather_ring", "gather_tree", "scatter_direct", "scatter_ring", "scatter_tree"]

Ids = NDArray[np.int64]


@collective("gather", name="tree")
def gather_tree(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
    """Up a binomial tree: in step k every second of the members left sends all it has to the one 2^k before it."""
    n, segment = group.size, segment_bytes(size_bytes, group.size)
    received = np.full((n, _steps(n)), -1, dtype=np.int64)
    for bit in range(_steps(n)):
        src = np.arange(1 << bit, n, 2 << bit)
        blocks, sizes = _below(src, bit, segment)
        received[src - (1 << bit), bit] = post(build, src, src - (1 << bit), sizes, blocks, [Dep(received[src])])


@collective("scatter", name="tree")
def scatter_tree(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
    """Down the binomial tree of a gather: a member hands on half of what it has, and then half of the rest."""
    n, segment = group.size, segment_bytes(size_bytes, group.size)
    received, sent = np.full(n, -1, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    for bit in reversed(range(_steps(n))):
        dst = np.arange(1 << bit, n, 2 << bit)
        blocks, sizes = _below(dst, bit, segment)
        src = dst - (1 << bit)
        after = [Dep(received[src][:, np.newaxis]), Dep(sent[src][:, np.newaxis], on=EdgeOn.SENT)]
        received[dst] = sent[src] = post(build, src, dst, sizes, blocks, after)


@collective("gather", name="ring")
def gather_ring(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
    """Each member sends its segment to the one before it, and passes on those that come, one after another."""
    n, segment = group.size, segment_bytes(size_bytes, group.size)
    sent = np.full(n, -1, dtype=np.int64)
    for step in range(n - 1):
        block = np.arange(step + 1, n)
        src = block - step
        sent[block] = post(build, src, src - 1, segment[block], block[:, np.newaxis], [Dep(sent[block][:, np.newaxis])])


@collective("scatter", name="ring")
def scatter_ring(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
    """Member 0 sends the segments to the next one, the farthest first, and each passes on what is not its own."""
    n, segment = group.size, segment_bytes(size_bytes, group.size)
    sent = np.full(n, -1, dtype=np.int64)
    for step in range(n - 1):
        block = np.arange(n - 1, step, -1)
        src = np.full(len(block), step)
        sent[block] = post(build, src, src + 1, segment[block], block[:, np.newaxis], [Dep(sent[block][:, np.newaxis])])


@collective("gather", name="direct")
def gather_direct(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
    """All others send their segment to member 0 at once."""
    segment, src = segment_bytes(size_bytes, group.size)[1:], np.arange(1, group.size)
    post(build, src, np.zeros_like(src), segment, src[:, np.newaxis], is_limited=True)


@collective("scatter", name="direct")
def scatter_direct(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
    """Member 0 sends each other member its segment, all posted at once."""
    segment, dst = segment_bytes(size_bytes, group.size)[1:], np.arange(1, group.size)
    post(build, np.zeros_like(dst), dst, segment, dst[:, np.newaxis], is_limited=True)


def _steps(ranks: int) -> int:
    """Steps of a binomial tree."""
    return (ranks - 1).bit_length()


def _below(rank: Ids, bit: int, segment: Ids) -> tuple[Ids, Ids]:
    """Segments of the up to 2^bit members from each rank on, -1 for none, and their bytes together."""
    blocks = rank[:, np.newaxis] + np.arange(1 << bit)
    sizes = np.where(blocks < len(segment), segment[np.minimum(blocks, len(segment) - 1)], 0)
    return np.where(sizes > 0, blocks, -1), sizes.sum(axis=1)
