# SPDX-License-Identifier: GPL-2.0-only
"""Closed forms of broadcast, reduce, gather and scatter with member 0 as their root."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from astra_py.collectives.closed_forms import Column, Pairs, cut, form_of_pairs, register_closed_form


def _below(ranks: int, algorithm: str) -> list[tuple[int, int, range]]:
    """Each rank but 0, its parent, and the ranks whose data goes that way."""
    if algorithm == "ring":
        return [(rank, rank - 1, range(rank, ranks)) for rank in range(1, ranks)]
    if algorithm == "direct":
        return [(rank, 0, range(rank, rank + 1)) for rank in range(1, ranks)]
    lowest = [rank & -rank for rank in range(ranks)]
    return [(rank, rank - lowest[rank], range(rank, min(rank + lowest[rank], ranks))) for rank in range(1, ranks)]


def _pairs(algorithm: str, *, is_down: bool, is_whole: bool) -> Callable[[int, int], Pairs]:
    """Down from the root or up to it; each way takes the whole buffer, or the segments of those below."""

    def pairs(ranks: int, size_bytes: int) -> Pairs:
        ways, segment = _below(ranks, algorithm), cut(size_bytes, ranks)
        child, parent = (np.array([way[i] for way in ways], dtype=np.int64) for i in (0, 1))
        sizes: Column = np.array(
            [size_bytes if is_whole else segment[way[2].start : way[2].stop].sum() for way in ways], dtype=np.int64
        )
        return (parent, child, sizes) if is_down else (child, parent, sizes)

    return pairs


def _depth(ranks: int) -> int:
    return (ranks - 1).bit_length()


_STEPS: dict[str, Callable[[int], int]] = {"tree": _depth, "ring": lambda ranks: ranks - 1, "direct": lambda ranks: 1}
#: Whole buffers that the busiest way has one after another; a chain's, without pieces.
_WHOLE: dict[str, Callable[[int], int]] = {"tree": _depth, "direct": lambda ranks: ranks - 1}


def _whole_wire(buffers: Callable[[int], int]) -> Callable[[int, int], tuple[int, int]]:
    return lambda ranks, size_bytes: (buffers(ranks) * size_bytes, 1)


for _kind, _is_down in (("broadcast", True), ("reduce", False)):
    for _algorithm, _buffers in _WHOLE.items():
        _form = form_of_pairs(
            _pairs(_algorithm, is_down=_is_down, is_whole=True), _STEPS[_algorithm], _whole_wire(_buffers)
        )
        register_closed_form(_kind, _algorithm, _form)
for _kind, _is_down in (("gather", False), ("scatter", True)):
    for _algorithm, _steps in _STEPS.items():
        register_closed_form(
            _kind,
            _algorithm,
            form_of_pairs(
                _pairs(_algorithm, is_down=_is_down, is_whole=False),
                _steps,
                lambda ranks, size_bytes: ((ranks - 1) * size_bytes, ranks),
            ),
        )
