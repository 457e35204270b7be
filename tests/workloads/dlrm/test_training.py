# SPDX-License-Identifier: GPL-2.0-only
"""The training loop of a described DLRM: which node waits, or must not wait, for which."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

import astra_py as ap
from astra_py.errors import WorkloadError
from astra_py.workloads import NodeKind, Trace
from astra_py.workloads.dlrm import (
    Exchanges,
    MicroBatch,
    Plan,
    Roofline,
    Sharding,
    StepTimes,
    dlrm_trace,
    roofline_times,
    shard_table_wise,
)
from dlrm_cases import A100, SMALL, job, table, with_tables
from plan_cases import even_rows, plan_of

RANKS = 3
PLAN = shard_table_wise(SMALL, RANKS, 2**40)


@cache
def small_trace(index_exchange: str = "in_step", iterations: int = 3) -> Trace:
    whole = Exchanges(PLAN)
    return dlrm_trace(whole, [MicroBatch(whole, times_of(PLAN))], iterations=iterations, index_exchange=index_exchange)


@cache
def before(trace: Trace, node: int) -> frozenset[int]:
    """All nodes that are done when ``node`` starts."""
    direct = trace.dep_node[trace.dep_ptr[node] : trace.dep_ptr[node + 1]].tolist()
    return frozenset(direct).union(*(before(trace, d) for d in direct))


@cache
def mixed_trace(has_steps: bool = False, ordering: str = "neo") -> Trace:
    """Table a by rows on ranks 0 and 1, table b by columns, table c on every rank."""
    ways = [Sharding.TABLE_ROW_WISE, Sharding.COLUMN_WISE, Sharding.DATA_PARALLEL]
    shards = [*even_rows(0, 1000, (0, 1)), (1, 1, (0, 8)), (1, 2, (8, 8))]
    exchanges = Exchanges(plan_of(SMALL, RANKS, ways, shards))
    step_ps = dict.fromkeys(("bottom_0", "top_0", "top_1", "replicas"), 7) if has_steps else None
    whole = [MicroBatch(exchanges, times_of(exchanges.plan))]
    return dlrm_trace(exchanges, whole, iterations=2, ordering=ordering, step_ps=step_ps)


def times_of(plan: Plan) -> StepTimes:
    return roofline_times(plan, Roofline(accelerator=A100, flops_efficiency=1.0, memory_efficiency=1.0))


def node_of(trace: Trace, rank: int, iteration: int, label: str) -> int:
    """The node of a label such as ``"bottom_0.forward"`` or ``"embedding.pooled >"``, the latter a collective."""
    name = label.removesuffix(" >")
    kind = NodeKind.COLLECTIVE if label.endswith(" >") else NodeKind.COMPUTE
    found = np.flatnonzero(
        (trace.rank == rank)
        & (trace.iteration == iteration)
        & (trace.name == trace.names.index(name))
        & (trace.kind == kind)
    )
    assert len(found) == 1, label
    return int(found[0])


def waits(
    trace: Trace,
    label: str,
    other: str,
    iteration: int = 1,
    other_iteration: int = 1,
    ranks: Iterable[int] = range(RANKS),
) -> bool:
    answers = {
        node_of(trace, rank, other_iteration, other) in before(trace, node_of(trace, rank, iteration, label))
        for rank in ranks
    }
    assert len(answers) == 1, "all ranks do the same"
    return answers.pop()


@pytest.mark.parametrize(
    ("label", "other", "does_wait"),
    [
        ("embedding.lookup", "embedding.indices >", True),
        ("embedding.pooled >", "embedding.lookup", True),
        ("embedding.pooled >", "bottom_0.forward", False),
        ("bottom_0.forward", "embedding.pooled >", False),
        ("bottom_0.forward", "embedding.lookup", True),
        ("interaction.forward", "embedding.pooled >", True),
        ("interaction.forward", "bottom_0.forward", True),
        ("top_0.forward", "interaction.forward", True),
        ("top_1.weight_gradient", "top_1.forward", True),
        ("top_1.weight_gradient >", "top_1.weight_gradient", True),
        ("top_1.weight_gradient >", "top_1.input_gradient", False),
        ("top_1.input_gradient", "top_1.weight_gradient", True),
        ("top_1.input_gradient", "top_1.weight_gradient >", False),
        ("top_0.weight_gradient", "top_1.input_gradient", True),
        ("interaction.backward", "top_0.input_gradient", True),
        ("embedding.gradients >", "interaction.backward", True),
        ("embedding.gradients >", "bottom_0.weight_gradient", False),
        ("embedding.gradients >", "top_0.weight_gradient >", False),
        ("bottom_0.weight_gradient", "embedding.gradients >", False),
        ("bottom_0.input_gradient", "embedding.gradients >", False),
        ("bottom_0.weight_gradient >", "embedding.gradients >", False),
        ("embedding.update", "embedding.gradients >", True),
        ("embedding.update", "bottom_0.input_gradient", True),
        ("embedding.update", "bottom_0.weight_gradient >", False),
    ],
)
def test_overlap_within_an_iteration(label: str, other: str, does_wait: bool) -> None:
    for index_exchange in ("in_step", "prefetched"):
        for iteration in (0, 1, 2):
            trace = small_trace(index_exchange)
            assert waits(trace, label, other, iteration, iteration) is does_wait


@pytest.mark.parametrize(
    ("label", "other", "does_wait"),
    [
        ("embedding.indices >", "embedding.update", True),
        ("embedding.lookup", "embedding.update", True),
        ("embedding.lookup", "bottom_0.weight_gradient >", False),
        ("bottom_0.forward", "bottom_0.weight_gradient >", True),
        ("bottom_0.forward", "top_0.weight_gradient >", False),
        ("interaction.forward", "top_0.weight_gradient >", False),
        ("top_0.forward", "top_0.weight_gradient >", True),
        ("top_0.forward", "top_1.weight_gradient >", False),
        ("top_1.forward", "top_1.weight_gradient >", True),
    ],
)
def test_overlap_between_iterations(label: str, other: str, does_wait: bool) -> None:
    assert waits(small_trace(), label, other, 2, 1) is does_wait


def test_prefetched_indices_go_during_the_top_mlp_of_the_iteration_before() -> None:
    trace = small_trace("prefetched")
    for iteration in (1, 2):
        assert waits(trace, "embedding.indices >", "interaction.forward", iteration, iteration - 1)
        assert not waits(trace, "embedding.indices >", "top_0.forward", iteration, iteration - 1)
        assert not waits(trace, "top_0.forward", "embedding.indices >", iteration - 1, iteration)
        assert waits(trace, "embedding.lookup", "embedding.indices >", iteration, iteration)
    names = [call.name for call in trace.calls]
    assert names.count("embedding.indices") == 3


def test_indices_may_be_left_out() -> None:
    trace = small_trace("none")
    assert "embedding.indices" not in trace.names
    assert waits(trace, "embedding.lookup", "embedding.update", 1, 0)
    with pytest.raises(WorkloadError, match="index_exchange = 'never'; allowed: in_step, prefetched, none"):
        small_trace("never")


def test_compute_of_a_rank_is_one_chain_on_one_stream() -> None:
    trace = small_trace()
    for rank in range(RANKS):
        nodes = np.flatnonzero((trace.rank == rank) & (trace.kind == NodeKind.COMPUTE))
        assert set(trace.stream[nodes].tolist()) == {0}
        for node, following in pairwise(nodes.tolist()):
            assert node in before(trace, following)


def test_calls_of_an_iteration() -> None:
    trace = small_trace()
    exchanges = Exchanges(PLAN)
    calls = [call for call in trace.calls if call.iteration == 1]
    assert [(call.name, call.kind, call.priority, call.dtype) for call in calls] == [
        ("embedding.indices", "all_to_all_v", 5, "int64"),
        ("embedding.pooled", "all_to_all_v", 6, "fp16"),
        ("top_1.weight_gradient", "all_reduce", 0, "fp32"),
        ("top_0.weight_gradient", "all_reduce", 0, "fp32"),
        ("embedding.gradients", "all_to_all_v", 6, "bf16"),
        ("bottom_0.weight_gradient", "all_reduce", 0, "fp32"),
    ]
    assert [call.size_bytes for call in calls] == [None, None, 16, 640, None, 416]
    for call, matrix in zip(calls[:2], (exchanges.indices(), exchanges.pooled()), strict=True):
        assert np.array_equal(call.matrix, matrix)
    assert np.array_equal(calls[4].matrix, exchanges.gradients())
    assert {call.group for call in trace.calls} == {(0, 1, 2)}


def test_every_iteration_computes_the_same() -> None:
    one, three = small_trace(iterations=1), small_trace()
    assert (three.compute_ps() == 3 * one.compute_ps()).all()
    times = times_of(PLAN)
    expected = times.lookup_ps + times.update_ps + times.dense_ps
    expected = expected + times.interaction_forward_ps + times.interaction_backward_ps
    assert one.compute_ps().tolist() == expected.tolist()


def test_astra2020_computes_what_its_file_computes() -> None:
    assert job(16, preset="astra2020", iterations=1).trace.compute_ps().tolist() == [51_678_000] * 16


@pytest.mark.parametrize(
    ("label", "other", "does_wait"),
    [
        ("embedding.partial_sums >", "embedding.lookup", True),
        ("embedding.partial_sums >", "embedding.pooled >", False),
        ("embedding.sums >", "embedding.partial_sums >", True),
        ("replicas.lookup", "embedding.sums >", False),
        ("bottom_0.forward", "embedding.sums >", False),
        ("bottom_0.forward", "replicas.lookup", True),
        ("interaction.forward", "embedding.sums >", True),
        ("interaction.forward", "embedding.partial_sums >", True),
        ("interaction.forward", "embedding.pooled >", True),
        ("embedding.sum_gradients >", "interaction.backward", True),
        ("embedding.sum_gradients >", "replicas.gradient", False),
        ("embedding.gathered_gradients >", "embedding.sum_gradients >", True),
        ("embedding.gathered_gradients >", "embedding.gradients >", False),
        ("replicas.weight_gradient >", "replicas.gradient", True),
        ("replicas.weight_gradient >", "bottom_0.weight_gradient", False),
        ("bottom_0.weight_gradient", "embedding.gathered_gradients >", False),
        ("embedding.update", "embedding.gathered_gradients >", True),
        ("embedding.update", "embedding.gradients >", True),
        ("embedding.update", "replicas.weight_gradient >", False),
    ],
)
def test_tables_by_rows_and_replicas(label: str, other: str, does_wait: bool) -> None:
    assert waits(mixed_trace(), label, other, ranks=(0, 1)) is does_wait


def test_who_holds_no_rows_waits_for_sums_alone() -> None:
    trace = mixed_trace()
    names = {trace.names[name] for name in trace.name[trace.rank == 2]}
    assert "embedding.sums" in names
    assert "embedding.partial_sums" not in names
    assert waits(trace, "interaction.forward", "embedding.sums >", ranks=(2,))
    assert waits(trace, "embedding.update", "embedding.sum_gradients >", ranks=(2,))


def test_replicas_wait_for_their_gradients_of_the_iteration_before() -> None:
    assert waits(mixed_trace(), "replicas.lookup", "replicas.weight_gradient >", 1, 0)
    assert not waits(mixed_trace(), "embedding.lookup", "replicas.weight_gradient >", 1, 0)


def test_a_bucket_is_reduced_with_its_last_gradient_and_waited_for_with_its_first() -> None:
    # in order of readiness 16, 640 and 416 B: the first two make 656 of 600
    trace = small_trace_of_buckets(600)
    calls = [call.name for call in trace.calls if call.kind == "all_reduce" and call.iteration == 0]
    assert calls == ["top_1_to_top_0.weight_gradient", "bottom_0.weight_gradient"]
    together = "top_1_to_top_0.weight_gradient >"
    assert waits(trace, together, "top_0.weight_gradient")
    assert not waits(trace, together, "top_0.input_gradient")
    assert waits(trace, "top_0.forward", together, 1, 0)
    assert not waits(trace, "interaction.forward", together, 1, 0)


def test_replicas_are_reduced_in_buckets_of_one_type_each() -> None:
    # 24,000 B of a and 8,000 B of c in FP16, and b of 128,000 B in FP32, named as a layer is
    tables = (table("a", rows=1500), table("bottom_0", rows=2000, dim=16, dtype="fp32"), table("c", rows=500))
    exchanges = Exchanges(plan_of(with_tables(*tables), RANKS, [Sharding.DATA_PARALLEL] * 3, []))
    whole = [MicroBatch(exchanges, times_of(exchanges.plan))]

    def reduced(bucket_bytes: int | None) -> tuple[Trace, list[tuple[str, int | None, str]]]:
        trace = dlrm_trace(exchanges, whole, iterations=2, bucket_bytes=bucket_bytes)
        calls = [call for call in trace.calls if call.iteration == 0 and call.name.startswith("replicas")]
        return trace, [(call.name.removesuffix(".weight_gradient"), call.size_bytes, call.dtype) for call in calls]

    trace, by_type = reduced(None)
    assert by_type == [("replicas_fp16", 32_000, "fp16"), ("replicas_fp32", 128_000, "fp32")]
    for name, *_ in by_type:
        assert waits(trace, "replicas.lookup", f"{name}.weight_gradient >", 1, 0)
    assert waits(trace, "bottom_0.forward", "bottom_0.weight_gradient >", 1, 0)
    # the FP32 table and then c each close a bucket, whose next gradient is of another type; bottom_0 is FP32 again
    _, by_size = reduced(200_000)
    assert by_size == [
        ("replicas.a", 24_000, "fp16"),
        ("replicas.bottom_0", 128_000, "fp32"),
        ("replicas.c", 8_000, "fp16"),
    ]


def small_trace_of_buckets(bucket_bytes: int) -> Trace:
    whole = Exchanges(PLAN)
    return dlrm_trace(whole, [MicroBatch(whole, times_of(PLAN))], iterations=2, bucket_bytes=bucket_bytes)


def test_a_step_goes_before_the_next_forward_and_after_its_all_reduce() -> None:
    trace = mixed_trace(has_steps=True)
    assert waits(trace, "top_1.step", "top_1.weight_gradient >", 1, 0)
    assert waits(trace, "top_1.forward", "top_1.step")
    assert not waits(trace, "top_0.forward", "top_1.step")
    assert waits(trace, "replicas.step", "replicas.weight_gradient >", 1, 0)
    assert waits(trace, "replicas.lookup", "replicas.step")
    assert "step" not in {trace.names[name].rpartition(".")[2] for name in trace.name[trace.iteration == 0]}


def test_micro_batches_train_one_after_another_and_update_at_the_end() -> None:
    trace = job(RANKS, preset="dlrm_s", micro_batches=2, iterations=2).trace
    for label, other, does_wait in (
        ("embedding.lookup_1", "embedding.indices >", True),
        ("embedding.lookup_1", "embedding.lookup_0", True),
        ("embedding.pooled_1 >", "bottom_0.forward_0", False),
        ("bottom_0.forward_0", "embedding.lookup_1", True),
        ("interaction.forward_0", "embedding.pooled_1 >", False),
        ("interaction.forward_1", "embedding.pooled_1 >", True),
        ("bottom_0.forward_1", "embedding.gradients_0 >", False),
        ("embedding.update_0", "embedding.gradients_0 >", True),
        ("embedding.update_0", "embedding.gradients_1 >", False),
        ("embedding.update_0", "bottom_0.input_gradient_1", True),
        ("embedding.update_1", "embedding.gradients_1 >", True),
        ("top_3.weight_gradient >", "top_3.weight_gradient_1", True),
    ):
        assert waits(trace, label, other) is does_wait, (label, other)
    assert waits(trace, "bottom_0.forward_0", "bottom_0.weight_gradient >", 1, 0)


def test_collectives_of_a_stream_go_in_the_order_in_which_they_are_issued_on_every_rank() -> None:
    """Rank 2 holds no rows: its sums are ready before the other ranks' are, and must not go before their vectors."""
    trace = mixed_trace(ordering="mad_max")
    order = [
        "embedding.indices >",
        "embedding.pooled >",
        "embedding.sums >",
        "top_1.weight_gradient >",
        "top_0.weight_gradient >",
        "embedding.gradients >",
        "embedding.sum_gradients >",
        "replicas.weight_gradient >",
        "bottom_0.weight_gradient >",
    ]
    for before_it, label in pairwise(order):
        assert waits(trace, label, before_it, ranks=(0, 2))
    assert waits(trace, "embedding.indices >", order[-1], 1, 0, ranks=(0, 2))


def test_stragglers_slow_a_dlrms_compute() -> None:
    scenario = {"platform": {"ranks": 2}, "workload": {"kind": "dlrm", "preset": "dlrm_s", "iterations": 1}}
    plain, slow = (ap.load(scenario, *more).trace.compute_ps() for more in ((), ("system.stragglers=1:1.5",)))
    assert slow[0] == plain[0]
    assert slow[1] == pytest.approx(1.5 * plain[1], rel=1e-9)


def test_no_iterations() -> None:
    with pytest.raises(WorkloadError, match=r"small\.toml: iterations = 0; at least 1 is allowed"):
        small_trace(iterations=0)
