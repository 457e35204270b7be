# SPDX-License-Identifier: GPL-2.0-only
"""Grids, lists and Latin hypercubes: which points they give."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra_py.batch import Grid, LatinHypercube, PointList, Range
from astra_py.batch.designs import multiply, require_different_keys, value_text
from astra_py.config import load_scenario
from astra_py.errors import ConfigError
from astra_py.units import parse_rate, parse_time

TEXTS = st.text("abcdefgh0123456789", min_size=1, max_size=4)
GRIDS = st.dictionaries(
    st.sampled_from(["a.x", "a.y", "b.z", "seed"]),
    st.lists(TEXTS, min_size=1, max_size=4, unique=True),
    min_size=1,
    max_size=4,
)


@given(GRIDS)
def test_a_grid_has_every_combination_once(values: dict[str, list[str]]) -> None:
    rows = Grid.of(values).rows()
    assert [tuple(row.values()) for row in rows] == list(product(*values.values()))
    assert all(tuple(row) == tuple(values) for row in rows)


@given(GRIDS, st.lists(TEXTS, min_size=1, max_size=5, unique=True))
def test_a_grid_times_a_list_has_every_combination_once(values: dict[str, list[str]], texts: list[str]) -> None:
    listed = PointList.of({"c": text} for text in texts)
    rows = multiply([listed, Grid.of(values)])
    assert len(rows) == len(texts) * math.prod(map(len, values.values()))
    assert len({tuple(row.items()) for row in rows}) == len(rows)
    assert [row["c"] for row in rows] == sorted([row["c"] for row in rows], key=texts.index)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("100Gbps", "100Gbps"),
        (True, "true"),
        (3, "3"),
        (np.int64(3), "3"),
        (0.1, "0.1"),
        (np.float64(0.25), "0.25"),
        (["a", "b"], '["a", "b"]'),
        ((1, 2.5), "[1, 2.5]"),
    ],
)
def test_values_are_texts_as_overrides_take_them(value: Any, text: str) -> None:
    assert value_text(value, "here") == text


@pytest.mark.parametrize("value", [None, {"a": 1}, object()])
def test_what_is_no_value_is_refused(value: Any) -> None:
    with pytest.raises(ConfigError, match=r"grid: a\.b = .*; allowed"):
        Grid.of({"a.b": [value]})


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"a": []}, "a: no values"),
        ({"a": ["x", "x"]}, "'x' is there twice"),
        ({"seed": [1, 1]}, "'1' is there twice"),
        ({"a": "100Gbps"}, "is no list of values"),
        ({"a": 3}, "is no list of values"),
    ],
)
def test_a_grid_that_is_none(values: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        Grid.of(values)


@pytest.mark.parametrize(
    ("points", "says"),
    [
        ([], "there are none"),
        ([{"a": 1}, {"b": 1}], "number 1 has keys b; allowed: those of the first, a"),
        ([{"a": 1}, {"a": 2}, {"a": 1}], "numbers 0 and 2 are equal"),
        ([{}], "number 0 has keys none"),
    ],
)
def test_a_list_that_is_none(points: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        PointList.of(points)


def test_a_key_is_varied_once() -> None:
    with pytest.raises(ConfigError, match="seed: varied twice"):
        require_different_keys([Grid.of({"seed": [1]}), Grid.of({"a": [1], "seed": [2]})])


@given(st.integers(1, 60), st.integers(0, 2**32))
def test_each_part_of_a_linear_range_has_one_sample(samples: int, seed: int) -> None:
    ranges = {"platform.link_rate": Range("10Gbps", "400Gbps"), "transport.window": Range("1MB", "3MB")}
    rows = LatinHypercube(samples, ranges, seed).rows()
    shares = [(parse_rate(row["platform.link_rate"]) - 10e9) / 390e9 for row in rows]
    assert sorted(min(int(share * samples), samples - 1) for share in shares) == list(range(samples))


@given(st.integers(1, 60), st.integers(0, 2**32))
def test_each_part_of_a_log_range_has_one_sample(samples: int, seed: int) -> None:
    rows = LatinHypercube(samples, {"platform.link_delay": Range("10ns", "1ms", "log")}, seed).rows()
    shares = [math.log(parse_time(row["platform.link_delay"]) / 1e4, 1e5) for row in rows]
    assert sorted(min(int(share * samples), samples - 1) for share in shares) == list(range(samples))


def test_a_sample_is_the_same_for_the_same_seed_and_allowed_in_a_scenario() -> None:
    ranges = {
        "platform.link_delay": Range("10ns", "1ms", "log"),
        "switch.pfc_alpha": Range(0.01, 1, "log"),
        "collective.chunks": Range(1, 64),
    }
    rows = LatinHypercube(20, ranges, 4).rows()
    assert rows == LatinHypercube(20, ranges, 4).rows() != LatinHypercube(20, ranges, 5).rows()
    for row in rows:
        load_scenario({}, [f"{key}={text}" for key, text in row.items()])


@pytest.mark.parametrize(
    ("key", "span", "says"),
    [
        ("platform.link_dely", Range("1ns", "2ns"), "did you mean 'platform.link_delay'"),
        ("platform.kind", Range("ring", "torus"), "no quantity or number"),
        ("platform.link_delay", Range("1ns", "2B"), "to: '2B'"),
        ("platform.link_delay", Range("2ns", "1ns"), "allowed: from below to"),
        ("platform.link_delay", Range("0ns", "1ns", "log"), "above 0"),
        ("platform.link_delay", Range("1ns", "2ns", "lin"), "did you mean 'linear'"),
        ("transport.window", Range("none", "1MB"), "is a word"),
    ],
)
def test_a_range_that_is_none(key: str, span: Range, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        LatinHypercube(4, {key: span})


@pytest.mark.parametrize("samples", [0, -1, 2.5, True, "4"])
def test_a_number_of_samples_that_is_none(samples: Any) -> None:
    with pytest.raises(ConfigError, match=r"samples = .*; allowed: a whole number from 1"):
        LatinHypercube(samples, {"platform.link_delay": Range("1ns", "2ns")})
