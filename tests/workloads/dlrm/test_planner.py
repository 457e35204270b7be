# SPDX-License-Identifier: GPL-2.0-only
"""The planner, and the closed forms by which it weighs plans."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astra_py.errors import WorkloadError
from astra_py.workloads.dlrm import DlrmModel, Memory, Plan, Sharding, Tier, shard
from astra_py.workloads.dlrm.memory import activation_bytes, require_room
from astra_py.workloads.dlrm.sharders import Division, Rates, divide, find_plan, plan_seconds
from astra_py.workloads.dlrm.sharders.estimate import part_seconds
from astra_py.workloads.dlrm.table_generator import TableGenerator
from dlrm_cases import SMALL, table, with_tables

RATES = Rates(hbm_Bps=1e12, host_Bps=2e10, inside_Bps=3e11, between_Bps=1.25e10)
MEMORY = Memory(hbm_bytes=40 * 10**9, machines=np.arange(8, dtype=np.int32) // 4)


def drawn(seed: int, count: int = 12) -> DlrmModel:
    return replace(SMALL, tables=tuple(TableGenerator(count=count, seed=seed, dims=(128, 256, 512)).tables()))


def seconds(plan: Plan) -> float:
    return plan_seconds(plan, MEMORY.machines, RATES)


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 1000), count=st.integers(1, 20))
def test_proposals_are_sorted_and_fit_and_rows_for_all_are_not_better(seed: int, count: int) -> None:
    model = drawn(seed, count)
    found = find_plan(model, MEMORY, RATES)
    assert [each.seconds for each in found] == sorted(each.seconds for each in found)
    rows = shard(model, MEMORY, sharding=Sharding.ROW_WISE)
    assert found[0].seconds <= seconds(rows) * (1 + 1e-9)
    require_room(found[0].plan, MEMORY)


def test_the_busiest_ranks_table_is_tried_in_other_ways() -> None:
    found = find_plan(drawn(9), MEMORY, RATES)
    assert "; table_8 column_wise" in found[0].title
    assert found[0].seconds < min(each.seconds for each in found if ";" not in each.title)


def test_small_tables_go_everywhere_and_wide_ones_are_divided() -> None:
    # indices and vectors of a tiny table are some 5,000 B to each of 7 ranks, the all-reduce of its gradient 640 B
    tiny = (table(f"tiny_{i}", rows=10, dim=32, pooling=50) for i in range(16))
    model = with_tables(table("wide", rows=10**6, dim=1024, pooling=50), *tiny)
    best = find_plan(model, MEMORY, RATES)[0].plan
    assert best.sharding[0] in (Sharding.COLUMN_WISE, Sharding.TABLE_ROW_WISE)
    assert set(best.sharding[1:]) == {Sharding.DATA_PARALLEL}


def test_what_fits_in_no_way_is_refused() -> None:
    model = with_tables(table("huge", rows=2**40, dim=8))
    with pytest.raises(WorkloadError, match=r"small.toml: .*a host tier"):
        find_plan(model, MEMORY, RATES)


def test_closed_forms_by_hand() -> None:
    # table a on rank 0: 10 samples of each of 8 ranks look up 30 rows; 3 ranks beside it inside, 4 in the other machine
    model = with_tables(table("a", pooling=3))
    plan = Plan.table_wise(model, 8, np.array([0]))
    asked = 30 * 8 + 10 * 4
    vectors = 10 * 8 * (2 + 2)
    wire = (asked + vectors) * (4 / 1.25e10 + 3 / 3e11)
    assert seconds(plan) == pytest.approx(wire + 2 * 8 * 30 * 16 / 1e12)
    (cost,) = part_seconds(divide(model, MEMORY, [Division(Sharding.TABLE_WISE)]), RATES)
    assert cost == pytest.approx(seconds(plan))
    # by rows over the four ranks of a machine: three quarters of 8 x 10 x 8 elements inside, as many samples passed on
    rows = shard(model, MEMORY, sharding=Sharding.TABLE_ROW_WISE)
    lookups = [8, 7, 8, 7]  # 30 rows in four blocks of 250
    asked = max(lookups) * 8 + 10 * 4
    summed = (3 / 4 * 8 * 10 * 8 / 3e11 + 4 / 4 * 10 * 8 / 1.25e10) * (2 + 2)
    wire = asked * (4 / 1.25e10 + 3 / 3e11) + summed
    assert sorted(rows.lookups(10).tolist()) == sorted(lookups)
    assert seconds(rows) == pytest.approx(wire + 2 * 8 * max(lookups) * 16 / 1e12)
    # everywhere: nothing but the all-reduce of 16,000 B, and a rank's own lookups
    replicas = shard(model, MEMORY, sharding=Sharding.DATA_PARALLEL)
    assert seconds(replicas) == pytest.approx(2 * 7 / 8 * 16_000 / 1.25e10 + 2 * 30 * 16 / 1e12)


def test_lookups_in_host_memory_cost_more() -> None:
    parts = divide(SMALL, MEMORY, [Division(Sharding.TABLE_WISE)] * 3)
    near, far = part_seconds(parts, RATES), part_seconds(parts, RATES, np.array([True, False, False]))
    assert far[0] - near[0] == pytest.approx(2 * 8 * 30 * 16 * (1 / 2e10 - 1 / 1e12))
    assert (far[1:] == near[1:]).all()


def test_what_is_looked_up_most_is_nearest() -> None:
    model = with_tables(table("cold", pooling=1), table("hot", pooling=40), table("warm", pooling=20))
    other = 2 * model.dense_weights_bytes + activation_bytes(model)
    memory = Memory(hbm_bytes=32_000 + other, machines=np.zeros(1, dtype=np.int32), host_bytes=16_000)
    assert shard(model, memory).tier_is(Tier.HOST).tolist() == [True, False, False]


def test_a_machine_s_host_and_its_ranks_memory_are_not_filled_twice() -> None:
    # two machines whose hosts have room for one table each
    model = with_tables(*(table(f"t{i}") for i in range(2)))
    other = 2 * model.dense_weights_bytes + activation_bytes(model)
    hosts = Memory(hbm_bytes=1 + other, machines=np.array([0, 0, 0, 1], dtype=np.int32), host_bytes=16_000)
    for sharder in ("greedy", "karmarkar_karp"):
        plan = shard(model, hosts, sharder=sharder)
        assert sorted(hosts.machines[plan.rank].tolist()) == [0, 1]
    # a hot table and two cold ones by rows: costs would put the cold ones together, where there is room for one
    model = with_tables(table("hot", pooling=90), table("cold_0", pooling=1), table("cold_1", pooling=1), table("mild"))
    other = 2 * model.dense_weights_bytes + activation_bytes(model)
    pairs = Memory(hbm_bytes=2 * 8_000 + other, machines=np.array([0, 0, 1, 1], dtype=np.int32))
    plan = shard(model, pairs, sharding=Sharding.TABLE_ROW_WISE)
    assert plan.rank_memory_bytes(Tier.HBM).tolist() == [16_000] * 4
