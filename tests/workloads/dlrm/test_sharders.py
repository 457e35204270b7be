# SPDX-License-Identifier: GPL-2.0-only
"""The sharders: every cell held once, memory respected, costs balanced as far as each rule promises."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import ceil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astra_py.config.workload import dlrm_presets
from astra_py.errors import WorkloadError
from astra_py.workloads.dlrm import DlrmModel, Memory, Plan, Sharding, Tier, read_dlrm, shard, shard_table_wise
from astra_py.workloads.dlrm.memory import activation_bytes, require_room
from astra_py.workloads.dlrm.sharders import PLACERS, Division, divide, share_costs
from astra_py.workloads.dlrm.sharders.karmarkar_karp import _differenced
from dlrm_cases import SMALL, table, with_tables

PLENTY = 2**50
SHARDERS = sorted(PLACERS)


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


def memory(ranks: int, hbm_bytes: int = PLENTY, *, a_machine: int = 1, host_bytes: int = 0, **more: str) -> Memory:
    machines = np.arange(ranks, dtype=np.int32) // a_machine
    return Memory(hbm_bytes=hbm_bytes, machines=machines, host_bytes=host_bytes, **more)


def other_bytes(model: DlrmModel) -> int:
    """What is taken of an accelerator's memory beside tables, without an optimiser's state."""
    return 2 * model.dense_weights_bytes + activation_bytes(model)


def table_costs(model: DlrmModel) -> list[int]:
    whole = Division(Sharding.TABLE_WISE)
    return share_costs(divide(model, memory(1), [whole] * len(model.tables)))


def loads(plan: Plan) -> list[int]:
    total = [0] * plan.ranks
    for owner, cost in zip(plan.rank.tolist(), table_costs(plan.model), strict=True):
        total[owner] += cost
    return total


@given(
    model=models(most_tables=12),
    machines=st.integers(1, 4),
    a_machine=st.integers(1, 4),
    sharder=st.sampled_from(SHARDERS),
    sharding=st.sampled_from(list(Sharding)),
    least=st.integers(1, 200),
)
def test_cells_are_conserved(
    model: DlrmModel, machines: int, a_machine: int, sharder: str, sharding: Sharding, least: int
) -> None:
    ranks = machines * a_machine
    where = memory(ranks, a_machine=a_machine)
    plan = shard(model, where, sharder=sharder, sharding=sharding, min_shard_dim=least)
    copies = ranks if sharding is Sharding.DATA_PARALLEL else 1
    cells = sum(t.rows * t.dim for t in model.tables)
    assert (plan.rows * plan.dims).sum() == copies * cells
    assert plan.memory_bytes.sum() == copies * sum(t.memory_bytes for t in model.tables)
    asked = sum(t.lookups(model.local_batch) for t in model.tables)
    if sharding is Sharding.COLUMN_WISE:
        assert plan.rank_lookups.sum() >= asked
        assert (plan.dims >= [min(least, plan.table_of(i).dim) for i in range(len(plan.dims))]).all()
    else:
        assert plan.lookups(model.local_batch).sum() == copies * asked
    if sharding is Sharding.TABLE_ROW_WISE:
        for index in range(len(model.tables)):
            assert len(set(where.machines[plan.rank[plan.table == index]].tolist())) == 1


@given(model=models(), ranks=st.integers(1, 20), sharder=st.sampled_from(SHARDERS))
def test_every_table_is_placed_once_and_sums_agree(model: DlrmModel, ranks: int, sharder: str) -> None:
    plan = shard(model, memory(ranks), sharder=sharder)
    assert plan.rank.shape == (len(model.tables),)
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
@given(model=models(most_tables=6), ranks=st.integers(1, 3), sharder=st.sampled_from(SHARDERS))
def test_both_are_within_four_thirds_of_the_best(model: DlrmModel, ranks: int, sharder: str) -> None:
    # 4/3 - 1/(3 ranks): Graham, 1969, of longest first; Michiels et al., 2012, of largest differencing
    costs = table_costs(model)
    best = min(
        max(sum(c for c, owner in zip(costs, owners, strict=True) if owner == rank) for rank in range(ranks))
        for owners in product(range(ranks), repeat=len(costs))
    )
    assert 3 * ranks * max(loads(shard(model, memory(ranks), sharder=sharder))) <= (4 * ranks - 1) * best


def test_differencing_by_hand() -> None:
    # 8 - 7 = 1 and 6 - 5 = 1, then 4 - 1 = 3 and 3 - 1 = 2: two ranks with 8 + 6 and 7 + 5 + 4
    assert [sorted(subset) for subset in _differenced([8, 7, 6, 5, 4], 2)] == [[1, 3, 4], [0, 2]]
    costs = [5, 5, 4, 4, 3, 3, 3]  # longest first leaves 5 + 3 + 3 on one of three ranks
    assert [sum(costs[i] for i in subset) for subset in _differenced(costs, 3)] == [10, 9, 8]
    assert _differenced([3], 3) == [[0], [], []]


@given(model=models(), ranks=st.integers(1, 8), slack=st.floats(1, 3), sharder=st.sampled_from(SHARDERS))
def test_memory_is_respected_or_the_plan_refused(model: DlrmModel, ranks: int, slack: float, sharder: str) -> None:
    mean = sum(t.memory_bytes for t in model.tables) / ranks
    room = max(ceil(slack * mean), max(t.memory_bytes for t in model.tables))
    try:
        plan = shard(model, memory(ranks, room + other_bytes(model)), sharder=sharder)
    except WorkloadError as error:
        assert "finds no rank with room" in str(error) or "no move or exchange" in str(error)  # noqa: PT017
    else:
        assert (plan.rank_memory_bytes(Tier.HBM) <= room).all()


@given(model=models(), machines=st.integers(1, 4), share=st.floats(0, 1.5), sharder=st.sampled_from(SHARDERS))
def test_what_does_not_fit_is_in_the_hosts(model: DlrmModel, machines: int, share: float, sharder: str) -> None:
    total = sum(t.memory_bytes for t in model.tables)
    room = ceil(share * total / (2 * machines)) + 1
    where = memory(2 * machines, room + other_bytes(model), a_machine=2, host_bytes=2 * total)
    plan = shard(model, where, sharder=sharder)
    require_room(plan, where)
    host = plan.tier_is(Tier.HOST)
    assert plan.memory_bytes.sum() == total
    if total <= room:
        assert not host.any()


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
    other = other_bytes(SMALL)
    with pytest.raises(WorkloadError, match=r"small.toml: table 'b' needs 32,000 B of one rank.*row_wise.*a host tier"):
        shard_table_wise(SMALL, 100, 31_999 + other)
    with pytest.raises(WorkloadError, match=r"3 tables need 64,000 B of memory on 1 ranks.* at least 2 ranks"):
        shard_table_wise(SMALL, 1, 63_999 + other)
    with pytest.raises(WorkloadError, match=r"nothing is left for tables"):
        shard_table_wise(SMALL, 1, other)
    # 3 x 16,000 B on two ranks of 24,000 B: the sum fits, the third table does not
    thirds = with_tables(*(table(f"t{i}") for i in range(3)))
    other = other_bytes(thirds)
    with pytest.raises(WorkloadError, match=r"table 't2' of 16,000 B finds no rank with room: .* is left is 8,000 B"):
        shard_table_wise(thirds, 2, 24_000 + other)
    with pytest.raises(WorkloadError, match=r"largest differencing leaves rank \d with 8,000 B more"):
        shard(thirds, memory(2, 24_000 + other), sharder="karmarkar_karp")
    assert shard_table_wise(thirds, 3, 24_000 + other).rank_shards.tolist() == [1, 1, 1]


def test_a_full_rank_is_passed_over() -> None:
    # the cheap large table would go to the less loaded rank 1, which has no room for it
    model = with_tables(
        table("hot", rows=100, pooling=90), table("warm", rows=1000, pooling=50), table("cold", rows=1000, pooling=1)
    )
    model = replace(model, local_batch=10)
    assert shard_table_wise(model, 2, PLENTY).rank.tolist() == [0, 1, 1]
    assert shard_table_wise(model, 2, 17_600 + other_bytes(model)).rank.tolist() == [0, 1, 0]


def test_differencing_moves_and_exchanges_until_all_fit() -> None:
    # costs would put the two large tables, which nobody looks up much, together
    model = with_tables(
        table("hot", rows=10, pooling=100),
        table("large_0", rows=1000, pooling=1),
        table("large_1", rows=1000, pooling=1),
    )
    free = shard(model, memory(2), sharder="karmarkar_karp")
    assert free.rank[1] == free.rank[2] != free.rank[0]
    limited = shard(model, memory(2, 17_000 + other_bytes(model)), sharder="karmarkar_karp")
    assert limited.rank[1] != limited.rank[2]


def test_memory_counts_the_optimisers_state_and_replicas_gradients() -> None:
    # table a: 1,000 rows x 8 columns of 2 bytes
    a = with_tables(table("a"))
    for optimizer, state in {"sgd": 0, "row_wise_adagrad": 4_000, "adagrad": 32_000, "adam": 64_000}.items():
        where = memory(2, optimizer=optimizer)
        assert where.plan_bytes(shard(a, where)).tolist() == [16_000 + state]
        # replicas are trained by the dense optimiser
        as_dense = memory(2, dense_optimizer="adam", optimizer=optimizer)
        replicas = shard(a, as_dense, sharding=Sharding.DATA_PARALLEL)
        assert as_dense.plan_bytes(replicas).tolist() == [32_000 + 64_000] * 2
        assert where.plan_bytes(replicas).tolist() == [32_000] * 2
    weights = (13 * 8 + 40 * 4 + 4 * 1) * 4
    assert memory(1, dense_optimizer="adam").dense_bytes(SMALL) == 2 * weights + weights // 4 * 8
    # inputs and outputs of three layers and the interaction in 4 bytes, 32 elements of vectors and gradients in 2 + 2
    assert activation_bytes(SMALL) == 10 * ((13 + 8 + 40 + 4 + 4 + 1 + 40) * 4 + 32 * 4)


def test_a_plan_that_does_not_fit_is_refused() -> None:
    plan = shard_table_wise(SMALL, 2, PLENTY)  # rank 1 has 48,000 B
    require_room(plan, memory(2, 48_000 + other_bytes(SMALL)))
    with pytest.raises(WorkloadError, match=r"puts 48,000 B of tables .* memory of rank 1.* allowed: up to 47,999 B"):
        require_room(plan, memory(2, 47_999 + other_bytes(SMALL)))
    hosts = replace(plan, tier=np.ones(3, dtype=np.uint8))
    with pytest.raises(WorkloadError, match=r"puts 64,000 B .* host memory of machine 0; allowed: up to 60,000 B"):
        require_room(hosts, memory(2, a_machine=2, host_bytes=60_000))


def test_rows_that_do_not_divide_are_in_blocks_as_torchrec_has_them() -> None:
    model = with_tables(table("a", rows=10), table("b", rows=3))
    plan = shard(model, memory(4), sharding=Sharding.ROW_WISE)
    assert plan.rows[plan.table == 0].tolist() == [3, 3, 3, 1]
    assert plan.rank[plan.table == 1].tolist() == [0, 1, 2]
    columns = shard(with_tables(table("a", dim=300)), memory(4), sharding=Sharding.COLUMN_WISE)
    assert columns.dims.tolist() == [152, 148]  # multiples of four
    odd = shard(with_tables(table("a", dim=301)), memory(4), sharding=Sharding.COLUMN_WISE)
    assert odd.dims.tolist() == [151, 150]


def test_figures_outside_64_bits_are_refused() -> None:
    plan = shard_table_wise(replace(with_tables(table(pooling=2**20, dim=2**16)), local_batch=2**20), 64, PLENTY)
    with pytest.raises(WorkloadError, match=r"add up to more than 2\^63 - 1 on 64 ranks"):
        _ = plan.rank_lookup_bytes


def test_production_size() -> None:
    plan = shard_table_wise(read_dlrm(dlrm_presets()["dlrm_a_net"]), 128, 40 * 10**9)
    assert sorted(set(plan.rank_shards.tolist())) == [7, 8]
    assert plan.imbalance == pytest.approx(8 / 7)


def test_24_tb_need_a_host_tier_and_rows() -> None:
    # the figures of DLRM-F: 64 tables of 732 million rows and 256 columns in 2 bytes, 375 GB each
    tables = (table(f"t{i}", rows=732 * 10**6, dim=256, pooling=20) for i in range(64))
    model = replace(with_tables(*tables), local_batch=512)
    with pytest.raises(WorkloadError, match=r"'t0' needs 374.8 GB of one rank.*row_wise.*a host tier"):
        shard(model, memory(128, 40 * 10**9, a_machine=8))
    with pytest.raises(WorkloadError, match=r"64 tables need 23.99 TB of memory on 128 ranks.*a host tier"):
        shard(model, memory(128, 40 * 10**9, a_machine=8), sharding=Sharding.ROW_WISE)
    hosts = memory(128, 40 * 10**9, a_machine=8, host_bytes=1500 * 10**9, optimizer="row_wise_adagrad")
    plan = shard(model, hosts, sharding=Sharding.ROW_WISE)
    require_room(plan, hosts)
    # 40 GB less what else there is holds 13 tables' shards of 2.95 GB
    assert np.unique(plan.table[plan.tier_is(Tier.HBM)]).tolist() == list(range(13))
    assert Fraction(int(plan.rows.sum()), 732 * 10**6) == 64
