# SPDX-License-Identifier: GPL-2.0-only
"""Compute times against closed forms and published figures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from astra_py.errors import ConfigError
from astra_py.hardware import Accelerator, accelerator
from astra_py.workloads.dlrm import Roofline, Sharding, fixed_times, roofline_times, shard_table_wise
from dlrm_cases import A100, SMALL, job
from plan_cases import even_rows, plan_of

IDEAL = Roofline(accelerator=A100, flops_efficiency=1.0, memory_efficiency=1.0)
FITTED = Roofline(accelerator=A100, flops_efficiency=0.705, memory_efficiency=0.836)


def test_the_slower_of_arithmetic_and_memory() -> None:
    assert IDEAL.time_ps(156, 0, "tf32") == 1
    assert IDEAL.time_ps(0, 1555, "tf32") == 1000
    assert IDEAL.time_ps(156 * 999, 1555, "tf32") == 1000
    assert IDEAL.time_ps(156 * 1001, 1555, "tf32") == 1001
    assert FITTED.time_ps(156 * 705, 0, "tf32") == 1000
    assert FITTED.time_ps(0, 1555 * 836, "tf32") == 1_000_000


def test_a_dense_layer_by_hand() -> None:
    times = roofline_times(shard_table_wise(SMALL, 2, 2**40), FITTED)
    # 40 x 4 weights and 10 samples of 40 + 4 activations, 4 B each: memory-bound
    memory_ps = (40 * 4 + 10 * 44) * 4 / (1555e9 * 0.836) * 1e12
    assert memory_ps > 2 * 10 * 40 * 4 / (156e12 * 0.705) * 1e12
    top = times.top[0]
    for each in (top.forward_ps, top.weight_gradient_ps, top.input_gradient_ps):
        assert each.tolist() == [round(memory_ps)] * 2
    # concatenation: 8 + 32 elements in, 40 out
    for each in (times.interaction_forward_ps, times.interaction_backward_ps):
        assert each.tolist() == [round(10 * 80 * 4 / (1555e9 * 0.836) * 1e12)] * 2


def test_a_dot_product_computes() -> None:
    one = job(1, preset="dlrm_s", local_batch=2048)
    slow = replace(A100, memory_bandwidth_Bps=10**18)
    times = roofline_times(one.plan, Roofline(accelerator=slow, flops_efficiency=0.5, memory_efficiency=1.0))
    assert times.interaction_forward_ps == round(2 * 2048 * 9 * 9 * 64 / (19.5e12 * 0.5) * 1e12)
    assert times.interaction_backward_ps == round(4 * 2048 * 9 * 9 * 64 / (19.5e12 * 0.5) * 1e12)


def test_lookups_of_dlrm_a_net_on_128_gpus() -> None:
    one = job(128, preset="dlrm_a_net")
    # a GPU's share of 65,536 samples x 90,210 dims x 64 rows x 2 B is 5.91 GB, read once and updated once
    share = 512 * 90_210 * 64 * 2
    pass_ms = share / (1555e9 * 0.836) * 1e3
    assert pass_ms == pytest.approx(4.548, abs=5e-4)
    assert one.times.lookup_ps.mean() / 1e9 == pytest.approx(pass_ms, rel=1e-9)
    embedding_ms = (one.times.lookup_ps + one.times.update_ps).mean() / 1e9
    assert round(embedding_ms, 2) == 9.10
    # 970 tables do not divide by 128: the slowest GPU has 8 of them, and no plan has fewer there
    assert one.times.lookup_ps.max() / one.times.lookup_ps.mean() == pytest.approx(8 * 128 / 970)


def test_dense_layers_of_dlrm_a_net_take_the_published_time() -> None:
    dense = job(128, preset="dlrm_a_net").times.dense_ps
    assert np.round(dense / 1e9, 2).tolist() == [8.91] * 128


def test_times_of_a_file_are_taken_as_they_are() -> None:
    one = job(4, preset="astra2020")
    dense = 19_020 + 19_014 + 13_644 - 900  # ns: the file's three passes without the embedding's
    assert one.times.dense_ps.tolist() == [dense * 1000] * 4
    assert one.times.lookup_ps.tolist() == [300_000] * 4
    assert one.times.update_ps.tolist() == [600_000] * 4


def test_scale() -> None:
    once, twice = (job(3, preset="dlrm_s", compute_scale=scale).times for scale in (1, 2.5))
    assert np.allclose(twice.lookup_ps, 2.5 * once.lookup_ps, atol=1)
    assert np.allclose(twice.update_ps, 2.5 * once.update_ps, atol=1)
    assert twice.interaction_forward_ps == pytest.approx(2.5 * once.interaction_forward_ps, abs=1)
    assert twice.interaction_backward_ps == pytest.approx(2.5 * once.interaction_backward_ps, abs=1)
    assert twice.dense_ps == pytest.approx(2.5 * once.dense_ps, abs=20)


def in_host_memory(made: Accelerator, share: int | None) -> Roofline:
    return replace(FITTED, accelerator=made, host_memory_bandwidth_Bps=share)


def test_lookups_in_host_memory_cross_pcie() -> None:
    # on rank 0 of 2: table a of 30 lookups in rows of 16 B, for the 20 samples of both ranks
    ways = [Sharding.TABLE_WISE] * 3
    plan = plan_of(SMALL, 2, ways, [(0, 0), (1, 1), (2, 1)], host=True)
    size = 2 * 30 * 16
    for made, share, rate in (
        (A100, 25 * 10**9, 25e9),  # the host's memory is slower than PCIe 4.0
        (A100, 40 * 10**9, 32e9),
        (A100, None, 32e9),
        (replace(A100, host_link_bandwidth_Bps=accelerator("V100").host_link_bandwidth_Bps), 25 * 10**9, 16e9),
        (accelerator("H100"), 100 * 10**9, 64e9),
    ):
        times = roofline_times(plan, in_host_memory(made, share))
        assert times.lookup_ps[0] == times.update_ps[0] == round(size / (rate * 0.836) * 1e12)
    own = roofline_times(plan_of(SMALL, 2, ways, [(0, 0), (1, 1), (2, 1)]), FITTED)
    assert own.lookup_ps[0] == round(size / (1555e9 * 0.836) * 1e12)


def test_both_memories_one_after_the_other() -> None:
    ways = [Sharding.TABLE_WISE] * 3
    shards = [(0, 0), (1, 1), (2, 0)]
    own, host = (plan_of(SMALL, 2, ways, shards, host=is_host) for is_host in (False, True))
    mixed = replace(own, tier=np.array([1, 0, 0]))
    at = in_host_memory(A100, 25 * 10**9)
    a = roofline_times(host, at).lookup_ps[0] * 30 / 80
    c = roofline_times(own, at).lookup_ps[0] * 50 / 80
    assert roofline_times(mixed, at).lookup_ps[0] == pytest.approx(a + c, abs=2)


def test_shards_of_a_table_look_up_what_the_table_does() -> None:
    rows = plan_of(SMALL, 2, [Sharding.ROW_WISE] * 3, [each for t in range(3) for each in even_rows(t, 1000, (0, 1))])
    whole = plan_of(SMALL, 2, [Sharding.TABLE_WISE] * 3, [(0, 0), (1, 0), (2, 0)])
    assert roofline_times(rows, FITTED).lookup_ps.sum() == pytest.approx(
        roofline_times(whole, FITTED).lookup_ps[0], abs=2
    )
    replicas = roofline_times(plan_of(SMALL, 2, [Sharding.DATA_PARALLEL] * 3, []), FITTED)
    assert replicas.lookup_ps.tolist() == replicas.update_ps.tolist() == [0, 0]
    # of one rank's samples alone
    assert replicas.replica_ps.tolist() == pytest.approx([roofline_times(whole, FITTED).lookup_ps[0] / 2] * 2, abs=1)


def test_replicas_are_looked_up_in_the_memory_that_has_them() -> None:
    # 10 samples of rank 0 and 20 of rank 1; rows of 16, 32 and 16 B, 3, 1 and 5 of each sample
    replicas = plan_of(SMALL, 2, [Sharding.DATA_PARALLEL] * 3, [])
    at = in_host_memory(A100, 25 * 10**9)
    own_Bps, host_Bps = 1555e9 * 0.836, 25e9 * 0.836  # noqa: N806
    batch = np.array([10, 20])
    sample_bytes = 3 * 16 + 32 + 5 * 16
    own = [round(samples * sample_bytes / own_Bps * 1e12) for samples in batch]
    assert roofline_times(replicas, at, batch).replica_ps.tolist() == own
    on_host = replace(replicas, tier=np.where(replicas.rank == 1, 1, 0))
    host = round(20 * sample_bytes / host_Bps * 1e12)
    assert roofline_times(on_host, at, batch).replica_ps.tolist() == [own[0], host]


def test_a_rank_with_more_samples_takes_longer() -> None:
    plan = shard_table_wise(SMALL, 2, 2**40)
    times = roofline_times(plan, FITTED, np.array([20, 10]))
    once, twice = (roofline_times(plan, FITTED, np.array([b, b])) for b in (10, 20))
    assert times.top[0].forward_ps.tolist() == [twice.top[0].forward_ps[0], once.top[0].forward_ps[1]]
    assert times.interaction_forward_ps.tolist() == [
        twice.interaction_forward_ps[0],
        once.interaction_forward_ps[1],
    ]
    # tables are looked up for both
    assert times.lookup_ps.tolist() == pytest.approx(1.5 * once.lookup_ps, abs=1)


def test_a_part_of_a_fixed_batch_takes_its_share() -> None:
    model = job(2, preset="astra2020").model
    assert model.times is not None
    times = fixed_times(model.times, np.array([48, 12]), 48)
    assert times.lookup_ps.tolist() == [300_000, 75_000]
    assert times.dense_ps.tolist() == [4 * times.dense_ps[1], times.dense_ps[1]]


def test_an_accelerator_without_the_type_is_an_error() -> None:
    with pytest.raises(ConfigError, match="A100-40 has no peak for type 'fp8'"):
        IDEAL.time_ps(1, 0, "fp8")
