# SPDX-License-Identifier: GPL-2.0-only
"""Closed forms of algorithms among all members alike: bytes per rank and uncontended time, from sizes alone.

They share nothing with the builder and its algorithms, so that they can check them. The forms themselves are in
:mod:`~astra_py.collectives.flat_forms`, :mod:`~astra_py.collectives.step_forms` and
:mod:`~astra_py.collectives.rooted_forms`; those that depend on machines or on how the collectives were told to work
have :mod:`astra_py.collectives.level_forms`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.registry import Algorithm, algorithm_names, find_algorithm
from astra_py.errors import ConfigError

__all__ = [
    "ClosedForm",
    "Column",
    "Pairs",
    "closed_form",
    "cut",
    "form_of_pairs",
    "has_closed_form",
    "pair_totals",
    "register_closed_form",
]

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


def cut(size_bytes: int, parts: int) -> Column:
    """Floor or ceil of size / parts, the first ones larger; apart from the builder's own rule on purpose."""
    return np.array([(size_bytes + parts - 1 - i) // parts for i in range(parts)], dtype=np.int64)


def pair_totals(ranks: int, pairs: Pairs) -> tuple[Column, Column]:
    """Bytes that each rank sends and receives, from those of pairs."""
    src, dst, size_bytes = pairs
    sent, received = np.zeros(ranks, dtype=np.int64), np.zeros(ranks, dtype=np.int64)
    np.add.at(sent, src, size_bytes)
    np.add.at(received, dst, size_bytes)
    return sent, received


def form_of_pairs(
    pairs: Callable[[int, Any], Pairs], steps: Callable[[int], int], wire_bytes: Callable[[int, Any], tuple[int, int]]
) -> ClosedForm:
    """A form whose bytes per rank are those of its pairs."""
    return ClosedForm(
        rank_bytes=lambda ranks, payload: pair_totals(ranks, pairs(ranks, payload)),
        steps=steps,
        wire_bytes=wire_bytes,
        pair_bytes=pairs,
    )
