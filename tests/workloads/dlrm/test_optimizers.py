# SPDX-License-Identifier: GPL-2.0-only
"""Bytes that optimisers move, by hand, and the time that it takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from astra_py.errors import ConfigError
from astra_py.workloads.dlrm.optimizers import (
    DENSE_OPTIMIZERS,
    EMBEDDING_OPTIMIZERS,
    dense_step_bytes,
    row_update_bytes,
)
from dlrm_cases import job

A100_BPS = 1555e9 * 0.836


@pytest.mark.parametrize(
    ("optimizer", "fp32", "fp16"), [("none", 0, 0), ("sgd", 12, 6), ("adagrad", 20, 14), ("adam", 28, 22)]
)
def test_bytes_of_a_dense_weight(optimizer: str, fp32: int, fp16: int) -> None:
    # gradient in, weight in, weight out; each state of 4 B in and out
    assert dense_step_bytes(optimizer, 100, 4) == 100 * fp32
    assert dense_step_bytes(optimizer, 100, 2) == 100 * fp16


@pytest.mark.parametrize(
    ("optimizer", "moved"),
    [
        ("one_pass", 128),
        ("sgd", 256),
        ("row_wise_adagrad", 256 + 8),
        ("adagrad", 256 + 64 * 8),
        ("adam", 256 + 64 * 16),
    ],
)
def test_bytes_of_a_row_of_64_elements_of_2_bytes(optimizer: str, moved: int) -> None:
    assert row_update_bytes(optimizer, np.array([64]), np.array([2])).tolist() == [moved]


def test_every_optimizer_of_a_scenario_is_known() -> None:
    for name in DENSE_OPTIMIZERS:
        assert job(2, preset="dlrm_s", optimizer=name).config.optimizer == name
    for name in EMBEDDING_OPTIMIZERS:
        assert job(2, preset="dlrm_s", embedding_optimizer=name).config.embedding_optimizer == name


def test_a_dense_step_takes_its_memorys_time_before_the_next_forward() -> None:
    one = job(2, preset="dlrm_s", optimizer="adam", iterations=3)
    assert one.step_ps["bottom_0"] == round(512 * 512 * 28 / A100_BPS * 1e12)
    without = job(2, preset="dlrm_s", iterations=3)
    # the first iteration trains the weights that it was given
    more = one.trace.compute_ps() - without.trace.compute_ps()
    assert more.tolist() == [2 * sum(one.step_ps.values())] * 2
    assert job(2, preset="dlrm_s", optimizer="adam", compute_scale=2).step_ps["bottom_0"] == 2 * one.step_ps["bottom_0"]
    assert "no time for: biases, projections, the" in without.notes[3]
    assert one.notes[3].endswith("no time for: biases, projections")


def test_micro_batches_take_one_step() -> None:
    halves = [job(2, preset="dlrm_s", optimizer=name, micro_batches=2, iterations=3) for name in ("sgd", "none")]
    more = halves[0].trace.compute_ps() - halves[1].trace.compute_ps()
    assert more.tolist() == [2 * sum(halves[0].step_ps.values())] * 2


def test_an_update_of_tables_takes_its_memorys_time() -> None:
    once, twice = (job(2, preset="dlrm_s", embedding_optimizer=name).times for name in ("one_pass", "sgd"))
    assert np.allclose(twice.update_ps, 2 * once.update_ps, atol=1)
    assert twice.lookup_ps.tolist() == once.lookup_ps.tolist()


@pytest.mark.parametrize("wanted", [{"optimizer": "sgd"}, {"embedding_optimizer": "adam"}])
def test_fixed_times_have_their_optimizer_in_them(wanted: dict[str, Any]) -> None:
    key, value = next(iter(wanted.items()))
    with pytest.raises(ConfigError, match=f"workload.{key} = '{value}' would mean nothing: preset astra2020 fixes"):
        _ = job(16, preset="astra2020", **wanted).trace
