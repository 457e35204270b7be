# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from astra_py.results.intervals import IntervalSet

SPANS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)), max_size=12)


def _set(spans: list[tuple[int, int]]) -> IntervalSet:
    start = np.array([a for a, _ in spans], dtype=np.int64)
    return IntervalSet(start, start + np.array([b for _, b in spans], dtype=np.int64))


def _ticks(spans: list[tuple[int, int]]) -> set[int]:
    return {t for start, length in spans for t in range(start, start + length)}


@given(SPANS, st.integers(0, 90), st.integers(0, 90))
def test_covered_counts_each_tick_of_the_window_once(spans: list[tuple[int, int]], low: int, span: int) -> None:
    high = low + span
    expected = len([t for t in _ticks(spans) if low <= t < high])
    assert _set(spans).covered(np.array([low]), np.array([high])).tolist() == [expected]


@given(SPANS, SPANS)
def test_union_is_that_of_the_ticks(first: list[tuple[int, int]], second: list[tuple[int, int]]) -> None:
    union = _set(first) | _set(second)
    assert int((union.end - union.start).sum()) == len(_ticks(first) | _ticks(second))


def test_pieces_are_apart_and_in_order() -> None:
    pieces = _set([(10, 5), (0, 3), (12, 8), (20, 1)])
    assert list(zip(pieces.start.tolist(), pieces.end.tolist(), strict=True)) == [(0, 3), (10, 21)]


def test_an_empty_set_covers_nothing() -> None:
    assert _set([]).covered(np.array([0, 5]), np.array([9, 9])).tolist() == [0, 0]
