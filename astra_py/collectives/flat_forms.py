# SPDX-License-Identifier: GPL-2.0-only
"""Closed forms of rings and of direct exchanges."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from astra_py.collectives.closed_forms import ClosedForm, Column, Pairs, cut, form_of_pairs, register_closed_form


def _ring_pairs(sent: Column) -> Pairs:
    rank = np.arange(len(sent))
    return rank, np.roll(rank, -1), sent


def _direct_pairs(matrix: Column) -> Pairs:
    src, dst = np.nonzero(~np.eye(len(matrix), dtype=bool))
    return src, dst, matrix[src, dst]


def _ring_all_reduce_sent(ranks: int, size_bytes: int) -> Column:
    # Each half passes on all segments but one: rank r never sends segment r + 1 while reducing, nor r + 2 while
    # gathering.
    segment = cut(size_bytes, ranks)
    return 2 * size_bytes - np.roll(segment, -1) - np.roll(segment, -2)


def _bidirectional_pairs(ranks: int, size_bytes: int) -> Pairs:
    # The first n of 2 n segments go one way round, the others the other way, from the last rank down.
    rank, segment = np.arange(ranks), cut(size_bytes, 2 * ranks)
    sent = [2 * half.sum() - np.roll(half, -1) - np.roll(half, -2) for half in (segment[:ranks], segment[ranks:])]
    return (
        np.tile(rank, 2),
        np.concatenate([np.roll(rank, -1), np.roll(rank, 1)]),
        np.concatenate([sent[0], sent[1][::-1]]),
    )


def _ring_reduce_scatter_sent(ranks: int, size_bytes: int) -> Column:
    return size_bytes - cut(size_bytes, ranks)


def _ring_all_gather_sent(ranks: int, size_bytes: int) -> Column:
    # What the next rank has from the beginning is not sent to it.
    return size_bytes - np.roll(cut(size_bytes, ranks), -1)


def _direct_reduce_scatter_bytes(ranks: int, size_bytes: int) -> tuple[Column, Column]:
    segment = cut(size_bytes, ranks)
    return size_bytes - segment, (ranks - 1) * segment


def _direct_all_gather_bytes(ranks: int, size_bytes: int) -> tuple[Column, Column]:
    received, sent = _direct_reduce_scatter_bytes(ranks, size_bytes)
    return sent, received


def _direct_all_reduce_bytes(ranks: int, size_bytes: int) -> tuple[Column, Column]:
    sent = size_bytes + (ranks - 2) * cut(size_bytes, ranks)
    return sent, sent


def _matrix_bytes(ranks: int, matrix: Column) -> tuple[Column, Column]:
    own = np.diagonal(matrix)
    return matrix.sum(axis=1) - own, matrix.sum(axis=0) - own


def _sendrecv_bytes(ranks: int, size_bytes: int) -> tuple[Column, Column]:
    return np.array([size_bytes, 0], dtype=np.int64), np.array([0, size_bytes], dtype=np.int64)


def _sendrecv_pairs(ranks: int, size_bytes: int) -> Pairs:
    return np.array([0]), np.array([1]), np.array([size_bytes], dtype=np.int64)


def _largest(rank_bytes: tuple[Column, Column]) -> tuple[int, int]:
    return int(max(column.max() for column in rank_bytes)), 1


def _segments(ranks: int, size_bytes: int) -> Column:
    """Matrix whose entry (s, d) is segment d."""
    return np.broadcast_to(cut(size_bytes, ranks), (ranks, ranks))


def _ring(sent: Callable[[int, int], Column], halves: int) -> ClosedForm:
    """A ring of ``halves`` times n - 1 steps in which each rank sends ``sent``(ranks, size) bytes to the next."""
    return ClosedForm(
        rank_bytes=lambda ranks, size_bytes: (sent(ranks, size_bytes), np.roll(sent(ranks, size_bytes), 1)),
        steps=lambda ranks: halves * (ranks - 1),
        wire_bytes=lambda ranks, size_bytes: (halves * (ranks - 1) * size_bytes, ranks),
        pair_bytes=lambda ranks, size_bytes: _ring_pairs(sent(ranks, size_bytes)),
    )


def _direct(
    rank_bytes: Callable[[int, int], tuple[Column, Column]], pairs: Callable[[int, int], Column], steps: int
) -> ClosedForm:
    """``steps`` exchanges of everyone with everyone; ``pairs`` has the bytes of both together."""
    return ClosedForm(
        rank_bytes=rank_bytes,
        steps=lambda ranks: steps,
        wire_bytes=lambda ranks, size_bytes: (steps * (ranks - 1) * size_bytes, ranks),
        pair_bytes=lambda ranks, size_bytes: _direct_pairs(pairs(ranks, size_bytes)),
    )


_BUILT_IN = {
    ("all_reduce", "ring"): _ring(_ring_all_reduce_sent, halves=2),
    ("all_reduce", "direct"): _direct(
        _direct_all_reduce_bytes, lambda ranks, size: _segments(ranks, size) + _segments(ranks, size).T, steps=2
    ),
    ("reduce_scatter", "ring"): _ring(_ring_reduce_scatter_sent, halves=1),
    ("reduce_scatter", "direct"): _direct(_direct_reduce_scatter_bytes, _segments, steps=1),
    ("all_gather", "ring"): _ring(_ring_all_gather_sent, halves=1),
    ("all_gather", "direct"): _direct(_direct_all_gather_bytes, lambda ranks, size: _segments(ranks, size).T, steps=1),
    # Equal parts: rank s has segment d for rank d, as in a reduce-scatter.
    ("all_to_all", "direct"): _direct(_direct_reduce_scatter_bytes, _segments, steps=1),
    ("all_to_all_v", "direct"): ClosedForm(
        rank_bytes=_matrix_bytes,
        steps=lambda ranks: 1,
        wire_bytes=lambda ranks, matrix: _largest(_matrix_bytes(ranks, matrix)),
        pair_bytes=lambda ranks, matrix: _direct_pairs(matrix),
    ),
    ("sendrecv", "direct"): ClosedForm(
        rank_bytes=_sendrecv_bytes,
        steps=lambda ranks: 1,
        wire_bytes=lambda ranks, size_bytes: (size_bytes, 1),
        pair_bytes=_sendrecv_pairs,
    ),
    ("all_reduce", "ring_bidirectional"): form_of_pairs(
        _bidirectional_pairs,
        steps=lambda ranks: 2 * (ranks - 1),
        # the two directions are two links
        wire_bytes=lambda ranks, size_bytes: ((ranks - 1) * size_bytes, ranks),
    ),
}
for (_kind, _algorithm), _form in _BUILT_IN.items():
    register_closed_form(_kind, _algorithm, _form)
