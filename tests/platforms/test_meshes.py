# SPDX-License-Identifier: GPL-2.0-only
"""Accelerators linked to each other: tori of any dimensions, and each to each."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra_py.errors import TopologyError
from platform_cases import all_pairs, built, equal_ways, ways_of


def place(rank: int, sizes: list[int]) -> list[int]:
    found = []
    for size in sizes:
        found.append(rank % size)
        rank //= size
    return found


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4).filter(lambda sizes: 2 <= math.prod(sizes) <= 40))
def test_a_torus_goes_round_the_shorter_way(sizes: list[int]) -> None:
    platform = built("kind=torus", "dims=" + "x".join(map(str, sizes)))
    assert platform.ranks == math.prod(sizes)
    degree = sum(0 if size == 1 else 1 if size == 2 else 2 for size in sizes)
    assert {count for _, count in platform.graph.degree()} == {degree}
    for (src, dst), way in ways_of(platform).items():
        steps = zip(place(src, sizes), place(dst, sizes), sizes, strict=True)
        assert len(way) - 1 == sum(min((a - b) % size, (b - a) % size) for a, b, size in steps)


@pytest.mark.parametrize(("ranks", "grid"), [(16, (4, 4)), (8, (4, 2)), (7, (7, 1)), (1, (1, 1)), (36, (6, 6))])
def test_dimensions_where_none_are_given(ranks: int, grid: tuple[int, int]) -> None:
    given_grid = built("kind=torus", f"dims={grid[0]}x{grid[1]}")
    assert set(built("kind=torus", f"ranks={ranks}").graph.edges()) == set(given_grid.graph.edges())


def test_equal_ways_over_a_torus() -> None:
    ways = equal_ways(built("kind=torus", "dims=3x3"), 0, 4)
    assert ways == [("rank0", "rank1", "rank4"), ("rank0", "rank3", "rank4")]


@given(st.integers(2, 12))
def test_fully_connected_is_one_link(ranks: int) -> None:
    platform = built("kind=fully_connected", f"ranks={ranks}")
    assert platform.graph.number_of_edges() == ranks * (ranks - 1) // 2
    assert ways_of(platform) == {(src, dst): [f"rank{src}", f"rank{dst}"] for src, dst in all_pairs(platform)}


def test_a_torus_that_does_not_forward() -> None:
    with pytest.raises(TopologyError, match=r"platform\.accelerators_forward = true"):
        built("kind=torus", "dims=3x3", "accelerators_forward=false")
    assert built("kind=fully_connected", "accelerators_forward=false").ranks == 8
