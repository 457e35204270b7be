# SPDX-License-Identifier: GPL-2.0-only
"""How a buffer is cut among ranks, by the one rule that all algorithms and checks share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["chunk_payloads", "equal_matrix", "segment_bytes"]


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


def chunk_payloads(payload: int | NDArray[np.int64], chunks: int, ranks: int) -> list[int] | list[NDArray[np.int64]]:
    """Sizes or byte matrices of the chunks of a collective, those without any byte left out but the first.

    Each rank's segment of the buffer, and each entry of a matrix, is cut by :func:`segment_bytes`, so that a rank's
    segments of all chunks are together its segment of the whole; what is left over beside equal segments is in the
    first chunk.
    """
    if isinstance(payload, int):
        segment, left_over = divmod(payload, ranks)
        sizes = [ranks * int(part) for part in segment_bytes(segment, min(chunks, max(segment, 1)))]
        return [sizes[0] + left_over, *sizes[1:]]
    used = min(chunks, max(int(payload.max(initial=0)), 1))
    floor, larger = np.divmod(payload, used)
    return [floor + (chunk < larger) for chunk in range(used)]
