# SPDX-License-Identifier: GPL-2.0-only
"""Phases of chunks, the sections of a template, and which of them have to be done before one begins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Section", "Sections", "rows_by_rank"]

Ids = NDArray[np.int64]


@dataclass
class Section:
    """One phase of one chunk: the operations of some batches, one batch a call of the builder.

    Attributes
    ----------
    first_op : number of its first operation.
    first_batch, last_batch : its batches are ``first_batch`` to ``last_batch - 1``.
    """

    first_op: int
    first_batch: int
    last_batch: int = -1


class Sections:
    """The sections of a template in the making.

    Phase p of chunk c begins after phase p - 1 of chunk c and phase p of chunk c - 1.
    """

    def __init__(self) -> None:
        self._chunk_before: list[Section] = []
        self._chunk = [Section(0, 0)]

    def begin_chunk(self, ops: int, batches: int) -> list[Section]:
        """Open the first section of the next chunk after ``ops`` operations in ``batches``; returns what it follows."""
        self._chunk[-1].last_batch = batches
        self._chunk_before, self._chunk = self._chunk, [Section(ops, batches)]
        return self._chunk_before[:1]

    def begin_phase(self, ops: int, batches: int) -> list[Section]:
        """Open the chunk's next section after ``ops`` operations in ``batches``; returns what it follows."""
        before = self._chunk[-1]
        before.last_batch = batches
        phase = len(self._chunk)
        self._chunk.append(Section(ops, batches))
        return [before, *self._chunk_before[phase : phase + 1]]


def rows_by_rank(rank: Ids, ids: Ids, ranks: int) -> Ids:
    """``ids`` in a row for each rank, i64[ranks, k] with k the most of any rank; -1 where a rank has fewer."""
    order = np.argsort(rank, kind="stable")
    count = np.bincount(rank, minlength=ranks)
    place = np.arange(len(rank)) - np.repeat(np.cumsum(count) - count, count)
    rows = np.full((ranks, int(count.max(initial=0))), -1, dtype=np.int64)
    rows[rank[order], place] = ids[order]
    return rows
