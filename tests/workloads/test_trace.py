# SPDX-License-Identifier: GPL-2.0-only
"""Trace, its builder and CollectiveCall: structure, totals, and errors that name the node."""

from dataclasses import replace

import numpy as np
import pytest

from astra_py.errors import WorkloadError
from astra_py.workloads import CollectiveCall, NodeKind, Trace, TraceBuilder


def two_rank_trace() -> Trace:
    build = TraceBuilder(3)
    forward = build.compute([0, 1, 2], [10, 20, 30], name="a.forward", phase="forward")
    call = CollectiveCall(name="a.gradient", kind="all_reduce", group=(2, 0), size_bytes=64, priority=3, iteration=1)
    done = build.collective(call, after=forward[[2, 0]], phase="backward")
    build.memory([2, 0], 5, name="a.update", after=done, iteration=1, phase="backward")
    build.compute([0, 1], 7, name="b", after=[forward[:2], np.array([-1, forward[1]])], phase="backward", iteration=1)
    return build.build()


def test_nodes_are_in_order_of_adding_with_their_dependencies() -> None:
    trace = two_rank_trace()
    table = trace.to_pandas()
    assert len(trace) == 9
    assert trace.iterations == 2
    assert table["kind"].tolist() == ["compute"] * 3 + ["collective"] * 2 + ["memory"] * 2 + ["compute"] * 2
    assert table["rank"].tolist() == [0, 1, 2, 2, 0, 2, 0, 0, 1]
    assert table["after"].tolist() == [(), (), (), (2,), (0,), (3,), (4,), (0,), (1, 1)]
    assert table["collective"].tolist() == [-1, -1, -1, 0, 0, -1, -1, -1, -1]
    assert table["stream"].tolist() == ["compute"] * 3 + [""] * 4 + ["compute"] * 2


def test_compute_counts_no_memory_work() -> None:
    trace = two_rank_trace()
    assert trace.compute_ps().tolist() == [17, 27, 30]
    assert trace.compute_ps("forward").tolist() == [10, 20, 30]
    assert trace.compute_ps("backward").tolist() == [7, 7, 0]
    with pytest.raises(WorkloadError, match="no phase 'sideways'; it has forward, backward"):
        trace.compute_ps("sideways")


def test_an_empty_trace_has_no_nodes() -> None:
    trace = TraceBuilder(4).build()
    assert len(trace) == 0
    assert trace.iterations == 0
    assert trace.compute_ps().tolist() == [0, 0, 0, 0]
    assert trace.to_pandas().empty


@pytest.mark.parametrize(
    ("column", "row", "value", "message"),
    [
        ("rank", 1, 3, r"node 1 \('a.forward', rank 3\): its rank is outside 0 to 2"),
        ("kind", 0, 9, "node 0 .*unknown kind"),
        ("duration_ps", 2, -1, "node 2 .*duration is negative"),
        ("duration_ps", 3, 1, "node 3 .*time is not given"),
        ("call", 0, 0, "node 0 .*a collective node, and no other"),
        ("call", 4, 1, "node 4 .*outside the 1 calls"),
        ("phase", 5, 2, "node 5 .*phase has no label"),
        ("stream", 5, 1, "node 5 .*stream has no name"),
        ("iteration", 6, -1, "node 6 .*iteration is negative"),
        ("name", 0, 77, "name indexes 4 names"),
        ("dep_node", 0, 3, "node 3 .*does not precede"),
        ("dep_node", 0, 1, "node 3 .*another rank"),
        ("dep_ptr", 9, 99, "does not frame"),
    ],
)
def test_a_broken_column_is_named(column: str, row: int, value: int, message: str) -> None:
    trace = two_rank_trace()
    changed = getattr(trace, column).copy()
    changed[row] = value
    with pytest.raises(WorkloadError, match=message):
        replace(trace, **{column: changed})


def test_every_member_takes_part_once() -> None:
    trace = two_rank_trace()
    call = CollectiveCall(name="a.gradient", kind="all_reduce", group=(2, 0, 1), size_bytes=64, source="m.txt, line 4")
    with pytest.raises(WorkloadError, match=r"m.txt, line 4: .*'a.gradient'.* nodes of ranks \[0, 2\] take part"):
        replace(trace, calls=(call,))
    with pytest.raises(WorkloadError, match="has rank 5, and the job has ranks 0 to 2"):
        replace(trace, calls=(replace(call, group=(2, 5)),))


def test_builder_refuses_what_does_not_fit() -> None:
    build = TraceBuilder(2)
    first = build.compute([0, 1], 1, name="first")
    with pytest.raises(WorkloadError, match=r"'late'.*shape \(1,\)"):
        build.compute([0, 1], 1, name="late", after=first[:1])
    with pytest.raises(WorkloadError, match=r"'late'.*outside the 2"):
        build.compute([0, 1], 1, name="late", after=np.array([0, 2]))
    with pytest.raises(WorkloadError, match="at least one rank"):
        TraceBuilder(0)


MATRIX = np.array([[0, 5], [7, 0]])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "allreduce"}, "unknown collective kind 'allreduce'"),
        ({"group": ()}, "different ranks"),
        ({"group": (1, 1)}, "different ranks"),
        ({"group": (0, -1)}, "different ranks"),
        ({"size_bytes": -1}, "outside 0 to 2"),
        ({"size_bytes": 2**50 + 1}, "outside 0 to 2"),
        ({"size_bytes": 1.5}, "size_bytes = 1.5 is not a whole number"),
        ({"size_bytes": True}, "size_bytes = True is not a whole number"),
        ({"size_bytes": None}, "takes a size"),
        ({"matrix": MATRIX}, "no byte matrix"),
        ({"priority": 7}, "priority 7 is outside 0 to 6"),
        ({"kind": "sendrecv", "group": (0, 1, 2)}, "a sender and a receiver, not 3"),
        ({"kind": "all_to_all_v"}, "a byte matrix and no size"),
        ({"kind": "all_to_all_v", "size_bytes": None, "matrix": MATRIX[:1]}, r"not \(1, 2\)"),
        ({"kind": "all_to_all_v", "size_bytes": None, "matrix": MATRIX - 6}, "-6 bytes from member 0 to member 0"),
        ({"kind": "all_to_all_v", "size_bytes": None, "matrix": MATRIX * 0.5}, "integers, not float64"),
        ({"kind": "all_to_all_v", "size_bytes": None, "matrix": MATRIX.astype(np.uint64) + 2**63}, "above 2"),
        ({"kind": "all_to_all_v", "size_bytes": None, "matrix": MATRIX + 2**49}, "row or column .* above 2"),
    ],
)
def test_a_call_that_makes_no_sense_is_refused(changes: dict[str, object], message: str) -> None:
    good = {"name": "x", "kind": "all_reduce", "group": (0, 1), "size_bytes": 8, "source": "job.txt, line 2"}
    with pytest.raises(WorkloadError, match=message) as caught:
        CollectiveCall(**{**good, **changes})  # type: ignore[arg-type]
    assert str(caught.value).startswith("job.txt, line 2: collective 'x': ")


def test_a_trace_whose_bytes_leave_64_bits_is_refused() -> None:
    build = TraceBuilder(256)
    for name in ("first", "second"):
        call = CollectiveCall(name=name, kind="all_reduce", group=tuple(range(256)), size_bytes=2**50, source="job")
        build.collective(call)
        if name == "first":
            assert len(build.build().calls) == 1
    with pytest.raises(WorkloadError, match=r"job: collective 'second': with it .* at most 2\^58 B"):
        build.build()


def test_a_matrix_is_copied_and_read_only() -> None:
    matrix = MATRIX.copy()
    call = CollectiveCall(name="x", kind="all_to_all_v", group=(0, 1), matrix=matrix)
    matrix[0, 1] = 0
    assert call.matrix is not None
    assert call.matrix.tolist() == MATRIX.tolist()
    assert call.payload is call.matrix
    with pytest.raises(ValueError, match="read-only"):
        call.matrix[0, 1] = 0


def test_kinds_of_nodes_are_those_of_schedules() -> None:
    from astra_py.collectives import OuterKind

    assert {kind.name: int(kind) for kind in NodeKind} == {kind.name: int(kind) for kind in OuterKind}
