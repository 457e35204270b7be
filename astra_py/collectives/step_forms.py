# SPDX-License-Identifier: GPL-2.0-only
"""Closed forms of algorithms in steps of powers of two, and of the all-to-all that goes round a ring."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from astra_py.collectives.closed_forms import Column, Pairs, cut, form_of_pairs, register_closed_form

_NO_PAIRS: Pairs = (np.empty(0, dtype=np.int64),) * 3


def _bits(ranks: int) -> int:
    """The exponent of the largest power of two that is not above ``ranks``."""
    return ranks.bit_length() - 1


def _folded(ranks: int, size_bytes: int, pairs: Pairs) -> Pairs:
    """Pairs among 2^bits members, and the whole buffer from each one beyond to the one after it, and back."""
    extra = ranks - (1 << _bits(ranks))
    even = 2 * np.arange(extra)
    rank = np.concatenate([even + 1, np.arange(2 * extra, ranks)])
    src, dst = np.concatenate([even, even + 1]), np.concatenate([even + 1, even])
    return (
        np.concatenate([src, rank[pairs[0]]]),
        np.concatenate([dst, rank[pairs[1]]]),
        np.concatenate([np.full(2 * extra, size_bytes), pairs[2]]),
    )


def _joined(pairs: list[Pairs]) -> Pairs:
    src, dst, size = (np.concatenate(column) for column in zip(*pairs, strict=True)) if pairs else _NO_PAIRS
    return src, dst, size


def _kept(bits: int, bit: int, part: Column) -> Column:
    """Bytes that each of 2^bits members keeps once it has halved its buffer for bits 0 to ``bit``."""
    member, number = np.arange(1 << bits)[:, np.newaxis], np.arange(1 << bits)
    is_kept = np.ones((1 << bits, 1 << bits), dtype=np.bool_)
    for b in range(bit + 1):
        # bit b of the member decides on the half, which is a bit of the part's number from the top
        is_kept &= (member >> b & 1) == (number >> (bits - 1 - b) & 1)
    return is_kept @ part


def halving_doubling_pairs(ranks: int, part: Column) -> Pairs:
    """Halving and doubling of a buffer in as many parts as take part, i64[p] in bytes."""
    bits = _bits(ranks)
    member, pairs = np.arange(1 << bits), []
    for bit in range(bits):
        kept, other = _kept(bits, bit, part), member ^ (1 << bit)
        pairs.append((member, other, kept[other] + kept))
    return _folded(ranks, int(part.sum()), _joined(pairs))


def _recursive_doubling_pairs(ranks: int, size_bytes: int) -> Pairs:
    member = np.arange(1 << _bits(ranks))
    pairs = [(member, member ^ (1 << bit), np.full(len(member), size_bytes)) for bit in range(_bits(ranks))]
    return _folded(ranks, size_bytes, _joined(pairs))


def segment_pairs(segment: Column, *, is_scatter: bool) -> Pairs:
    """At bit b go the segments of those whose lower bits are the receiver's (scattered) or the sender's (gathered)."""
    ranks, pairs = len(segment), []
    member = np.arange(ranks)
    for bit in range(_bits(ranks)):
        alike = np.array([segment[m % (2 << bit) :: 2 << bit].sum() for m in range(ranks)])
        other = member ^ (1 << bit)
        pairs.append((member, other, alike[other] if is_scatter else alike))
    return _joined(pairs)


def _folded_wire(per_part: Callable[[int], tuple[int, int]]) -> Callable[[int, int], tuple[int, int]]:
    """Buffers one after another: ``per_part`` (numerator, denominator) of 2^bits, and two where some are beyond."""

    def wire(ranks: int, size_bytes: int) -> tuple[int, int]:
        numerator, denominator = per_part(1 << _bits(ranks))
        extra = 2 * denominator if ranks > 1 << _bits(ranks) else 0
        return (numerator + extra) * size_bytes, denominator

    return wire


def _folded_steps(per_bit: int) -> Callable[[int], int]:
    return lambda ranks: per_bit * _bits(ranks) + (2 if ranks > 1 << _bits(ranks) else 0)


def _matrix(ranks: int, payload: int | Column) -> Column:
    return np.tile(cut(payload, ranks), (ranks, 1)) if isinstance(payload, int) else payload


def _round_pairs(ranks: int, payload: int | Column) -> Pairs:
    """What passes from each rank to the next: all whose way includes that."""
    matrix, rank = _matrix(ranks, payload), np.arange(ranks)
    passing = np.zeros(2 * ranks + 1, dtype=np.int64)
    for way in range(1, ranks):
        size_bytes = matrix[rank, (rank + way) % ranks]
        np.add.at(passing, rank, size_bytes)
        np.add.at(passing, rank + way, -size_bytes)
    total = np.cumsum(passing)
    return rank, (rank + 1) % ranks, total[:ranks] + total[ranks : 2 * ranks]


def _bruck_pairs(ranks: int, payload: int | Column) -> Pairs:
    matrix, rank, pairs = _matrix(ranks, payload), np.arange(ranks), []
    for way in range(1, ranks):
        at, size_bytes = rank, matrix[rank, (rank + way) % ranks]
        for bit in range(way.bit_length()):
            if way >> bit & 1:
                pairs.append((at, (at + (1 << bit)) % ranks, size_bytes))
                at = pairs[-1][1]
    return _joined(pairs)


def _busiest(pairs: Callable[[int, Any], Pairs], equal: Callable[[int], int]) -> Callable[[int, Any], tuple[int, int]]:
    """Of equal parts ``equal``(n) of n of them, else the most that any rank sends."""

    def wire(ranks: int, payload: int | Column) -> tuple[int, int]:
        if isinstance(payload, int):
            return equal(ranks) * payload, ranks
        src, _, size_bytes = pairs(ranks, payload)
        return int(np.bincount(src, weights=size_bytes, minlength=1).max()), 1

    return wire


def _blocks_of_bruck(ranks: int) -> int:
    return sum(way.bit_count() for way in range(ranks))


_BUILT_IN = {
    ("all_reduce", "halving_doubling"): form_of_pairs(
        lambda ranks, size_bytes: halving_doubling_pairs(ranks, cut(size_bytes, 1 << _bits(ranks))),
        _folded_steps(2),
        _folded_wire(lambda p: (2 * (p - 1), p)),
    ),
    ("all_reduce", "recursive_doubling"): form_of_pairs(
        _recursive_doubling_pairs, _folded_steps(1), _folded_wire(lambda p: (p.bit_length() - 1, 1))
    ),
    ("reduce_scatter", "halving"): form_of_pairs(
        lambda ranks, size_bytes: segment_pairs(cut(size_bytes, ranks), is_scatter=True),
        _bits,
        lambda ranks, size_bytes: ((ranks - 1) * size_bytes, ranks),
    ),
    ("all_gather", "doubling"): form_of_pairs(
        lambda ranks, size_bytes: segment_pairs(cut(size_bytes, ranks), is_scatter=False),
        _bits,
        lambda ranks, size_bytes: ((ranks - 1) * size_bytes, ranks),
    ),
    # n - 1 + n - 2 + ... + 1 parts pass each rank
    ("all_to_all", "ring"): form_of_pairs(
        _round_pairs, lambda ranks: ranks - 1, _busiest(_round_pairs, lambda ranks: ranks * (ranks - 1) // 2)
    ),
    ("all_to_all", "bruck"): form_of_pairs(
        _bruck_pairs, lambda ranks: (ranks - 1).bit_length(), _busiest(_bruck_pairs, _blocks_of_bruck)
    ),
    ("barrier", "dissemination"): form_of_pairs(
        lambda ranks, size_bytes: _NO_PAIRS, lambda ranks: (ranks - 1).bit_length(), lambda ranks, size_bytes: (0, 1)
    ),
}
for (_kind, _algorithm), _form in _BUILT_IN.items():
    register_closed_form(_kind, _algorithm, _form)
    if _kind == "all_to_all":
        register_closed_form("all_to_all_v", _algorithm, _form)
