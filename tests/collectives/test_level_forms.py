# SPDX-License-Identifier: GPL-2.0-only
"""Closed forms of two levels: times of MODELS' table in exact fractions, and what has none."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astra_py.collectives import SystemModel, closed_form, level_form
from astra_py.collectives.partition import equal_matrix
from astra_py.errors import ConfigError
from collective_cases import sizes

few = st.integers(1, 12)
levels = st.tuples(st.integers(0, 10**10), st.integers(10**6, 10**13))


def machines_of(count: int, local: int) -> np.ndarray:
    return np.repeat(np.arange(count, dtype=np.int32), local)


@settings(deadline=None)
@given(count=few, local=few, size=sizes, inside=levels, between=levels, names=st.tuples(*[st.booleans()] * 2))
def test_all_reduce(
    count: int, local: int, size: int, inside: tuple[int, int], between: tuple[int, int], names: tuple[bool, bool]
) -> None:
    (a_l, rate_l), (a_s, rate_s) = inside, between
    b_l, b_s = Fraction(rate_l, 8 * 10**12), Fraction(rate_s, 8 * 10**12)
    steps_l = local - 1 if names[0] else min(local - 1, 1)
    steps_s = count - 1 if names[1] else min(count - 1, 1)
    time = 2 * (steps_l * a_l + Fraction(local - 1, local) * size / b_l)
    time += 2 * (steps_s * a_s + Fraction(count - 1, count * local) * size / b_s)
    ring_or_direct = ["ring" if is_ring else "direct" for is_ring in names]
    system = SystemModel(all_reduce_inside=ring_or_direct[0], all_reduce_between=ring_or_direct[1])
    form = level_form("all_reduce", "hierarchical")
    assert form.time_ps(machines_of(count, local), size, inside=inside, between=between, system=system) == ceil(time)


@settings(deadline=None)
@given(count=few, local=few, part=st.integers(0, 10**6), inside=levels, between=levels)
def test_all_to_all(count: int, local: int, part: int, inside: tuple[int, int], between: tuple[int, int]) -> None:
    (a_l, rate_l), (a_s, rate_s) = inside, between
    n = count * local
    size = part * n
    time = Fraction((local - 1) * size, local) * 8 * 10**12 / rate_l + (local > 1) * a_l
    time += Fraction((count - 1) * size, count) * 8 * 10**12 / rate_s + (count > 1) * a_s
    for kind, payload in (("all_to_all", size), ("all_to_all_v", equal_matrix(size, n))):
        form = level_form(kind, "hierarchical")
        assert form.time_ps(machines_of(count, local), payload, inside=inside, between=between) == ceil(time)


def test_an_uneven_exchange_takes_as_long_as_its_busiest_rank_on_each_level() -> None:
    matrix = np.array([[0, 5, 1, 2], [0, 0, 3, 4], [0, 0, 0, 0], [7, 0, 0, 0]], dtype=np.int64)
    inside, between = level_form("all_to_all_v", "hierarchical").phases(machines_of(2, 2), matrix, SystemModel())
    # Inside, rank 0 sends 5 + 2 to rank 1, which sends 3 to rank 0; rank 3 hands its 7 for rank 0 to rank 2.
    assert (inside.is_inside, inside.steps, inside.wire_bytes) == (True, 1, Fraction(7))
    # Between, rank 0 sends 1 + 3 to rank 2, rank 1 sends 2 + 4 to rank 3, and rank 2 sends 7 to rank 0.
    assert (between.is_inside, between.steps, between.wire_bytes) == (False, 1, Fraction(7))


def test_what_has_no_closed_form_of_its_levels() -> None:
    with pytest.raises(ConfigError, match="no closed form of two levels of all_reduce algorithm 'direct'; known are"):
        level_form("all_reduce", "direct")
    with pytest.raises(ConfigError, match="no closed form of all_reduce algorithm 'hierarchical'"):
        closed_form("all_reduce", "hierarchical")
