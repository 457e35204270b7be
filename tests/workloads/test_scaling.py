# SPDX-License-Identifier: GPL-2.0-only
"""Traces with other sizes and other numbers of ranks."""

from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from astra_py.errors import WorkloadError
from astra_py.workloads import (
    CollectiveCall,
    FlowList,
    NodeKind,
    Trace,
    TraceBuilder,
    flow_trace,
    scaled,
    weakly_scaled,
)
from trace_cases import same, total_bytes, traces

FACTORS = st.one_of(st.sampled_from([0.01, 0.5, 1.0, 3.0]), st.floats(1e-6, 1e3))


@given(traces(), FACTORS, FACTORS)
def test_every_figure_is_the_nearest_to_its_multiple(trace: Trace, compute: float, comm: float) -> None:
    other = scaled(trace, compute=compute, comm=comm)
    exact = Fraction(str(compute))
    for kind, before, after in zip(trace.kind, trace.duration_ps.tolist(), other.duration_ps.tolist(), strict=True):
        assert after == (round(before * exact) if kind == NodeKind.COMPUTE else before)
    exact = Fraction(str(comm))
    for call, result in zip(trace.calls, other.calls, strict=True):
        sizes = {"flows": lambda call: call.flows.size_bytes, "all_to_all_v": lambda call: call.matrix.ravel()}
        given = sizes.get(call.kind, lambda call: np.array([call.size_bytes]))
        parts = len(call.group) if call.kind == "all_gather" and call.size_bytes % len(call.group) == 0 else 1
        for before, after in zip(given(call).tolist(), given(result).tolist(), strict=True):
            assert after == parts * max(round(before // parts * exact), before > 0)
    assert np.array_equal(other.dep_node, trace.dep_node)


@given(traces())
def test_a_factor_of_one_changes_nothing(trace: Trace) -> None:
    other = scaled(trace)
    assert same(other, trace)
    assert total_bytes(other) == total_bytes(trace)


@pytest.mark.parametrize("factor", [0.0, -1.0, float("inf"), float("nan")])
def test_a_factor_is_finite_and_above_0(factor: float) -> None:
    with pytest.raises(WorkloadError, match="a factor is a finite number above 0"):
        scaled(TraceBuilder(1).build(), compute=factor)


def test_what_leaves_its_range_is_named() -> None:
    build = TraceBuilder(2)
    build.compute([0], 2**62, name="long")
    build.collective(CollectiveCall(name="sum", kind="all_reduce", group=(0, 1), size_bytes=2**49))
    with pytest.raises(WorkloadError, match="a compute time of 4611686018427387904, scaled by 4, is above"):
        scaled(build.build(), compute=4)
    with pytest.raises(WorkloadError, match="'sum': size_bytes = 2251799813685248 is outside") as caught:
        scaled(build.build(), comm=4)
    assert caught.value.__notes__ == ["while scaling the bytes of collective 'sum' by 4"]


def alike(ranks: int) -> Trace:
    """A job in which all ranks do the same."""
    build, everyone = TraceBuilder(ranks), tuple(range(ranks))
    forward = build.compute(everyone, 7, name="forward", phase="forward")
    one = build.collective(CollectiveCall(name="sum", kind="all_reduce", group=everyone, size_bytes=100), after=forward)
    parts = CollectiveCall(name="parts", kind="all_gather", group=everyone, size_bytes=12 * ranks, iteration=1)
    other = build.collective(parts, after=forward, stream="net")
    build.compute(everyone, 9, name="backward", after=[one, other], iteration=1, phase="backward")
    return build.build()


@given(st.integers(1, 9), st.integers(1, 9))
def test_weak_scaling_is_the_job_as_it_would_have_been_built(before: int, after: int) -> None:
    assert same(weakly_scaled(alike(before), after), alike(after))
    other = weakly_scaled(alike(before), after)
    assert [call.size_bytes for call in other.calls] == [100, 12 * after]
    assert [call.group for call in other.calls] == [tuple(range(after))] * 2


def uneven(ranks: int) -> Trace:
    build = TraceBuilder(ranks)
    build.compute(range(ranks), range(ranks), name="forward")
    return build.build()


def crossed() -> Trace:
    build = TraceBuilder(2)
    a = build.compute([0, 1], 1, name="a")
    b = build.compute([0, 1], 1, name="b")
    build.compute([0, 1], 1, name="c", after=np.array([a[0], b[1]]))
    return build.build()


def of_call(**given: object) -> Trace:
    build = TraceBuilder(3)
    build.collective(CollectiveCall(name="it", source="a.txt, line 3", **given))  # type: ignore[arg-type]
    return build.build()


@pytest.mark.parametrize(
    ("trace", "message"),
    [
        (uneven(3), "rank 1 does not do the same as rank 0"),
        (crossed(), "rank 1 does not do the same as rank 0"),
        (of_call(kind="all_reduce", group=(0, 1), size_bytes=1), "rank 2 does not do the same as rank 0"),
        (of_call(kind="all_gather", group=(0, 1, 2), size_bytes=4), "a.txt, line 3: .*'it': its array of 4 B"),
        (
            of_call(kind="all_to_all_v", group=(0, 1, 2), matrix=np.ones((3, 3), int)),
            "all_to_all_v says who sends what",
        ),
        (flow_trace(2, FlowList([0], [1], [5], [0])), "flows says who sends what to whom"),
    ],
)
def test_what_cannot_be_of_other_ranks_is_refused(trace: Trace, message: str) -> None:
    with pytest.raises(WorkloadError, match=message):
        weakly_scaled(trace, 8)


def test_a_job_has_at_least_one_rank() -> None:
    with pytest.raises(WorkloadError, match="at least one rank, not 0"):
        weakly_scaled(alike(2), 0)
