# SPDX-License-Identifier: GPL-2.0-only
"""How a buffer is cut among ranks, by the one rule that all algorithms and checks share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["equal_matrix", "segment_bytes"]


def segment_bytes(size_bytes: int, parts: int) -> NDArray[np.int64]:
    """Sizes in bytes of a buffer's ``parts`` segments, i64[parts]: floor or ceil of size / parts, the larger first.

    A buffer of fewer bytes than parts leaves segments of 0 bytes at the end.
    """
    floor, larger = divmod(size_bytes, parts)
    return floor + (np.arange(parts) < larger).astype(np.int64)


def equal_matrix(size_bytes: int, ranks: int) -> NDArray[np.int64]:
    """Byte matrix i64[ranks, ranks] of an all-to-all of equal parts, row = sender.

    Every rank cuts its buffer by :func:`segment_bytes`; part d goes to rank d, and the own part stays.
    """
    return np.tile(segment_bytes(size_bytes, ranks), (ranks, 1))
