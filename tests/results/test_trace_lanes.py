# SPDX-License-Identifier: GPL-2.0-only
"""Lanes of a timeline: nothing overlaps in one, and there are no more than needed."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from astra_py.results.intervals import IntervalSet
from astra_py.results.trace_lanes import gaps, lanes

INTERVALS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 12)), max_size=40)


def ends(rows: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    start = np.array([row[0] for row in rows], dtype=np.int64)
    return start, start + np.array([row[1] for row in rows], dtype=np.int64)


@given(INTERVALS)
def test_nothing_overlaps_in_a_lane(rows: list[tuple[int, int]]) -> None:
    start, end = ends(rows)
    lane = lanes(start, end)
    for each in range(lane.max(initial=-1) + 1):
        mine = np.lexsort((end, start))
        mine = mine[lane[mine] == each]
        assert len(mine)
        assert (end[mine][:-1] <= start[mine][1:]).all()


@given(INTERVALS.map(lambda rows: [(start, length + 1) for start, length in rows]))
def test_there_are_as_many_lanes_as_overlap_at_once(rows: list[tuple[int, int]]) -> None:
    start, end = ends(rows)
    most = max((int(((start <= moment) & (end > moment)).sum()) for moment in range(60)), default=0)
    assert lanes(start, end).max(initial=-1) + 1 == most


@given(INTERVALS, st.integers(0, 60), st.integers(0, 60))
def test_gaps_are_what_is_not_covered(rows: list[tuple[int, int]], low: int, high: int) -> None:
    start, end = ends(rows)
    found = list(gaps(IntervalSet(start, end), low, high))
    covered = {moment for begin, finish in zip(start, end, strict=True) for moment in range(begin, finish)}
    expected = [moment for moment in range(low, high) if moment not in covered]
    assert [moment for begin, finish in found for moment in range(begin, finish)] == expected
    assert all(begin < finish for begin, finish in found)
    assert all(before[1] < after[0] for before, after in pairwise(found))
