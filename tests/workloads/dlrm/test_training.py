# SPDX-License-Identifier: GPL-2.0-only
"""The training loop of a described DLRM: which node waits, or must not wait, for which."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from astra_py.errors import WorkloadError
from astra_py.workloads import NodeKind, Trace
from astra_py.workloads.dlrm import Exchanges, MicroBatch, Roofline, dlrm_trace, roofline_times, shard_table_wise
from dlrm_cases import A100, SMALL, job

RANKS = 3
PLAN = shard_table_wise(SMALL, RANKS, 2**40)
TIMES = roofline_times(PLAN, Roofline(accelerator=A100, flops_efficiency=1.0, memory_efficiency=1.0))


@cache
def small_trace(index_exchange: str = "in_step", iterations: int = 3) -> Trace:
    whole = Exchanges(PLAN)
    return dlrm_trace(whole, [MicroBatch(whole, TIMES)], iterations=iterations, index_exchange=index_exchange)


@cache
def before(trace: Trace, node: int) -> frozenset[int]:
    """All nodes that are done when ``node`` starts."""
    direct = trace.dep_node[trace.dep_ptr[node] : trace.dep_ptr[node + 1]].tolist()
    return frozenset(direct).union(*(before(trace, d) for d in direct))


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


def waits(trace: Trace, label: str, other: str, iteration: int = 1, other_iteration: int = 1) -> bool:
    answers = {
        node_of(trace, rank, other_iteration, other) in before(trace, node_of(trace, rank, iteration, label))
        for rank in range(RANKS)
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
    expected = TIMES.lookup_ps + TIMES.update_ps + TIMES.dense_ps
    expected = expected + TIMES.interaction_forward_ps + TIMES.interaction_backward_ps
    assert one.compute_ps().tolist() == expected.tolist()


def test_astra2020_computes_what_its_file_computes() -> None:
    assert job(16, preset="astra2020", iterations=1).trace.compute_ps().tolist() == [51_678_000] * 16


def test_no_iterations() -> None:
    with pytest.raises(WorkloadError, match=r"small\.toml: iterations = 0; at least 1 is allowed"):
        small_trace(iterations=0)
