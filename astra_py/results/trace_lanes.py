# SPDX-License-Identifier: GPL-2.0-only
"""Lanes: intervals that overlap, put side by side, so that none on a track of a timeline cuts into another."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from astra_py.results.intervals import IntervalSet

__all__ = ["gaps", "lanes"]


def lanes(start: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.int64]:
    """The lane of each interval: as few as possible, and in the lowest that is free when it starts.

    An interval may start when the one before it ends. One without length needs its lane at its moment alone.

    Parameters
    ----------
    start, end : i64[n], in any order, no end before its start.

    Returns
    -------
    i64[n], from 0.
    """
    found = np.zeros(len(start), dtype=np.int64)
    busy: list[tuple[int, int]] = []
    free: list[int] = []
    # of equal starts the shorter first, so that what has no length does not push aside what begins there
    for i in np.lexsort((end, start)).tolist():
        while busy and busy[0][0] <= start[i]:
            heappush(free, heappop(busy)[1])
        lane = heappop(free) if free else len(busy)
        heappush(busy, (int(end[i]), lane))
        found[i] = lane
    return found


def gaps(covered: IntervalSet, low: int, high: int) -> Iterator[tuple[int, int]]:
    """The intervals between two moments that a set does not cover, in order."""
    long = covered.start < covered.end
    for start, end in zip(covered.start[long].tolist(), covered.end[long].tolist(), strict=True):
        if low < min(start, high):
            yield low, min(start, high)
        low = max(low, end)
    if low < high:
        yield low, high
