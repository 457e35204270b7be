# SPDX-License-Identifier: GPL-2.0-only
"""The spread over seeds, against SciPy's figures and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from astra_py.batch.spread import spread_table, student_t
from astra_py.batch.table import SweepTable
from astra_py.errors import ConfigError

KEYS = ("platform.link_rate", "seed")
COLUMNS = ("point", "platform.link_rate", "platform.link_rate_bps", "seed", "status", "reason", "time_us", "digest")


def table(values: list[float | None], digests: list[str] | None = None) -> SweepTable:
    rows = [
        {
            "point": i,
            "platform.link_rate": "1Gbps",
            "platform.link_rate_bps": 10**9,
            "seed": i,
            "status": "failed" if value is None else "ok",
            "reason": "",
            "digest": digests[i] if digests else str(i),
            **({} if value is None else {"time_us": value}),
        }
        for i, value in enumerate(values)
    ]
    return SweepTable(COLUMNS, tuple(rows))


@pytest.mark.parametrize("freedom", [*range(1, 35), 100, 999, 1000])
def test_quantiles_are_those_of_scipy(freedom: int) -> None:
    for probability in (0.6, 0.9, 0.975, 0.995):
        assert student_t(probability, freedom) == pytest.approx(stats.t.ppf(probability, freedom), rel=1e-12)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=20), st.floats(0.5, 0.99))
def test_figures_are_those_of_numpy_and_scipy(values: list[float], confidence: float) -> None:
    found = spread_table(table(values), KEYS, confidence)
    assert found is not None
    (row,) = found.rows
    assert (row["platform.link_rate"], row["figure"], row["seeds"]) == ("1Gbps", "time_us", len(values))
    close = {"rel": 1e-9, "abs": 1e-6}
    assert row["mean"] == pytest.approx(np.mean(values), **close)
    assert row["std"] == pytest.approx(np.std(values, ddof=1), **close)
    assert [row["p5"], row["p50"], row["p95"]] == pytest.approx(np.percentile(values, [5, 50, 95]), **close)
    error = np.std(values, ddof=1) / len(values) ** 0.5
    low, high = (
        np.mean(values) + np.array(stats.t.ppf([(1 - confidence) / 2, (1 + confidence) / 2], len(values) - 1)) * error
    )
    assert (row["ci_low"], row["ci_high"]) == (pytest.approx(low, **close), pytest.approx(high, **close))


def test_an_interval_holds_the_true_mean_as_often_as_it_says() -> None:
    draw = np.random.default_rng(1)
    hits = 0
    for _ in range(400):
        found = spread_table(table(draw.normal(10, 3, 4).tolist()), KEYS, 0.9)
        assert found is not None
        hits += found.rows[0]["ci_low"] <= 10 <= found.rows[0]["ci_high"]
    # three standard deviations of a binomial
    assert abs(hits - 360) <= 18


def test_failed_points_are_left_out_and_equal_runs_count_once() -> None:
    found = spread_table(table([1.0, None, 3.0, 3.0], ["a", "b", "c", "c"]), KEYS)
    assert found is not None
    (row,) = found.rows
    assert (row["seeds"], row["mean"]) == (2, 2.0)


def test_one_run_has_no_interval() -> None:
    found = spread_table(table([4.0]), KEYS)
    assert found is not None
    (row,) = found.rows
    assert (row["mean"], row.get("std"), row.get("ci_low")) == (4.0, None, None)
    assert found.to_csv().splitlines()[1] == "1Gbps,1000000000,time_us,1,4.0,,4.0,4.0,4.0,4.0,4.0,,"


def test_without_seeds_there_is_no_spread() -> None:
    assert spread_table(table([1.0]), ("platform.link_rate",)) is None


@pytest.mark.parametrize("confidence", [0, 1, 95, -0.1])
def test_a_confidence_that_is_none(confidence: float) -> None:
    with pytest.raises(ConfigError, match="between 0 and 1"):
        spread_table(table([1.0]), KEYS, confidence)
