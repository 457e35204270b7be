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
from astra_py.workloads.dlrm.roofline import Roofline
from astra_py.workloads.dlrm.sharding import Sharding
from astra_py.workloads.dlrm.step_times import dense_step_times
from dlrm_cases import A100, job, table, with_tables
from plan_cases import plan_of

FITTED = Roofline(accelerator=A100, flops_efficiency=0.705, memory_efficiency=0.836)
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
    assert one.step_ps["bottom_0"].tolist() == [round(512 * 512 * 28 / A100_BPS * 1e12)] * 2
    without = job(2, preset="dlrm_s", iterations=3)
    # the first iteration trains the weights that it was given
    more = one.trace.compute_ps() - without.trace.compute_ps()
    assert more.tolist() == (2 * np.sum(list(one.step_ps.values()), axis=0)).tolist()
    twice = job(2, preset="dlrm_s", optimizer="adam", compute_scale=2)
    assert twice.step_ps["bottom_0"].tolist() == (2 * one.step_ps["bottom_0"]).tolist()
    assert "no time for: biases, projections, the" in without.notes[3]
    assert one.notes[3].endswith("no time for: biases, projections")


def test_micro_batches_take_one_step() -> None:
    halves = [job(2, preset="dlrm_s", optimizer=name, micro_batches=2, iterations=3) for name in ("sgd", "none")]
    more = halves[0].trace.compute_ps() - halves[1].trace.compute_ps()
    assert more.tolist() == (2 * np.sum(list(halves[0].step_ps.values()), axis=0)).tolist()


def test_data_parallel_tables_take_their_step_whatever_they_are_called() -> None:
    """Each rank steps each of its replicas, in the memory that has it, and no layer takes the time of a table."""
    replicas = with_tables(table("bottom_0", rows=1000, dim=8), table("replicas", rows=500, dim=16, dtype="fp32"))
    plan = plan_of(replicas, 2, [Sharding.DATA_PARALLEL] * 2, [])
    steps = dense_step_times(plan, "adagrad", FITTED)
    bytes_moved = 8000 * (3 * 2 + 8) + 8000 * (3 * 4 + 8)
    assert steps["replicas"].tolist() == [round(bytes_moved / A100_BPS * 1e12)] * 2
    assert steps["bottom_0"].tolist() == [round(13 * 8 * (3 * 4 + 8) / A100_BPS * 1e12)] * 2
    host = plan_of(replicas, 2, [Sharding.DATA_PARALLEL] * 2, [], host=True)
    in_host = dense_step_times(host, "adagrad", FITTED)
    assert in_host["replicas"].tolist() == [round(bytes_moved / (FITTED.host_bandwidth_Bps * 0.836) * 1e12)] * 2
    assert dense_step_times(plan, "none", FITTED) == {}


def test_a_jobs_trace_steps_its_data_parallel_tables() -> None:
    one = job(2, preset="dlrm_s", optimizer="sgd", sharding="data_parallel", iterations=3)
    assert one.step_ps["replicas"].tolist() == [round(8 * 10**6 * 64 * 3 * 4 / A100_BPS * 1e12)] * 2
    names = [one.trace.names[name] for name, rank in zip(one.trace.name, one.trace.rank, strict=True) if rank == 0]
    assert names.count("replicas.step") == 2


def test_an_update_of_tables_takes_its_memorys_time() -> None:
    once, twice = (job(2, preset="dlrm_s", embedding_optimizer=name).times for name in ("one_pass", "sgd"))
    assert np.allclose(twice.update_ps, 2 * once.update_ps, atol=1)
    assert twice.lookup_ps.tolist() == once.lookup_ps.tolist()


@pytest.mark.parametrize("wanted", [{"optimizer": "sgd"}, {"embedding_optimizer": "adam"}])
def test_fixed_times_have_their_optimizer_in_them(wanted: dict[str, Any]) -> None:
    key, value = next(iter(wanted.items()))
    with pytest.raises(ConfigError, match=f"workload.{key} = '{value}' would mean nothing: preset astra2020 fixes"):
        _ = job(16, preset="astra2020", **wanted).trace
