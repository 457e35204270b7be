# SPDX-License-Identifier: GPL-2.0-only
"""All-to-all algorithms among all members alike, for equal parts and any byte matrix; block s n + d is s's for d.

An entry of 0 bytes sends nothing, and the diagonal stays where it is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.builder import Dep, ScheduleBuilder
from astra_py.collectives.patterns import post
from astra_py.collectives.registry import Group, collective

__all__ = ["bruck", "direct", "ring"]

Ids = NDArray[np.int64]


@collective("all_to_all", name="direct")
@collective("all_to_all_v", name="direct")
def direct(build: ScheduleBuilder, group: Group, matrix: NDArray[np.int64]) -> None:
    """Every rank sends straight to every peer, in the order own + 1, own + 2, ..., all posted at once.

    With ``SystemModel.in_flight`` a rank has at most that many messages posted and not yet acknowledged.
    """
    n = group.size
    src = np.repeat(np.arange(n), n - 1)
    dst = (src + np.tile(np.arange(1, n), n)) % n
    block = src * n + dst
    post(build, src, dst, matrix.ravel()[block], block[:, np.newaxis], is_limited=True)


@collective("all_to_all", name="ring")
@collective("all_to_all_v", name="ring")
def ring(build: ScheduleBuilder, group: Group, matrix: NDArray[np.int64]) -> None:
    """One way round a ring: in step k every rank passes on, in one message, all it got that has to go further.

    In step k, from 1 to n - 1, that is what the rank k - 1 before it has for those k and more after that one.
    """
    n, rank = group.size, np.arange(group.size)
    received = np.full((n, 1), -1, dtype=np.int64)
    for step in range(1, n):
        source = (rank - step + 1) % n
        blocks = source[:, np.newaxis] * n + (source[:, np.newaxis] + np.arange(step, n)) % n
        sizes, blocks = _without_empty(matrix, blocks)
        received = np.roll(post(build, rank, (rank + 1) % n, sizes, blocks, [Dep(received)]), 1)[:, np.newaxis]


@collective("all_to_all", name="bruck")
@collective("all_to_all_v", name="bruck")
def bruck(build: ScheduleBuilder, group: Group, matrix: NDArray[np.int64]) -> None:
    """ceil(log2 n) steps: in step k each rank sends to the one 2^k after it all whose way has bit k, in one message.

    Bruck, Ho, Kipnis, Upfal and Weathersby, "Efficient Algorithms for All-to-All Communications in Multiport
    Message-Passing Systems", 1997. What has to go d ranks on goes 2^k at each bit k of d, the lowest first.
    """
    n, rank = group.size, np.arange(group.size)[:, np.newaxis]
    received = np.empty((n, 0), dtype=np.int64)
    way = np.arange(1, n)
    for bit in range((n - 1).bit_length()):
        distance = 1 << bit
        due = way[(way & distance) > 0]
        source = (rank - (due & (distance - 1))) % n
        sizes, blocks = _without_empty(matrix, source * n + (source + due) % n)
        sent = post(build, rank[:, 0], (rank[:, 0] + distance) % n, sizes, blocks, [Dep(received)])
        received = np.column_stack([received, np.roll(sent, distance)])


def _without_empty(matrix: Ids, blocks: Ids) -> tuple[Ids, Ids]:
    """Bytes of each row of blocks together, and the blocks with -1 for those of 0 bytes."""
    block_bytes = matrix.ravel()[blocks]
    return block_bytes.sum(axis=1), np.where(block_bytes > 0, blocks, -1)
