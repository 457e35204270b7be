# SPDX-License-Identifier: GPL-2.0-only
"""The sharder: every table once, memory respected, costs balanced as far as longest-first promises."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import ceil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astra_py.config.workload import dlrm_presets
from astra_py.errors import WorkloadError
from astra_py.workloads.dlrm import DlrmModel, Plan, Tier, read_dlrm, shard_table_wise, table_costs
from dlrm_cases import SMALL, table, with_tables

PLENTY = 2**50


@st.composite
def models(draw: st.DrawFn, most_tables: int = 40) -> DlrmModel:
    figures = st.tuples(
        st.integers(1, 10**6),
        st.integers(1, 512),
        st.floats(0.1, 200, allow_nan=False),
        st.sampled_from(["fp16", "fp32"]),
    )
    drawn = draw(st.lists(figures, min_size=1, max_size=most_tables))
    return with_tables(
        *(
            table(f"t{i}", rows=rows, dim=dim, pooling=pooling, dtype=dtype)
            for i, (rows, dim, pooling, dtype) in enumerate(drawn)
        )
    )


def loads(plan: Plan) -> list[int]:
    total = [0] * plan.ranks
    for owner, cost in zip(plan.rank.tolist(), table_costs(plan.model), strict=True):
        total[owner] += cost
    return total


@given(model=models(), ranks=st.integers(1, 20))
def test_every_table_is_placed_once_and_sums_agree(model: DlrmModel, ranks: int) -> None:
    plan = shard_table_wise(model, ranks, PLENTY)
    assert plan.rank.shape == (len(model.tables),)
    assert ((plan.rank >= 0) & (plan.rank < ranks)).all()
    assert plan.rank_shards.sum() == len(model.tables)
    assert plan.rank_dims.sum() == model.sum_of_dims
    assert plan.rank_memory_bytes(Tier.HBM).sum() == sum(t.memory_bytes for t in model.tables)
    assert plan.rank_lookups.sum() == sum(t.lookups(model.local_batch) for t in model.tables)
    rows = sum(t.lookups(model.local_batch) * t.row_bytes for t in model.tables)
    assert plan.rank_lookup_bytes.sum() == rows * ranks


@given(model=models(), ranks=st.integers(1, 20))
def test_greedy_bound(model: DlrmModel, ranks: int) -> None:
    # Graham, 1969: no list schedule is above the mean and the last task beside it.
    costs = table_costs(model)
    largest = max(loads(shard_table_wise(model, ranks, PLENTY)))
    assert ranks * largest <= sum(costs) + (ranks - 1) * max(costs)


@settings(deadline=None)
@given(model=models(most_tables=6), ranks=st.integers(1, 3))
def test_longest_first_is_within_four_thirds_of_the_best(model: DlrmModel, ranks: int) -> None:
    costs = table_costs(model)
    best = min(
        max(sum(c for c, owner in zip(costs, owners, strict=True) if owner == rank) for rank in range(ranks))
        for owners in product(range(ranks), repeat=len(costs))
    )
    assert 3 * ranks * max(loads(shard_table_wise(model, ranks, PLENTY))) <= (4 * ranks - 1) * best


@given(model=models(), ranks=st.integers(1, 8), slack=st.floats(1, 3))
def test_memory_is_respected_or_the_plan_refused(model: DlrmModel, ranks: int, slack: float) -> None:
    mean = sum(t.memory_bytes for t in model.tables) / ranks
    room = max(ceil(slack * mean), max(t.memory_bytes for t in model.tables))
    try:
        plan = shard_table_wise(model, ranks, room + 2 * model.dense_weights_bytes)
    except WorkloadError as error:
        assert "finds no rank with room" in str(error)  # noqa: PT017  (either outcome is right)
    else:
        assert (plan.rank_memory_bytes(Tier.HBM) <= room).all()


def test_the_plan_is_the_costliest_table_first_by_hand() -> None:
    # wire bytes of a rank's 10 samples: dims x 4 B x 10, lookups x 8 B, lengths x 4 B; looked up: lookups x dim x 2 B
    a = (10 * 8 * 4 + 30 * 8 + 40, 30 * 16)
    b = (10 * 16 * 4 + 10 * 8 + 40, 10 * 32)
    c = (10 * 8 * 4 + 50 * 8 + 40, 50 * 16)
    wire, read = (sum(figures) for figures in zip(a, b, c, strict=True))
    assert table_costs(SMALL) == [w * read + r * wire for w, r in (a, b, c)]
    plan = shard_table_wise(SMALL, 2, PLENTY)
    assert plan.rank.tolist() == [1, 1, 0]
    assert plan.rank_dims.tolist() == [8, 24]
    assert plan.rank_lookups.tolist() == [50, 40]
    assert plan.imbalance == 3
    assert plan.memory_bytes.tolist() == [16_000, 32_000, 16_000]


def test_ranks_without_a_table() -> None:
    plan = shard_table_wise(SMALL, 5, PLENTY)
    assert sorted(plan.rank_shards.tolist()) == [0, 0, 1, 1, 1]
    assert plan.imbalance == float("inf")


def test_equal_tables_go_round() -> None:
    plan = shard_table_wise(with_tables(*(table(f"t{i}") for i in range(7))), 3, PLENTY)
    assert plan.rank.tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert np.array_equal(plan.rank, shard_table_wise(plan.model, 3, PLENTY).rank)


def test_what_does_not_fit_is_refused() -> None:
    dense = 2 * SMALL.dense_weights_bytes
    with pytest.raises(WorkloadError, match=r"small.toml: table 'b' needs 32,000 B of memory, and an acc.* splits no"):
        shard_table_wise(SMALL, 100, 31_999 + dense)
    with pytest.raises(WorkloadError, match=r"3 tables need 64,000 B of memory on 1 ranks.* at least 2 ranks"):
        shard_table_wise(SMALL, 1, 63_999 + dense)
    # 3 x 16,000 B on two ranks of 24,000 B: the sum fits, the third table does not
    thirds = with_tables(*(table(f"t{i}") for i in range(3)))
    dense = 2 * thirds.dense_weights_bytes
    with pytest.raises(WorkloadError, match=r"table 't2' of 16,000 B finds no rank with room: .* is left is 8,000 B"):
        shard_table_wise(thirds, 2, 24_000 + dense)
    assert shard_table_wise(thirds, 3, 24_000 + dense).rank_shards.tolist() == [1, 1, 1]


def test_a_full_rank_is_passed_over() -> None:
    # the cheap large table would go to the less loaded rank 1, which has no room for it
    model = with_tables(
        table("hot", rows=100, pooling=90), table("warm", rows=1000, pooling=50), table("cold", rows=1000, pooling=1)
    )
    room = 17_000 + 2 * model.dense_weights_bytes
    assert shard_table_wise(model, 2, PLENTY).rank.tolist() == [0, 1, 1]
    assert shard_table_wise(replace(model, local_batch=10), 2, room + 600).rank.tolist() == [0, 1, 0]


def test_figures_outside_64_bits_are_refused() -> None:
    plan = shard_table_wise(replace(with_tables(table(pooling=2**20, dim=2**16)), local_batch=2**20), 64, PLENTY)
    with pytest.raises(WorkloadError, match=r"add up to more than 2\^63 - 1 on 64 ranks"):
        _ = plan.rank_lookup_bytes


def test_production_size() -> None:
    plan = shard_table_wise(read_dlrm(dlrm_presets()["dlrm_a_net"]), 128, 40 * 10**9)
    assert sorted(set(plan.rank_shards.tolist())) == [7, 8]
    assert plan.imbalance == pytest.approx(8 / 7)
