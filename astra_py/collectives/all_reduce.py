# SPDX-License-Identifier: GPL-2.0-only
"""All-reduce algorithms."""

from __future__ import annotations

import numpy as np

from astra_py.collectives.builder import After, ScheduleBuilder
from astra_py.collectives.partition import segment_bytes
from astra_py.collectives.registry import Group, collective

__all__ = ["ring"]


@collective("all_reduce", name="ring")
def ring(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
    """Reduce-scatter, then all-gather, round one ring: 2(n - 1) steps, each rank to the next one (Patarasuk 2009).

    In step k rank r sends segment (r - k) mod n, which is what it received in step k - 1, so that a send waits for the
    previous receive and, in the first half, for its reduction. A segment travels by itself: one of 0 bytes (a buffer of
    fewer bytes than ranks) is not sent at all, which changes no other segment's way.
    """
    n = group.size
    ranks = np.arange(n)
    sizes = segment_bytes(size_bytes, n)
    ready: After = None
    for step in range(2 * (n - 1)):
        is_reducing = step < n - 1
        segment = (ranks - step) % n
        senders = ranks[sizes[segment] > 0]
        segment = segment[senders]
        sent = build.send(
            senders,
            (senders + 1) % n,
            sizes[segment],
            ready,
            phase=0 if is_reducing else 1,
            chunk=segment,
            blocks=segment,
            combine=is_reducing,
        )
        # The next step's senders are this step's receivers in order of rank, which is this order moved on by one.
        order = np.argsort((senders + 1) % n)
        received = sent[order]
        ready = received
        if is_reducing:
            ready = build.reduce(((senders + 1) % n)[order], sizes[segment][order], received, chunk=segment[order])
