# SPDX-License-Identifier: GPL-2.0-only
"""Closed forms of flat algorithms: bytes per rank and uncontended time, from sizes alone.

They share nothing with the builder and its algorithms, so that they can check them. Those of two levels are in
:mod:`astra_py.collectives.level_forms`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.registry import Algorithm, algorithm_names, find_algorithm
from astra_py.errors import ConfigError

__all__ = ["ClosedForm", "Pairs", "closed_form", "has_closed_form", "register_closed_form"]

Column = NDArray[np.int64]

#: Sender, receiver and bytes of each pair of ranks that exchange anything; three i64[k].
Pairs = tuple[Column, Column, Column]

PS_PER_S = 10**12


@dataclass(frozen=True)
class ClosedForm:
    """Formulas of one algorithm, of one chunk; ``payload`` is a size in bytes, or a byte matrix for all_to_all_v.

    Attributes
    ----------
    rank_bytes : (ranks, payload) -> bytes that each rank sends and receives, both i64[ranks], exact.
    steps : ranks -> how many times the latency of a step counts.
    wire_bytes : (ranks, payload) -> numerator and denominator of the bytes that one NIC carries one after another.
    pair_bytes : (ranks, payload) -> :data:`Pairs`; None where it is not known, so that the bytes cannot be parted into
        those inside and those between machines.
    """

    rank_bytes: Callable[[int, Any], tuple[Column, Column]]
    steps: Callable[[int], int]
    wire_bytes: Callable[[int, Any], tuple[int, int]]
    pair_bytes: Callable[[int, Any], Pairs] | None = None

    def time_ps(self, ranks: int, payload: int | Column, latency_ps: int, bandwidth_bps: int) -> int:
        """Uncontended time in ps, rounded up, with ``latency_ps`` a step and ``bandwidth_bps`` a NIC."""
        if ranks == 1:
            return 0
        numerator, denominator = self.wire_bytes(ranks, payload)
        return self.steps(ranks) * latency_ps - (-8 * PS_PER_S * numerator // (denominator * bandwidth_bps))


#: Each form with the function that it is true of.
_closed_forms: dict[tuple[str, str], tuple[ClosedForm, Algorithm]] = {}


def register_closed_form(kind: str, algorithm: str, form: ClosedForm) -> None:
    """Make ``form`` the closed form of a registered algorithm, of the package or one's own.

    It is that of the function registered now: where another one takes over the name, the form is no longer used.

    Raises
    ------
    ConfigError : no such algorithm is registered.
    """
    _closed_forms[kind, algorithm] = (form, find_algorithm(kind, algorithm))


def has_closed_form(kind: str, algorithm: str) -> bool:
    """Whether an algorithm has a closed form of one level."""
    known = _closed_forms.get((kind, algorithm))
    return known is not None and algorithm in algorithm_names(kind) and known[1] is find_algorithm(kind, algorithm)


def closed_form(kind: str, algorithm: str) -> ClosedForm:
    """Return the closed form of an algorithm.

    Raises
    ------
    ConfigError : there is none.
    """
    if not has_closed_form(kind, algorithm):
        known = ", ".join(f"{k} {a}" for k, a in _closed_forms if has_closed_form(k, a))
        raise ConfigError(
            f"no closed form of {kind} algorithm {algorithm!r}, so the bytes it should move are unknown; known are "
            f"{known}, and register_closed_form() adds one"
        )
    return _closed_forms[kind, algorithm][0]


def _cut(size_bytes: int, parts: int) -> Column:
    """Floor or ceil of size / parts, the first ones larger; apart from the builder's own rule on purpose."""
    return np.array([(size_bytes + parts - 1 - i) // parts for i in range(parts)], dtype=np.int64)


def _ring_pairs(sent: Column) -> Pairs:
    rank = np.arange(len(sent))
    return rank, np.roll(rank, -1), sent


def _direct_pairs(matrix: Column) -> Pairs:
    src, dst = np.nonzero(~np.eye(len(matrix), dtype=bool))
    return src, dst, matrix[src, dst]


def _ring_all_reduce_sent(ranks: int, size_bytes: int) -> Column:
    # Each half passes on all segments but one: rank r never sends segment r + 1 while reducing, nor r + 2 while
    # gathering.
    segment = _cut(size_bytes, ranks)
    return 2 * size_bytes - np.roll(segment, -1) - np.roll(segment, -2)


def _ring_reduce_scatter_sent(ranks: int, size_bytes: int) -> Column:
    return size_bytes - _cut(size_bytes, ranks)


def _ring_all_gather_sent(ranks: int, size_bytes: int) -> Column:
    # What the next rank has from the beginning is not sent to it.
    return size_bytes - np.roll(_cut(size_bytes, ranks), -1)


def _direct_reduce_scatter_bytes(ranks: int, size_bytes: int) -> tuple[Column, Column]:
    segment = _cut(size_bytes, ranks)
    return size_bytes - segment, (ranks - 1) * segment


def _direct_all_gather_bytes(ranks: int, size_bytes: int) -> tuple[Column, Column]:
    received, sent = _direct_reduce_scatter_bytes(ranks, size_bytes)
    return sent, received


def _direct_all_reduce_bytes(ranks: int, size_bytes: int) -> tuple[Column, Column]:
    sent = size_bytes + (ranks - 2) * _cut(size_bytes, ranks)
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
    return np.broadcast_to(_cut(size_bytes, ranks), (ranks, ranks))


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
}
for (_kind, _algorithm), _form in _BUILT_IN.items():
    register_closed_form(_kind, _algorithm, _form)
