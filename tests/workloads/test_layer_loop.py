# SPDX-License-Identifier: GPL-2.0-only
"""ASTRA-sim 1.0's loops beside DLRM's: who takes part in what, in which order, and what is never issued."""

from __future__ import annotations

from pathlib import Path

import pytest

from astra_py.errors import WorkloadError
from astra_py.workloads import AstraTextModel, NodeKind, Trace, read_astra_text, training_trace
from astra_py.workloads.layer_loop import unused_collectives

#: Compute times are powers of ten, so that a sum says what is in it.
LAYERS = """\
a -1 1 ALLGATHER 40 10 ALLREDUCE 50 100 ALLREDUCE 60 {delay}
b -1 1000 ALLTOALL 70 10000 REDUCESCATTER 80 100000 ALLREDUCE 90 {delay}
"""
#: Time that each collective is taken to need, above all compute.
COMM = 10**9


def _model(folder: Path, kind: str, layers: str = LAYERS, delay: int = 0) -> AstraTextModel:
    path = folder / "job.txt"
    path.write_text(f"{kind}\n2\n{layers.format(delay=delay)}")
    return read_astra_text(path)


def _trace(model: AstraTextModel, *, ranks: int = 8, inside: int | None = 4, iterations: int = 1) -> Trace:
    return training_trace(model, ranks=ranks, inside=inside, iterations=iterations, compute_unit_ps=1)


def _ends(trace: Trace, rank: int = 0) -> dict[str, int]:
    """When each node of a rank ends, with a C where it is a collective."""
    ends: list[int] = []
    named: dict[str, int] = {}
    for node in range(len(trace)):
        before = trace.dep_node[trace.dep_ptr[node] : trace.dep_ptr[node + 1]]
        is_collective = trace.kind[node] == NodeKind.COLLECTIVE
        start = max((ends[other] for other in before), default=0)
        ends.append(start + (COMM if is_collective else int(trace.duration_ps[node])))
        if trace.rank[node] == rank:
            label = trace.names[trace.name[node]] + (" C" if is_collective else "")
            named[f"{label} {trace.iteration[node]}"] = ends[-1]
    return named


def _groups(trace: Trace, name: str) -> list[tuple[int, ...]]:
    return [call.group for call in trace.calls if call.name == name]


INSIDE, BETWEEN = [(0, 1, 2, 3), (4, 5, 6, 7)], [(0, 4), (1, 5), (2, 6), (3, 7)]
ALL = [tuple(range(8))]


@pytest.mark.parametrize(
    ("kind", "forward", "weight"),
    [
        ("DATA", [], ALL),
        ("MODEL", ALL, []),
        ("HYBRID_DATA_MODEL", INSIDE, BETWEEN),
        ("HYBRID_MODEL_DATA", BETWEEN, INSIDE),
        ("HYBRID_TRANSFORMER model_parallel_NPU_group: 4", INSIDE, BETWEEN),
    ],
)
def test_who_takes_part(
    tmp_path: Path, kind: str, forward: list[tuple[int, ...]], weight: list[tuple[int, ...]]
) -> None:
    trace = _trace(_model(tmp_path, kind))
    for layer in "ab":
        assert _groups(trace, f"{layer}.forward") == forward
        assert _groups(trace, f"{layer}.weight_gradient") == weight
    assert _groups(trace, "b.input_gradient") == forward
    assert _groups(trace, "a.input_gradient") == (forward if kind.startswith("HYBRID_T") else [])


def test_each_layer_has_its_own_parallelism(tmp_path: Path) -> None:
    first, second = LAYERS.splitlines()
    model = _model(tmp_path, "HYBRID_CUSTOMIZED", f"{first} DATA\n{second} HYBRID_MODEL_DATA\n")
    trace = _trace(model)
    assert (_groups(trace, "a.forward"), _groups(trace, "a.weight_gradient")) == ([], ALL)
    assert (_groups(trace, "b.forward"), _groups(trace, "b.weight_gradient")) == (BETWEEN, INSIDE)


def test_bytes_are_those_of_the_format(tmp_path: Path) -> None:
    trace = _trace(_model(tmp_path, "HYBRID_DATA_MODEL"))
    sizes = {call.name: call.size_bytes for call in trace.calls}
    # an all-gather's are what each of four ranks brings
    assert sizes["a.forward"] == 4 * 40
    assert (sizes["b.forward"], sizes["b.input_gradient"], sizes["b.weight_gradient"]) == (70, 80, 90)


def test_data_computes_no_input_gradient_of_the_first_layer(tmp_path: Path) -> None:
    trace = _trace(_model(tmp_path, "DATA"))
    assert trace.compute_ps().tolist() == [111_101] * 8
    ends = _ends(trace)
    # forward a, b; weight gradient b, its collective beside what follows; input gradient b; weight gradient a
    assert ends["b.weight_gradient 0"] == 101_001
    assert ends["b.weight_gradient C 0"] == 101_001 + COMM
    assert ends["a.weight_gradient 0"] == 111_101


def test_forward_collectives_are_waited_for(tmp_path: Path) -> None:
    ends = _ends(_trace(_model(tmp_path, "MODEL")))
    assert ends["a.forward C 0"] == 1 + COMM
    assert ends["b.forward 0"] == 1001 + COMM
    assert ends["b.input_gradient 0"] == 11_001 + 2 * COMM
    # beside its weight gradient, and before the next layer's input gradient
    assert ends["b.weight_gradient 0"] == 111_001 + 2 * COMM
    assert ends["a.input_gradient 0"] == 11_001 + 3 * COMM + 10
    assert _trace(_model(tmp_path, "MODEL")).compute_ps().tolist() == [111_111] * 8


def test_a_transformer_waits_before_the_weight_gradient(tmp_path: Path) -> None:
    ends = _ends(_trace(_model(tmp_path, "HYBRID_TRANSFORMER model_parallel_NPU_group: 4")))
    assert ends["b.weight_gradient 0"] == 111_001 + 3 * COMM
    assert ends["a.weight_gradient 0"] == 111_111 + 4 * COMM


def test_the_next_forward_pass_waits_for_the_update(tmp_path: Path) -> None:
    ends = _ends(_trace(_model(tmp_path, "DATA", delay=7), iterations=2))
    assert ends["a.forward 1"] == ends["a.weight_gradient C 0"] + 7 + 1


def test_micro_is_one_collective_an_iteration_all_at_once(tmp_path: Path) -> None:
    model = _model(tmp_path, "MICRO")
    trace = _trace(model, iterations=3)
    assert [(call.name, call.size_bytes, call.group) for call in trace.calls] == [("a.weight_gradient", 60, *ALL)] * 3
    assert len(trace) == 3 * 8
    assert not len(trace.dep_node)
    assert len(unused_collectives(model)) == 3


def test_what_is_never_issued_is_said(tmp_path: Path) -> None:
    assert unused_collectives(_model(tmp_path, "DATA")) == [
        "the forward collectives of 2 layers, such as a, which DATA never issues",
        "the input gradient collectives of 2 layers, such as a, which DATA never issues",
    ]
    assert unused_collectives(_model(tmp_path, "HYBRID_DATA_MODEL")) == [
        "the input gradient collectives of 1 layers, such as a, which HYBRID_DATA_MODEL never issues"
    ]


@pytest.mark.parametrize(("ranks", "inside"), [(8, None), (8, 3)])
def test_ranks_without_such_groups_are_refused(tmp_path: Path, ranks: int, inside: int | None) -> None:
    with pytest.raises(
        WorkloadError, match=r"job\.txt, line 3: HYBRID_DATA_MODEL parts the ranks along the dimensions"
    ):
        _trace(_model(tmp_path, "HYBRID_DATA_MODEL"), ranks=ranks, inside=inside)
