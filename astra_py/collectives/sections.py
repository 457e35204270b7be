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

    Phase p of chunk c begins after phase p - 1 of chunk c and phase p of chunk c - k, of k active chunks. The
    alternatives of a chunk have phases of their own; the next chunk follows those of all, of which only the picked ones
    will be there.

    Parameters
    ----------
    active : chunks that may be in a phase at a time, k.
    """

    def __init__(self, active: int = 1) -> None:
        self._active = active
        self._past: list[list[list[Section]]] = []
        self._chunk_before: list[list[Section]] = []
        self._chunk = [[Section(0, 0)]]
        self._phase = 0

    def begin_chunk(self, ops: int, batches: int, *, is_waiting: bool) -> list[Section]:
        """Open the first section of the next chunk after ``ops`` operations in ``batches``; returns what it follows.

        A chunk that is not waiting, or one of the first that are active, follows nothing, in none of its phases.
        """
        self._close(batches)
        self._past.append(self._chunk)
        is_following = is_waiting and len(self._past) >= self._active
        self._chunk_before, self._chunk = self._past[-self._active] if is_following else [], [[Section(ops, batches)]]
        self._phase = 0
        return self._chunk_before[0] if is_following else []

    def begin_alternative(self, ops: int, batches: int) -> None:
        """Open a section beside the chunk's first one, after ``ops`` operations in ``batches``; it follows the same."""
        self._close(batches)
        self._phase = 0
        self._chunk[0].append(Section(ops, batches))

    def begin_phase(self, ops: int, batches: int) -> list[Section]:
        """Open the chunk's next section after ``ops`` operations in ``batches``; returns what it follows."""
        before = self._close(batches)
        self._phase += 1
        if self._phase == len(self._chunk):
            self._chunk.append([])
        self._chunk[self._phase].append(Section(ops, batches))
        of_chunk_before = self._chunk_before[self._phase] if self._phase < len(self._chunk_before) else []
        return [before, *of_chunk_before]

    def _close(self, batches: int) -> Section:
        """Close the section that is open."""
        section = self._chunk[self._phase][-1]
        section.last_batch = batches
        return section


def rows_by_rank(rank: Ids, ids: Ids, ranks: int) -> Ids:
    """``ids`` in a row for each rank, i64[ranks, k] with k the most of any rank; -1 where a rank has fewer."""
    order = np.argsort(rank, kind="stable")
    count = np.bincount(rank, minlength=ranks)
    place = np.arange(len(rank)) - np.repeat(np.cumsum(count) - count, count)
    rows = np.full((ranks, int(count.max(initial=0))), -1, dtype=np.int64)
    rows[rank[order], place] = ids[order]
    return rows
