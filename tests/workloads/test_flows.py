# SPDX-License-Identifier: GPL-2.0-only
"""FlowList and the call that has one: what is kept, what is refused, and that no flow is lost on the way."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from astra_py.errors import WorkloadError
from astra_py.workloads import CollectiveCall, FlowList
from astra_py.workloads.flow_job import flow_call, flow_trace

RANKS = 6


@st.composite
def flow_lists(draw: st.DrawFn, least: int = 0) -> FlowList:
    """Flows between six ranks; not all of them need take part."""
    rows = draw(
        st.lists(
            st.tuples(
                st.integers(0, RANKS - 1), st.integers(1, RANKS - 1), st.integers(0, 2**50), st.integers(0, 10**18)
            ),
            min_size=least,
            max_size=12,
        )
    )
    src = np.array([row[0] for row in rows], dtype=np.int64)
    dst = (src + np.array([row[1] for row in rows], dtype=np.int64)) % RANKS
    return FlowList(src, dst, [row[2] for row in rows], [row[3] for row in rows])


@given(flow_lists())
def test_a_group_of_those_who_take_part_keeps_every_flow(flows: FlowList) -> None:
    group, within = flows.compact()
    assert set(group) == set(flows.src.tolist()) | set(flows.dst.tolist())
    again = within.between(np.array(group, dtype=np.int32))
    assert again.tobytes() == flows.tobytes()
    assert within.total_bytes == sum(flows.size_bytes.tolist())


@given(flow_lists(least=1))
def test_a_job_of_flows_has_one_part_for_each_rank_that_takes_part(flows: FlowList) -> None:
    if flows.total_bytes > 2**58:
        return
    trace = flow_trace(RANKS, flows)
    assert sorted(trace.rank.tolist()) == flows.ranks.tolist()
    assert trace.calls[0].buffer_bytes == flows.total_bytes
    assert not trace.is_collective.any()


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (([0], [0], [1], [0]), "flow 0, 0 to 0, 1 B from 0 ps: it goes to its own sender"),
        (([0, 1], [1, 0], [1, -1], [0, 0]), "flow 1, 1 to 0, -1 B from 0 ps: its size is outside"),
        (([0], [1], [2**50 + 1], [0]), "its size is outside 0 to 2\\^50 B"),
        (([0], [1], [1], [-1]), "its start is outside 0 to 10\\^18 ps"),
        (([0], [1], [1], [10**18 + 1]), "its start is outside"),
        (([-1], [1], [1], [0]), "its sender is negative"),
        (([0], [-1], [1], [0]), "its receiver is negative"),
        (([2**31], [1], [1], [0]), "leave 32 bits"),
        (([0], [1], [1.5], [0]), "column size_bytes .* whole numbers, not float64"),
        (([0, 1], [1, 0], [1], [0, 0]), "one row a flow each, not src \\(2,\\), dst \\(2,\\), size_bytes \\(1,\\)"),
        (([[0]], [[1]], [[1]], [[0]]), "one row a flow each"),
    ],
)
def test_what_is_no_flow_is_refused(columns: tuple[list[int], ...], message: str) -> None:
    with pytest.raises(WorkloadError, match=f"^flows.txt: .*{message}"):
        FlowList(*columns, source="flows.txt")


def test_columns_are_read_only() -> None:
    flows = FlowList([0], [1], [4096], [7])
    with pytest.raises(ValueError, match="read-only"):
        flows.start_ps[0] = 8


FLOWS = FlowList([0, 2], [1, 0], [10, 20], [0, 5])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"kind": "flows", "group": (0, 1), "flows": FLOWS}, "a flow is of member 2, and its group has 2"),
        ({"kind": "flows", "group": (0, 1, 2)}, "take a FlowList"),
        ({"kind": "flows", "group": (0, 1, 2), "flows": FLOWS, "size_bytes": 1}, "neither a size nor a byte matrix"),
        ({"kind": "flows", "group": (0, 1, 2), "flows": FLOWS, "algorithm": "ring"}, "no algorithm, not 'ring'"),
        ({"kind": "sendrecv", "group": (0, 1), "flows": FLOWS, "size_bytes": 1}, "sendrecv takes no flows"),
    ],
)
def test_a_call_has_flows_or_none(given: dict[str, object], message: str) -> None:
    with pytest.raises(WorkloadError, match=message):
        CollectiveCall(name="list", **given)  # type: ignore[arg-type]


def test_a_call_without_a_flow_or_of_ranks_that_are_not_there_is_refused() -> None:
    with pytest.raises(WorkloadError, match=r"a\.txt: 'background' has no flow"):
        flow_call("background", FlowList([], [], [], [], "a.txt"))
    with pytest.raises(WorkloadError, match="flow 1, 2 to 0, 20 B from 5 ps: there are ranks 0 to 1"):
        flow_trace(2, FLOWS)
    with pytest.raises(WorkloadError, match="flow 1, 2 to 0, 20 B from 5 ps: there are ranks 0 to 1"):
        FLOWS.between(np.array([5, 6], dtype=np.int32))
