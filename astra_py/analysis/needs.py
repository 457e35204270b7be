# SPDX-License-Identifier: GPL-2.0-only
"""What a collective's members need of each other at least, whatever the algorithm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.closed_forms import cut
from astra_py.collectives.registry import MATRIX_KINDS
from astra_py.errors import ConfigError, did_you_mean
from astra_py.workloads.calls import COLLECTIVE_KINDS

__all__ = ["Needs", "needs_of"]


@dataclass(frozen=True)
class Needs:
    """The least bytes of a collective.

    Attributes
    ----------
    crossing : members inside a cut, bool[n], not none and not all -> the most bytes that cross it in one direction.
    total : number of parts that the members are divided among -> bytes that go between parts, summed over all.
    pairs : bool[n, n], whether what member d ends with depends on what member s begins with; row = s.
    """

    crossing: Callable[[NDArray[np.bool_]], int]
    total: Callable[[int], int]
    pairs: NDArray[np.bool_]


def needs_of(kind: str, payload: int | NDArray[np.int64], ranks: int) -> Needs:
    """Return the needs of a collective of ``ranks`` members; arguments as ``build_template`` takes them.

    Of broadcast, reduce, gather and scatter member 0 is the root; a sendrecv goes from member 0 to member 1.

    Raises
    ------
    ConfigError : an unknown kind, or a payload that is none of it.
    """
    if kind not in COLLECTIVE_KINDS:
        hint = did_you_mean(kind, COLLECTIVE_KINDS)
        raise ConfigError(f"unknown collective {kind!r}{hint}; allowed: {', '.join(COLLECTIVE_KINDS)}")
    if isinstance(payload, np.ndarray) and payload.ndim:
        if kind not in MATRIX_KINDS or payload.shape != (ranks, ranks):
            raise ConfigError(
                f"{kind} of {ranks} ranks, and an array of shape {payload.shape}; allowed: a size, or of "
                f"{' and '.join(MATRIX_KINDS)} a byte matrix of shape ({ranks}, {ranks})"
            )
        if (least := int(payload.min(initial=0))) < 0:
            raise ConfigError(f"{kind}: the byte matrix has a negative entry, {least}")
        return _of_matrix(payload)
    payload = int(payload)
    if payload < 0:
        raise ConfigError(f"{kind} of {payload} B; allowed: at least 0")
    if kind in ("all_to_all", "all_to_all_v"):
        return _of_matrix(np.broadcast_to(cut(payload, ranks), (ranks, ranks)))
    segment = cut(payload, ranks)
    everyone = ~np.eye(ranks, dtype=np.bool_)
    root = np.arange(ranks) == 0
    has_bytes = segment > 0
    match kind:
        case "all_reduce":
            # what is combined has to come together, and then be told: twice over each part but one
            return Needs(lambda inside: payload, lambda parts: 2 * (parts - 1) * payload, everyone & (payload > 0))
        case "reduce_scatter" | "all_gather":
            pairs = everyone & (has_bytes[np.newaxis] if kind == "reduce_scatter" else has_bytes[:, np.newaxis])
            return Needs(
                lambda inside: max(int(segment[inside].sum()), int(segment[~inside].sum())),
                lambda parts: (parts - 1) * payload,
                pairs,
            )
        case "broadcast" | "reduce":
            pairs = everyone & (root[:, np.newaxis] if kind == "broadcast" else root[np.newaxis]) & (payload > 0)
            return Needs(lambda inside: payload, lambda parts: (parts - 1) * payload, pairs)
        case "gather" | "scatter":
            is_needed = (has_bytes[:, np.newaxis] & root) if kind == "gather" else (root[:, np.newaxis] & has_bytes)
            return Needs(
                lambda inside: int(segment[~inside if inside[0] else inside].sum()), _nothing, everyone & is_needed
            )
        case "sendrecv":
            pairs = np.zeros((ranks, ranks), dtype=np.bool_)
            pairs[0, 1] = payload > 0
            return Needs(lambda inside: payload if inside[0] != inside[1] else 0, _nothing, pairs)
        case _:
            return Needs(lambda inside: 0, _nothing, everyone)


def _of_matrix(matrix: NDArray[np.int64]) -> Needs:
    pairs = (matrix > 0) & ~np.eye(len(matrix), dtype=np.bool_)
    return Needs(
        lambda inside: max(int(matrix[inside][:, ~inside].sum()), int(matrix[~inside][:, inside].sum())),
        _nothing,
        pairs,
    )


def _nothing(parts: int) -> int:
    """No bound beside that of cuts."""
    return 0
