# SPDX-License-Identifier: GPL-2.0-only
"""Barrier: nobody ends before everybody has begun."""

from __future__ import annotations

import numpy as np

from astra_py.collectives.builder import ScheduleBuilder
from astra_py.collectives.registry import Group, collective

__all__ = ["dissemination"]


@collective("barrier", name="dissemination")
def dissemination(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
    """In step k each member tells the one 2^k further, by a message of 0 bytes, of all it knows to have come.

    Hensgen, Finkel and Manber, "Two Algorithms for Barrier Synchronization", 1988: ceil(log2 n) steps for any n.
    """
    n, rank = group.size, np.arange(group.size)
    received = np.empty((n, 0), dtype=np.int64)
    for bit in range((n - 1).bit_length()):
        distance = 1 << bit
        news = (rank[:, np.newaxis] - np.arange(min(distance, n - distance))) % n
        sent = build.send(rank, (rank + distance) % n, 0, received, blocks=news)
        received = np.column_stack([received, np.roll(sent, distance)])
