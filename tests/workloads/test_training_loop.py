# SPDX-License-Identifier: GPL-2.0-only
"""The DLRM training loop: totals, and which node waits, or must not wait, for which."""

from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra_py.errors import WorkloadError
from astra_py.workloads import AstraPass, AstraTextModel, NodeKind, Trace, read_astra_text, training_trace

RANKS = 3


class Graph:
    """A trace's nodes by label, such as ``"top_0.forward"`` or ``"embedding.forward collective"``."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        kinds = {NodeKind.COMPUTE: "", NodeKind.COLLECTIVE: " collective", NodeKind.MEMORY: ""}
        self.node: dict[tuple[int, int, str], int] = {}
        for node in range(len(trace)):
            label = trace.names[trace.name[node]] + kinds[NodeKind(trace.kind[node])]
            if trace.kind[node] == NodeKind.MEMORY:
                label += f" {trace.phases[trace.phase[node]]}"
            key = (int(trace.rank[node]), int(trace.iteration[node]), label)
            assert key not in self.node
            self.node[key] = node

    @cache  # noqa: B019  (lives as long as its test)
    def before(self, node: int) -> frozenset[int]:
        """All nodes that are done when ``node`` starts."""
        direct = self.trace.dep_node[self.trace.dep_ptr[node] : self.trace.dep_ptr[node + 1]]
        return frozenset().union(*({int(d)} | self.before(int(d)) for d in direct))

    def waits(self, label: str, other: str, iteration: int = 0, other_iteration: int | None = None) -> bool:
        answers = {
            self.node[rank, iteration if other_iteration is None else other_iteration, other]
            in self.before(self.node[rank, iteration, label])
            for rank in range(self.trace.ranks)
        }
        assert len(answers) == 1, "all ranks do the same"
        return answers.pop()


@pytest.fixture
def graph(dlrm: AstraTextModel) -> Graph:
    return Graph(training_trace(dlrm, ranks=RANKS, iterations=2))


def test_all_compute_of_the_file_is_in_every_iteration(dlrm: AstraTextModel) -> None:
    trace = training_trace(dlrm, ranks=RANKS, iterations=1)
    assert trace.compute_ps().tolist() == [51_678_000] * RANKS
    assert trace.compute_ps("forward").tolist() == [19_020_000] * RANKS
    assert trace.compute_ps("input_gradient").tolist() == [19_014_000] * RANKS
    assert trace.compute_ps("weight_gradient").tolist() == [13_644_000] * RANKS
    assert training_trace(dlrm, ranks=1, iterations=5).compute_ps().tolist() == [5 * 51_678_000]


def test_calls_are_the_files_collectives_over_all_ranks(dlrm: AstraTextModel) -> None:
    trace = training_trace(dlrm, ranks=RANKS, iterations=2)
    assert len(trace.calls) == 2 * 9
    for call in trace.calls:
        assert call.group == (0, 1, 2)
        assert call.priority == (6 if call.name.startswith("embedding") else 0)
    first = [(call.name, call.kind, call.size_bytes) for call in trace.calls if call.iteration == 0]
    assert first == [
        ("embedding.forward", "all_to_all", 98_304),
        ("top_2.weight_gradient", "all_reduce", 524_288),
        ("top_1.weight_gradient", "all_reduce", 524_288),
        ("top_0.weight_gradient", "all_reduce", 1_064_960),
        ("embedding.input_gradient", "all_to_all", 98_304),
        ("bottom_3.weight_gradient", "all_reduce", 16_384),
        ("bottom_2.weight_gradient", "all_reduce", 524_288),
        ("bottom_1.weight_gradient", "all_reduce", 524_288),
        ("bottom_0.weight_gradient", "all_reduce", 13_312),
    ]


@pytest.mark.parametrize(
    ("label", "other", "does_wait"),
    [
        ("bottom_0.forward", "embedding.forward", True),
        ("bottom_0.forward", "embedding.forward collective", False),
        ("bottom_3.forward", "embedding.forward collective", False),
        ("top_0.forward", "embedding.forward collective", True),
        ("top_0.forward", "embedding.update forward", True),
        ("top_0.forward", "bottom_3.forward", True),
        ("top_2.weight_gradient", "top_2.forward", True),
        ("top_2.weight_gradient collective", "top_2.weight_gradient", True),
        ("top_2.weight_gradient collective", "top_2.input_gradient", False),
        ("top_2.input_gradient", "top_2.weight_gradient", True),
        ("top_2.input_gradient", "top_2.weight_gradient collective", False),
        ("top_1.weight_gradient", "top_2.input_gradient", True),
        ("top_0.input_gradient", "top_1.weight_gradient collective", False),
        ("embedding.input_gradient collective", "top_0.input_gradient", True),
        ("embedding.input_gradient collective", "bottom_3.weight_gradient", False),
        ("embedding.input_gradient collective", "top_0.weight_gradient collective", False),
        ("bottom_0.input_gradient", "embedding.input_gradient collective", False),
        ("embedding.weight_gradient", "embedding.input_gradient collective", True),
        ("embedding.weight_gradient", "embedding.update input_gradient", True),
        ("embedding.weight_gradient", "bottom_0.input_gradient", True),
        ("embedding.input_gradient", "embedding.weight_gradient", True),
        ("embedding.input_gradient", "bottom_0.weight_gradient collective", False),
        ("bottom_0.update weight_gradient", "bottom_0.weight_gradient collective", True),
    ],
)
def test_overlap_within_an_iteration(graph: Graph, label: str, other: str, does_wait: bool) -> None:
    assert graph.waits(label, other) is does_wait
    assert graph.waits(label, other, iteration=1) is does_wait


@pytest.mark.parametrize(
    ("label", "other", "does_wait"),
    [
        ("embedding.forward", "embedding.input_gradient", True),
        ("embedding.forward", "bottom_0.weight_gradient collective", False),
        ("embedding.forward", "top_2.weight_gradient collective", False),
        ("bottom_0.forward", "bottom_0.update weight_gradient", True),
        ("bottom_0.forward", "bottom_1.weight_gradient collective", False),
        ("bottom_3.forward", "top_0.weight_gradient collective", False),
        ("top_0.forward", "top_0.update weight_gradient", True),
        ("top_0.forward", "top_1.weight_gradient collective", False),
        ("top_2.forward", "top_2.update weight_gradient", True),
    ],
)
def test_overlap_between_iterations(graph: Graph, label: str, other: str, does_wait: bool) -> None:
    assert graph.waits(label, other, iteration=1, other_iteration=0) is does_wait


def test_compute_of_a_rank_is_one_chain_on_one_stream(graph: Graph) -> None:
    trace = graph.trace
    for rank in range(RANKS):
        nodes = np.flatnonzero((trace.rank == rank) & (trace.kind == NodeKind.COMPUTE))
        assert set(trace.stream[nodes].tolist()) == {0}
        for node, following in pairwise(nodes):
            assert int(node) in graph.before(int(following))


def test_update_delays_follow_each_collective_and_hold_no_stream(dlrm: AstraTextModel) -> None:
    trace = training_trace(dlrm, ranks=1, iterations=1, compute_unit_ps=2000, compute_scale=3.0)
    updates = trace.kind == NodeKind.MEMORY
    assert updates.sum() == 9
    assert (trace.stream[updates] == -1).all()
    assert trace.duration_ps[updates].tolist() == [2000 * d for d in (98, 524, 524, 1065, 98, 16, 524, 524, 13)]
    silent = replace(dlrm, layers=tuple(replace(layer, update_delay=0) for layer in dlrm.layers))
    assert not (training_trace(silent, ranks=1, iterations=1).kind == NodeKind.MEMORY).any()


def test_no_bottom_mlp_waits_at_once(dlrm: AstraTextModel) -> None:
    short = replace(dlrm, option=0, layers=(dlrm.layers[0], *dlrm.layers[5:]))
    graph = Graph(training_trace(short, ranks=2, iterations=1))
    assert graph.waits("top_0.forward", "embedding.forward collective")
    assert graph.waits("embedding.weight_gradient", "embedding.input_gradient collective")


@given(scale=st.floats(min_value=1e-6, max_value=1e4))
def test_scales_round_to_nearest(scale: float) -> None:
    model = read_astra_text(Path(__file__).parents[2] / "workloads" / "dlrm_2020.txt")
    trace = training_trace(model, ranks=1, iterations=1, compute_scale=scale, comm_scale=scale)
    layer = model.layers[1]
    compute = trace.duration_ps[trace.name == trace.names.index("bottom_0.forward")]
    assert abs(int(compute[0]) - layer.forward.compute * 1000 * scale) <= 0.5 + 1e-6
    sizes = {call.name: call.size_bytes for call in trace.calls}
    reduced = sizes["bottom_0.weight_gradient"]
    assert reduced is not None
    assert reduced >= 1
    assert abs(reduced - max(layer.weight_gradient.size_bytes * scale, 1)) <= 0.5 + 1e-6


def test_scaling_is_decimal_and_zero_means_none(dlrm: AstraTextModel) -> None:
    hundredth = training_trace(dlrm, ranks=1, iterations=1, comm_scale=0.01)
    assert hundredth.calls[0].size_bytes == 983
    none = training_trace(dlrm, ranks=1, iterations=1, comm_scale=0, compute_scale=0)
    assert {call.size_bytes for call in none.calls} == {0}
    assert none.compute_ps().tolist() == [0]


@pytest.mark.parametrize("which", ["forward", "input_gradient"])
def test_a_collective_that_the_loop_never_issues_is_refused(dlrm: AstraTextModel, which: str) -> None:
    layer = replace(dlrm.layers[6], **{which: AstraPass(1, "all_to_all", 5)})  # type: ignore[arg-type]
    model = replace(dlrm, layers=(*dlrm.layers[:6], layer, dlrm.layers[7]))
    with pytest.raises(
        WorkloadError, match=rf"dlrm_2020.txt, line 9: layer top_1 has a {which.replace('_', ' ')} coll"
    ):
        training_trace(model, ranks=2, iterations=1)


def test_figures_outside_64_bits_are_refused_with_their_line(dlrm: AstraTextModel) -> None:
    with pytest.raises(WorkloadError, match=r"line 3: scaled, the forward compute time is .* above 2\^63 - 1"):
        training_trace(dlrm, ranks=2, iterations=1, compute_unit_ps=10**17)
    with pytest.raises(WorkloadError, match=r"line 3: scaled, the forward bytes is"):
        training_trace(dlrm, ranks=2, iterations=1, comm_scale=1e15)
    for scale in (-1.0, float("nan"), float("inf")):
        with pytest.raises(WorkloadError, match=r"comm_scale = .* allowed is a finite number"):
            training_trace(dlrm, ranks=2, iterations=1, comm_scale=scale)
    with pytest.raises(WorkloadError, match="iterations = 0"):
        training_trace(dlrm, ranks=2, iterations=0)
