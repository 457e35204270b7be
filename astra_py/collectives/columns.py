# SPDX-License-Identifier: GPL-2.0-only
"""Columns that grow by whole batches, kept as narrow as the template's own so that a million messages stay small."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.references import Ids

__all__ = ["Rows", "joined"]


@dataclass
class Rows:
    """Compressed rows: per row a count, per entry a number and a moment.

    ``counts`` has for each batch its rows' counts, or the one count and the number of rows.
    """

    counts: list[NDArray[np.int32] | tuple[int, int]] = field(default_factory=list)
    numbers: list[NDArray[np.int32]] = field(default_factory=list)
    moments: list[NDArray[np.uint8]] = field(default_factory=list)

    def append(self, numbers: Ids, moments: Ids) -> None:
        """Add a batch of rows; ``numbers`` is [n, k] with -1 where a row has fewer, ``moments`` broadcasts to it."""
        n, k = numbers.shape
        if k == 0 or n == 0:
            self.counts.append((0, n))
            return
        narrow, moment = numbers.astype(np.int32), moments.astype(np.uint8)
        if int(narrow.min()) >= 0:
            self.counts.append((k, n))
            self.numbers.append(narrow.ravel())
            self.moments.append(np.tile(moment, n))
            return
        is_used = narrow != -1
        self.counts.append(is_used.sum(axis=1, dtype=np.int32))
        self.numbers.append(narrow[is_used])
        self.moments.append(np.broadcast_to(moment, (n, k))[is_used])

    def joined(self) -> tuple[Ids, NDArray[np.int32], NDArray[np.uint8]]:
        """Row pointers, numbers and moments."""
        rows = [part[1] if isinstance(part, tuple) else part.size for part in self.counts]
        ptr = np.zeros(sum(rows) + 1, dtype=np.int64)
        at = 1
        for part, count in zip(self.counts, rows, strict=True):
            ptr[at : at + count] = part[0] if isinstance(part, tuple) else part
            at += count
        np.cumsum(ptr, out=ptr)
        return ptr, joined(self.numbers, np.int32), joined(self.moments, np.uint8)


def joined(parts: list[Any], dtype: Any) -> NDArray[Any]:
    """All parts in one column of ``dtype``, which takes their place: nothing is held twice."""
    column = np.empty(sum(part.size for part in parts), dtype=dtype)
    at = 0
    for i, part in enumerate(parts):
        column[at : at + part.size] = part.ravel()
        at += part.size
        parts[i] = None
    parts[:] = [column]
    return column
