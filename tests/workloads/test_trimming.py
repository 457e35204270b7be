# SPDX-License-Identifier: GPL-2.0-only
"""Parts of Traces and Traces several times over: order is kept, and nothing is lost that was to be kept."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from astra_py.errors import WorkloadError
from astra_py.workloads import CollectiveCall, Trace, TraceBuilder, repeated, trimmed
from trace_cases import ancestors, same, total_bytes, traces


@given(traces(), st.integers(0, 20), st.integers(1, 40))
def test_a_window_keeps_the_order_of_what_it_keeps(trace: Trace, first: int, count: int) -> None:
    first = min(first, len(trace) - 1)
    window = (first, min(first + count, len(trace)))
    inside = set(range(*window))
    torn = {call for node, call in enumerate(trace.call.tolist()) if node not in inside}
    kept = [node for node in range(*window) if trace.call[node] < 0 or trace.call[node] not in torn]
    if not kept:
        with pytest.raises(WorkloadError, match="nothing of the job is left"):
            trimmed(trace, window=window)
        return
    part, cut = trimmed(trace, window=window)
    assert len(part) == len(kept)
    assert bool(cut) == (len(kept) < len(trace))
    before, after = ancestors(trace), ancestors(part)
    number = {node: i for i, node in enumerate(kept)}
    for i, node in enumerate(kept):
        assert after[i] == {number[each] for each in before[node] if each in number}
        assert part.names[part.name[i]] == trace.names[trace.name[node]]
    assert total_bytes(part) == sum(
        call.buffer_bytes for number, call in enumerate(trace.calls) if number in set(trace.call[kept].tolist())
    )


@given(traces())
def test_all_iterations_and_phases_are_the_whole(trace: Trace) -> None:
    part, cut = trimmed(trace, iterations=set(trace.iteration.tolist()), phases=trace.phases, window=(0, len(trace)))
    assert cut == ()
    assert same(part, trace)


@given(traces(), st.integers(1, 4))
def test_repetitions_follow_one_another_on_each_rank(trace: Trace, times: int) -> None:
    again = repeated(trace, times)
    assert len(again) == times * len(trace)
    assert total_bytes(again) == times * total_bytes(trace)
    last, first = int(trace.iteration.max()), int(trace.iteration.min())
    assert again.iterations == last + 1 + (times - 1) * (last - first + 1)
    order = ancestors(again)
    for node in range(len(again)):
        copy, original = divmod(node, len(trace))
        earlier = {each for each in range(copy * len(trace)) if again.rank[each] == again.rank[node]}
        assert order[node] == earlier | {each + copy * len(trace) for each in ancestors(trace)[original]}
    part, _ = trimmed(again, iterations=set(trace.iteration.tolist()))
    assert same(part, trace)


def two_iterations() -> Trace:
    build = TraceBuilder(2)
    last = None
    for iteration in range(2):
        forward = build.compute([0, 1], 10, name="forward", after=last, iteration=iteration, phase="forward")
        call = CollectiveCall(name="sum", kind="all_reduce", group=(0, 1), size_bytes=64, iteration=iteration)
        last = build.collective(call, after=forward, phase="backward")
    return build.build()


def test_what_is_cut_is_said() -> None:
    part, cut = trimmed(two_iterations(), iterations=[1])
    assert cut == ("cut: 4 of the job's 8 nodes (2 compute, 2 collective)",)
    assert part.iteration.tolist() == [1] * 4
    part, cut = trimmed(two_iterations(), phases=["forward"])
    assert part.to_pandas()["after"].tolist() == [(), (), (0,), (1,)]
    assert part.calls == ()
    _, cut = trimmed(two_iterations(), window=(0, 7))
    assert cut[1] == "cut in these: 1 collectives of which some members' parts are outside what is kept"


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ({"iterations": [2]}, "no iteration 2; allowed: 0 to 1"),
        ({"phases": ["foward"]}, "no phase 'foward'; allowed: 'forward', 'backward'; did you mean 'forward'"),
        ({"window": (3, 3)}, "nodes 3 to before 3 are outside the job's 8 nodes"),
        ({"window": (0, 9)}, "outside the job's 8 nodes"),
        ({"window": (2, 3)}, "nothing of the job is left"),
        ({"iterations": []}, "nothing of the job is left"),
    ],
)
def test_what_is_not_there_cannot_be_kept(what: dict[str, object], message: str) -> None:
    with pytest.raises(WorkloadError, match=message):
        trimmed(two_iterations(), **what)  # type: ignore[arg-type]


def test_a_job_is_done_at_least_once() -> None:
    with pytest.raises(WorkloadError, match="at least once, not 0 times"):
        repeated(two_iterations(), 0)
    assert np.array_equal(repeated(two_iterations(), 1).dep_node, two_iterations().dep_node)
