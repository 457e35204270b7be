# SPDX-License-Identifier: GPL-2.0-only
"""Bytes per rank and direction of each way to divide a table, against tables computed by hand.

One table at a time of 1,000 rows x 8 with 3 lookups a sample, or 1,000 x 16 with 1, on 4 ranks of 10 samples: indices
of 8 B, lengths of 4 B, vectors of 2 B an element both ways. A table's vector of 8 is 16 B, so those of a rank's samples
are 160 B.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import astra_py as ap
from astra_py.collectives import declared_rank_bytes, lower
from astra_py.errors import WorkloadError
from astra_py.workloads import Trace
from astra_py.workloads.dlrm import (
    Exchanges,
    MicroBatch,
    Plan,
    Roofline,
    Sharding,
    dlrm_trace,
    roofline_times,
    row_groups,
)
from dlrm_cases import A100, table, with_tables
from plan_cases import even_rows, plan_of, plans

RANKS = 4
NARROW = with_tables(table("narrow", pooling=3))
WIDE = with_tables(table("wide", dim=16, pooling=1))
TABLE_WISE, ROW_WISE, COLUMN_WISE, TABLE_ROW_WISE, DATA_PARALLEL = Sharding


def trace_of(plan: Plan, batch: NDArray[np.int64] | None = None) -> Trace:
    exchanges = Exchanges(plan, batch=batch)
    times = roofline_times(plan, Roofline(accelerator=A100, flops_efficiency=1.0, memory_efficiency=1.0), batch)
    return dlrm_trace(exchanges, [MicroBatch(exchanges, times)], iterations=1)


def sent(plan: Plan, name: str, batch: NDArray[np.int64] | None = None) -> tuple[list[int], list[int]]:
    """Bytes that each rank sends and receives in all collectives of a name, whatever the algorithm."""
    trace = trace_of(plan, batch)
    calls = [call for call in trace.calls if call.name == name]
    out, into = np.zeros(plan.ranks, dtype=np.int64), np.zeros(plan.ranks, dtype=np.int64)
    for call in calls:
        group = np.array(call.group)
        if call.matrix is not None:
            travels = call.matrix - np.diag(np.diagonal(call.matrix))
            out[group] += travels.sum(axis=1)
            into[group] += travels.sum(axis=0)
        else:
            # n - 1 n-ths of the whole array are for, and come from, the others
            assert call.size_bytes is not None
            assert call.size_bytes % len(group) == 0
            share = call.size_bytes // len(group) * (len(group) - 1)
            out[group] += share * (2 if call.kind == "all_reduce" else 1)
            into[group] += share * (2 if call.kind == "all_reduce" else 1)
    return out.tolist(), into.tolist()


def names(plan: Plan) -> list[tuple[str, str, tuple[int, ...]]]:
    return [
        (call.name, call.kind, call.group)
        for call in trace_of(plan).calls
        if not call.name.startswith(("top", "bottom"))
    ]


ALL = (0, 1, 2, 3)


def test_table_wise_on_rank_1() -> None:
    plan = plan_of(NARROW, RANKS, [TABLE_WISE], [(0, 1)])
    assert names(plan) == [
        ("embedding.indices", "all_to_all_v", ALL),
        ("embedding.pooled", "all_to_all_v", ALL),
        ("embedding.gradients", "all_to_all_v", ALL),
    ]
    # 30 lookups x 8 B + 10 lengths x 4 B from each of three others
    assert sent(plan, "embedding.indices") == ([280, 0, 280, 280], [0, 840, 0, 0])
    assert sent(plan, "embedding.pooled") == ([0, 480, 0, 0], [160, 0, 160, 160])
    assert sent(plan, "embedding.gradients") == ([160, 0, 160, 160], [0, 480, 0, 0])


def test_column_wise_on_ranks_0_and_2() -> None:
    plan = plan_of(WIDE, RANKS, [COLUMN_WISE], [(0, 0, (0, 12)), (0, 2, (12, 4))])
    # the indices go to both shards: 10 x 8 B + 10 x 4 B each
    assert sent(plan, "embedding.indices") == ([120, 240, 120, 240], [360, 0, 360, 0])
    # vectors of 12 and 4 elements: 240 and 80 B for each rank
    assert sent(plan, "embedding.pooled") == ([720, 0, 240, 0], [80, 320, 240, 320])
    assert sent(plan, "embedding.gradients") == ([80, 320, 240, 320], [720, 0, 240, 0])


def test_row_wise_over_all_ranks() -> None:
    # rows 400, 300, 200, 100 of 1,000: of 30 lookups 12, 9, 6, 3; lengths of all samples to each
    shards = [(0, 0, (0, 400)), (0, 1, (400, 300)), (0, 2, (700, 200)), (0, 3, (900, 100))]
    plan = plan_of(NARROW, RANKS, [ROW_WISE], shards)
    assert names(plan) == [
        ("embedding.indices", "all_to_all_v", ALL),
        ("embedding.partial_sums", "reduce_scatter", ALL),
        ("embedding.gathered_gradients", "all_gather", ALL),
    ]
    to = [12 * 8 + 40, 9 * 8 + 40, 6 * 8 + 40, 3 * 8 + 40]
    assert to == [136, 112, 88, 64]
    assert sent(plan, "embedding.indices") == ([400 - each for each in to], [3 * each for each in to])
    # an array of 4 ranks x 160 B: each adds up its own 160 B, and sends three parts of 160 B on
    assert sent(plan, "embedding.partial_sums") == ([480] * 4, [480] * 4)
    assert sent(plan, "embedding.gathered_gradients") == ([480] * 4, [480] * 4)


def test_row_wise_grows_with_the_ranks_and_table_wise_does_not() -> None:
    for ranks in (2, 4, 8):
        rows = plan_of(NARROW, ranks, [ROW_WISE], even_rows(0, 1000, range(ranks)))
        assert sent(rows, "embedding.partial_sums")[1] == [160 * (ranks - 1)] * ranks
        whole = plan_of(NARROW, ranks, [TABLE_WISE], [(0, 0)])
        assert sent(whole, "embedding.pooled")[1] == [0] + [160] * (ranks - 1)


def test_table_row_wise_in_the_second_node_of_two() -> None:
    plan = plan_of(NARROW, RANKS, [TABLE_ROW_WISE], even_rows(0, 1000, (2, 3)))
    assert names(plan) == [
        ("embedding.indices", "all_to_all_v", ALL),
        ("embedding.partial_sums", "reduce_scatter", (2, 3)),
        ("embedding.sums", "all_to_all_v", ALL),
        ("embedding.sum_gradients", "all_to_all_v", ALL),
        ("embedding.gathered_gradients", "all_gather", (2, 3)),
    ]
    # 15 lookups x 8 B + 10 x 4 B to each of the two
    assert sent(plan, "embedding.indices") == ([320, 320, 160, 160], [0, 0, 480, 480])
    # inside: an array of 4 ranks x 160 B, of which each keeps half and sends half
    assert sent(plan, "embedding.partial_sums") == ([0, 0, 320, 320], [0, 0, 320, 320])
    # across: each to the rank of its own position in the other node
    matrix = Exchanges(plan).sums()
    assert matrix.tolist() == [[0, 0, 0, 0], [0, 0, 0, 0], [160, 0, 0, 0], [0, 160, 0, 0]]
    assert Exchanges(plan).sum_gradients().tolist() == matrix.T.tolist()
    assert sent(plan, "embedding.gathered_gradients") == ([0, 0, 320, 320], [0, 0, 320, 320])


def test_data_parallel_sends_its_gradient_alone() -> None:
    plan = plan_of(NARROW, RANKS, [DATA_PARALLEL], [])
    assert names(plan) == [("replicas.weight_gradient", "all_reduce", ALL)]
    # 1,000 x 8 x 2 B, reduced by a quarter at each rank and gathered again: 2 x 3/4 of it
    assert sent(plan, "replicas.weight_gradient") == ([24_000] * 4, [24_000] * 4)


def test_a_table_by_rows_on_fewer_ranks_keeps_to_them() -> None:
    # ranks 0 and 1 hold halves; ranks 2 to 4 only ask and get
    plan = plan_of(NARROW, 5, [ROW_WISE], even_rows(0, 1000, (0, 1)))
    assert sent(plan, "embedding.indices") == ([160, 160, 320, 320, 320], [640, 640, 0, 0, 0])
    # 5 x 160 B, 400 B to each: its own 160 B, and 240 of the others' 480 B
    assert sent(plan, "embedding.partial_sums") == ([400, 400, 0, 0, 0], [400, 400, 0, 0, 0])
    # dealt out: rank 2 to 0, rank 3 to 1, rank 4 to 0 again, which has room for half of it
    assert Exchanges(plan).sums().tolist() == [[0, 0, 160, 0, 80], [0, 0, 0, 160, 80], *[[0] * 5] * 3]
    assert sent(plan, "embedding.sums") == ([240, 240, 0, 0, 0], [0, 0, 160, 160, 160])
    assert sent(plan, "embedding.sum_gradients") == ([0, 0, 160, 160, 160], [240, 240, 0, 0, 0])


def test_by_rows_on_one_rank_is_table_wise() -> None:
    rows = Exchanges(plan_of(NARROW, RANKS, [ROW_WISE], [(0, 1, (0, 1000))]))
    whole = Exchanges(plan_of(NARROW, RANKS, [TABLE_WISE], [(0, 1)]))
    own = np.diag([0, 160, 0, 0])
    assert (rows.sums() == whole.pooled() - own).all()
    assert (rows.sum_gradients() == whole.gradients() - own).all()
    assert (rows.indices() == whole.indices()).all()
    assert not rows.pooled().any()
    assert "embedding.partial_sums" not in [call.name for call in trace_of(rows.plan).calls]


def test_mixed_shardings_add_up() -> None:
    model = with_tables(*(table(name, pooling=3) for name in "abcde"))
    ways = [TABLE_WISE, COLUMN_WISE, ROW_WISE, TABLE_ROW_WISE, DATA_PARALLEL]
    shards = [(0, 1), (1, 0, (0, 4)), (1, 3, (4, 4)), *even_rows(2, 1000, range(4)), *even_rows(3, 1000, (0, 1))]
    plan = plan_of(model, RANKS, ways, shards)
    # a to 1, b to 0 and 3, c a quarter to each (of 30 lookups 7, 8, 7, 8: cut at 7.5, 15 and 22.5), d a half to 0 and 1
    c = [(lookups * 8 + 40) for lookups in (7, 8, 7, 8)]
    to = [280 + c[0] + 160, 280 + c[1] + 160, c[2], 280 + c[3]]
    assert Exchanges(plan).indices().tolist() == [to] * 4
    assert Exchanges(plan).pooled()[:, 0].tolist() == [80, 160, 0, 80]
    assert sent(plan, "embedding.partial_sums") == ([480 + 320, 480 + 320, 480, 480],) * 2
    assert sent(plan, "embedding.sums") == ([160, 160, 0, 0], [0, 0, 160, 160])
    assert sent(plan, "replicas.weight_gradient") == ([24_000] * 4, [24_000] * 4)


def test_groups_of_equal_ranks_share_their_collectives() -> None:
    model = with_tables(table("a"), table("b", dim=4), table("c"))
    shards = [*even_rows(0, 1000, (0, 1)), *even_rows(1, 1000, (0, 1)), *even_rows(2, 1000, (2, 3))]
    groups = row_groups(plan_of(model, RANKS, [ROW_WISE, TABLE_ROW_WISE, TABLE_ROW_WISE], shards))
    assert [(group.holders.tolist(), group.dims) for group in groups] == [([0, 1], 12), ([2, 3], 8)]


def test_ranks_with_a_sample_fewer_get_fewer_bytes() -> None:
    batch = np.array([10, 10, 9, 9])
    exchanges = Exchanges(plan_of(NARROW, RANKS, [TABLE_WISE], [(0, 1)]), batch=batch)
    assert exchanges.pooled()[1].tolist() == [160, 160, 144, 144]
    assert exchanges.gradients()[:, 1].tolist() == [160, 160, 144, 144]
    assert exchanges.indices()[:, 1].tolist() == [280, 280, 27 * 8 + 36, 27 * 8 + 36]
    # by rows, the array is padded to 10 samples a rank; what goes on is not
    rows = plan_of(NARROW, RANKS, [TABLE_ROW_WISE], even_rows(0, 1000, (0, 1)))
    assert sent(rows, "embedding.partial_sums", batch) == ([320, 320, 0, 0],) * 2
    assert sent(rows, "embedding.sums", batch) == ([144, 144, 0, 0], [0, 0, 144, 144])


def test_mad_max_volumes_are_un_pooled_rows_over_the_ranks() -> None:
    plan = plan_of(NARROW, RANKS, [ROW_WISE], even_rows(0, 1000, range(4)))
    exchanges = Exchanges(plan, volumes="mad_max")
    # 10 samples x 3 rows x 8 elements x 4 B = 960 B, over 4 ranks 240 B, from each of them 60 B
    assert exchanges.pooled().tolist() == exchanges.gradients().tolist() == [[60] * 4] * 4
    assert exchanges.groups == ()


def test_an_array_beyond_a_pebibyte_is_refused() -> None:
    model = replace(with_tables(table(dim=2**16)), local_batch=2**20)
    plan = plan_of(model, 2**14, [ROW_WISE], even_rows(0, 1000, (0, 1)))
    with pytest.raises(
        WorkloadError, match=r"small.toml: .* divided by rows have \d+ B together; allowed: up to 2\^50"
    ):
        Exchanges(plan).scattered(row_groups(plan)[0])


@given(plan=plans(), least=st.integers(1, 20), larger=st.integers(0, 9))
def test_every_sample_gets_every_vector_once_and_gives_every_gradient_once(plan: Plan, least: int, larger: int) -> None:
    batch = least + (np.arange(plan.ranks) < larger)
    exchanges = Exchanges(plan, batch=batch)
    received = exchanges.pooled().sum(axis=0) + exchanges.sums().sum(axis=0)
    given_back = exchanges.gradients().sum(axis=1) + exchanges.sum_gradients().sum(axis=1)
    for group in exchanges.groups:
        received[group.holders] += batch[group.holders] * group.dims * 2
        given_back[group.holders] += batch[group.holders] * group.dims * 2
    ways = zip(plan.model.tables, plan.sharding, strict=True)
    vectors = sum(each.dim for each, way in ways if way != DATA_PARALLEL)
    assert received.tolist() == given_back.tolist() == (batch * vectors * 2).tolist()
    # who holds nothing sends no vector and is asked for nothing
    idle = np.bincount(plan.rank[~plan.is_data_parallel], minlength=plan.ranks) == 0
    assert not exchanges.pooled()[idle].any()
    assert not exchanges.sums()[idle].any()
    assert not exchanges.indices()[:, idle].any()
    assert all(not idle[group.holders].any() for group in exchanges.groups)


@given(plan=plans())
def test_the_trace_of_any_plan_runs_as_declared(plan: Plan) -> None:
    trace = trace_of(plan)
    out, into = declared_rank_bytes(trace, schedule=lower(trace))
    assert out.sum() == into.sum()


@pytest.mark.parametrize("engine", ["packet", "analytic"])
def test_a_run_puts_on_each_rank_what_was_computed_by_hand(engine: str) -> None:
    @ap.workloads.workload(f"by_rows_{engine}")
    def by_rows(scenario: ap.Scenario, ranks: int) -> Trace:
        return trace_of(plan_of(NARROW, ranks, [TABLE_ROW_WISE], even_rows(0, 1000, (2, 3))))

    run = ap.load({"platform": {"ranks": RANKS}, "workload": {"kind": f"by_rows_{engine}"}, "engine": engine}).run()
    messages = run.messages.merge(run.collectives[["collective", "name"]], on="collective")
    total = messages.groupby(["name", "src"])["size_bytes"].sum()
    assert total["embedding.indices"].to_dict() == {0: 320, 1: 320, 2: 160, 3: 160}
    assert total["embedding.partial_sums"].to_dict() == {2: 320, 3: 320}
    assert total["embedding.sums"].to_dict() == {2: 160, 3: 160}
    assert total["embedding.sum_gradients"].to_dict() == {0: 160, 1: 160}
    assert total["embedding.gathered_gradients"].to_dict() == {2: 320, 3: 320}
