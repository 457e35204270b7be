# SPDX-License-Identifier: GPL-2.0-only
"""Sets of moments: the union of intervals, and how much of a window it covers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["IntervalSet"]


class IntervalSet:
    """A union of half-open intervals ``[start, end)`` of integer picoseconds.

    Parameters
    ----------
    start, end : i64[n], in any order, overlapping or not; empty intervals add nothing.
    """

    def __init__(self, start: NDArray[np.int64], end: NDArray[np.int64]) -> None:
        order = np.argsort(start, kind="stable")
        start, end = start[order], end[order]
        reach = np.maximum.accumulate(end) if len(end) else end
        # an interval opens a new piece where it starts beyond all that came before it
        opens = np.ones(len(start), dtype=bool)
        opens[1:] = start[1:] > reach[:-1]
        first = np.flatnonzero(opens)
        self.start = start[first]
        self.end = reach[np.append(first[1:], len(reach)) - 1] if len(first) else end
        self._before = np.concatenate([[0], np.cumsum(self.end - self.start)]).astype(np.int64)

    def __or__(self, other: IntervalSet) -> IntervalSet:
        return IntervalSet(np.concatenate([self.start, other.start]), np.concatenate([self.end, other.end]))

    @property
    def length(self) -> int:
        """How long the set is, in ps."""
        return int(self._before[-1])

    def covered_before(self, moment: NDArray[np.int64]) -> NDArray[np.int64]:
        """How much of the set lies before each ``moment``; i64 of its shape."""
        moment = np.asarray(moment, dtype=np.int64)
        if not len(self.start):
            return np.zeros_like(moment)
        piece = np.searchsorted(self.start, moment, side="right") - 1
        inside = np.minimum(moment, self.end[piece]) - self.start[piece]
        return np.where(piece < 0, 0, self._before[piece] + inside)

    def covered(self, low: NDArray[np.int64], high: NDArray[np.int64]) -> NDArray[np.int64]:
        """How much of each window ``[low, high)`` the set covers, in ps."""
        return self.covered_before(high) - self.covered_before(low)
