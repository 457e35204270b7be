# SPDX-License-Identifier: GPL-2.0-only
"""Jobs joined on one platform: each keeps its work, its order and its bytes, and starts when it is to."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from astra_py.errors import WorkloadError
from astra_py.workloads import CollectiveCall, FlowList, JobTrace, NodeKind, Trace, TraceBuilder, flow_trace, joined
from trace_cases import RANKS, ancestors, total_bytes, traces


@given(traces(), traces(), st.integers(0, 1000), st.permutations(range(2 * RANKS)))
def test_each_job_keeps_its_order_and_its_bytes(one: Trace, other: Trace, start_ps: int, ranks: list[int]) -> None:
    jobs = [JobTrace("a", one, ranks[:RANKS]), JobTrace("b", other, ranks[RANKS:], start_ps)]
    trace = joined(jobs, 2 * RANKS)
    assert [job.name for job in trace.jobs] == ["a", "b"]
    assert total_bytes(trace) == total_bytes(one) + total_bytes(other)
    order = ancestors(trace)
    for index, job in enumerate(jobs):
        own = [n for n in range(len(trace)) if trace.job[n] == index and trace.phases[trace.phase[n]] != "start"]
        number = {node: i for i, node in enumerate(own)}
        assert [{number[each] for each in order[node] if each in number} for node in own] == ancestors(job.trace)
        assert trace.rank[own].tolist() == [job.ranks[rank] for rank in job.trace.rank]
        assert [trace.names[trace.name[node]] for node in own] == [
            f"{job.name}/{job.trace.names[name]}" for name in job.trace.name
        ]
        assert trace.iteration[own].tolist() == job.trace.iteration.tolist()


@given(traces(), st.integers(1, 1000))
def test_nothing_of_a_job_starts_before_it_does(one: Trace, start_ps: int) -> None:
    trace = joined([JobTrace("late", one, range(RANKS), start_ps)], RANKS)
    waits = np.diff(trace.dep_ptr)
    for node in np.flatnonzero(waits == 0).tolist():
        if trace.phases[trace.phase[node]] == "start":
            assert trace.kind[node] == NodeKind.MEMORY
            assert trace.duration_ps[node] == start_ps
        else:
            flows = trace.calls[trace.call[node]].flows
            assert flows is not None
            assert flows.start_ps.min() >= start_ps


def one_compute(ranks: int) -> Trace:
    build = TraceBuilder(ranks)
    build.compute(range(ranks), 5, name="forward")
    return build.build()


FLOWS = flow_trace(2, FlowList([0], [1], [5], [0]))


@pytest.mark.parametrize(
    ("jobs", "message"),
    [
        ([JobTrace("a", one_compute(2), [0, 1]), JobTrace("a", one_compute(1), [2])], "two jobs are called 'a'"),
        ([JobTrace("a", one_compute(2), [0, 1]), JobTrace("b", one_compute(1), [1])], "rank 1 is of jobs 'a' and 'b'"),
        ([JobTrace("a", one_compute(2), [0])], "'a' has 2 ranks, and 1 are given"),
        ([JobTrace("a", one_compute(2), [1, 1])], "'a' is given a rank twice"),
        ([JobTrace("a", one_compute(1), [4])], "'a': rank 4 is not on the platform; allowed: 0 to 3"),
        ([JobTrace("a", one_compute(1), [0], -1)], "'a' starts at -1 ps"),
        ([JobTrace("a", joined([JobTrace("b", FLOWS, [0, 1])], 2), [0, 1])], "'a' is made of several jobs already"),
    ],
)
def test_what_cannot_be_joined_is_refused(jobs: list[JobTrace], message: str) -> None:
    with pytest.raises(WorkloadError, match=message):
        joined(jobs, 4)


def test_flows_may_be_on_ranks_of_jobs() -> None:
    trace = joined([JobTrace("a", one_compute(2), [0, 1]), JobTrace("b", FLOWS, [1, 0], 7)], 2)
    assert trace.calls[0].name == "b/flows"
    assert trace.calls[0].group == (1, 0)
    assert trace.calls[0].flows is not None
    assert trace.calls[0].flows.start_ps.tolist() == [7]
    assert trace.job_of_call.tolist() == [1]


def test_streams_are_each_jobs_own() -> None:
    build = TraceBuilder(1)
    build.compute([0], 5, name="forward", stream="main")
    trace = joined([JobTrace("a", build.build(), [0]), JobTrace("b", build.build(), [1])], 2)
    assert trace.streams == ("a/main", "b/main")


def test_a_call_says_where_it_comes_from_wherever_it_is_put() -> None:
    build = TraceBuilder(2)
    build.collective(CollectiveCall(name="sum", kind="all_reduce", group=(0, 1), size_bytes=1, source="a.txt, line 2"))
    trace = joined([JobTrace("a", build.build(), [3, 2])], 4)
    assert str(trace.calls[0].error("no")) == "a.txt, line 2: collective 'a/sum': no"
