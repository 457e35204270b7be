# SPDX-License-Identifier: GPL-2.0-only
"""Reported bandwidths, by the definitions of nccl-tests (its doc/PERFORMANCE.md).

``algbw`` is the collective's size over its time; ``busbw`` is what the busiest NIC must at least carry, over the same
time, so that it can be compared with a link rate whatever the number of ranks.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from astra_py.errors import ConfigError
from astra_py.workloads.calls import Payload
from astra_py.workloads.flows import FlowList

__all__ = ["algorithm_bytes", "bus_bytes", "bus_factor"]

_FACTORS = {
    "all_reduce": lambda n: Fraction(2 * (n - 1), n),
    "reduce_scatter": lambda n: Fraction(n - 1, n),
    "all_gather": lambda n: Fraction(n - 1, n),
    "all_to_all": lambda n: Fraction(n - 1, n),
    "gather": lambda n: Fraction(n - 1, n),
    "scatter": lambda n: Fraction(n - 1, n),
    "broadcast": lambda n: Fraction(1),
    "reduce": lambda n: Fraction(1),
    "sendrecv": lambda n: Fraction(1),
    "barrier": lambda n: Fraction(0),
}


def bus_factor(kind: str, ranks: int) -> Fraction:
    """Return busbw / algbw of a collective of ``ranks`` ranks.

    Raises
    ------
    ConfigError : ``kind`` has no such factor; all_to_all_v depends on its matrix, see :func:`bus_bytes`.
    """
    if kind not in _FACTORS:
        raise ConfigError(f"no bus bandwidth factor of {kind!r}; there are those of {', '.join(_FACTORS)}")
    return _FACTORS[kind](ranks)


def algorithm_bytes(kind: str, payload: Payload) -> int:
    """Bytes that ``algbw`` counts: the size.

    For all_to_all_v it is the largest buffer of a rank, own part included; for flows, by our own rule, all of them.
    """
    if isinstance(payload, int):
        return payload
    if isinstance(payload, FlowList):
        return payload.total_bytes
    return int(payload.sum(axis=1).max())


def bus_bytes(kind: str, ranks: int, payload: Payload) -> Fraction:
    """Bytes that ``busbw`` counts.

    The size times :func:`bus_factor`; for all_to_all_v and flows, our own rule: the most that any rank sends or
    receives, without what stays with it, which is the same where the matrix is equal.
    """
    if isinstance(payload, int):
        return payload * bus_factor(kind, ranks)
    if isinstance(payload, FlowList):
        moved = [_sums(payload, end, ranks) for end in (payload.src, payload.dst)]
        return Fraction(int(max(column.max(initial=0) for column in moved)))
    own = np.diagonal(payload)
    return Fraction(int(max((payload.sum(axis=axis) - own).max() for axis in (0, 1))))


def _sums(flows: FlowList, end: NDArray[np.int32], ranks: int) -> NDArray[np.int64]:
    """Bytes of the flows at each of their ends; i64[ranks]."""
    total = np.zeros(ranks, dtype=np.int64)
    np.add.at(total, end, flows.size_bytes)
    return total
