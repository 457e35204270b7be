# SPDX-License-Identifier: GPL-2.0-only
"""Parts of Traces and Traces several times over: order is kept, and nothing is lost that was to be kept."""

from unittest import mock

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from astra_py.errors import WorkloadError
from astra_py.workloads import CollectiveCall, JobTrace, Trace, TraceBuilder, joined, repeated, trimmed, trimming
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


@pytest.mark.parametrize("most_joins", [0, 4, 10**6], ids=["begun", "either", "joined"])
@given(trace=traces(), times=st.integers(1, 4))
def test_repetitions_follow_one_another_on_each_rank(most_joins: int, trace: Trace, times: int) -> None:
    with mock.patch.object(trimming, "_MOST_JOINS", most_joins):
        again = repeated(trace, times)
    extra = (len(again) - times * len(trace)) // times
    assert extra == (len(np.unique(trace.rank)) if times > 1 and not most_joins else 0) or most_joins == 4
    assert total_bytes(again) == times * total_bytes(trace)
    last, first = int(trace.iteration.max()), int(trace.iteration.min())
    assert again.iterations == last + 1 + (times - 1) * (last - first + 1)
    order, within, size = ancestors(again), ancestors(trace), len(trace) + extra
    is_added = np.arange(len(again)) % size < extra
    for node in np.flatnonzero(~is_added).tolist():
        copy, original = divmod(node, size)
        earlier = {each for each in range(copy * size) if again.rank[each] == again.rank[node]}
        own = {each + extra + copy * size for each in within[original - extra]}
        assert {each for each in order[node] if not is_added[each]} == {e for e in earlier if not is_added[e]} | own
    part, _ = trimmed(again, iterations=set(trace.iteration.tolist()))
    assert same(part, trace) or extra


def test_repetitions_of_very_many_nodes_at_once_take_few_dependencies() -> None:
    build = TraceBuilder(3)
    for number in range(300):
        build.compute([0, 2], number + 1, name="forward", iteration=2, phase=f"phase {number % 2}")
    again = repeated(build.build(), 3)
    assert len(again) == 3 * 2 * 301
    assert len(again.dep_node) == 3 * 600 + 2 * 600
    added = [node for node in range(len(again)) if again.names[again.name[node]] == "begin"]
    assert again.rank[added].tolist() == [0, 2] * 3
    assert again.iteration[added].tolist() == [2, 2, 3, 3, 4, 4]
    assert again.compute_ps().tolist() == [3 * 45_150, 0, 3 * 45_150]
    jobs = joined([JobTrace("a", build.build(), [4, 1, 0]), JobTrace("b", build.build(), [2, 3, 5])], 6)
    again = repeated(jobs, 2)
    added = [node for node in range(len(again)) if again.names[again.name[node]] == "begin"]
    assert [(int(again.rank[node]), again.jobs[again.job[node]].name) for node in added[:4]] == [
        (0, "a"),
        (2, "b"),
        (4, "a"),
        (5, "b"),
    ]


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
