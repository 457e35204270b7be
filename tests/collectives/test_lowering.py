# SPDX-License-Identifier: GPL-2.0-only
"""Trace to Schedule: templates shared, members, priorities, pools, and errors with the line of the workload."""

from pathlib import Path

import numpy as np
import pytest

from astra_py.collectives import (
    EdgeOn,
    Group,
    OuterKind,
    PoolOrder,
    ScheduleBuilder,
    SystemModel,
    build_template,
    check_dataflow,
    collective,
    lower,
    registry,
)
from astra_py.errors import ConfigError, WorkloadError
from astra_py.workloads import CollectiveCall, Trace, TraceBuilder, read_astra_text, training_trace

DLRM_2020 = Path(__file__).parents[2] / "workloads" / "dlrm_2020.txt"


def dlrm(ranks: int = 4, iterations: int = 2) -> Trace:
    return training_trace(read_astra_text(DLRM_2020), ranks=ranks, iterations=iterations)


def call(name: str, group: tuple[int, ...], size_bytes: int = 800, **more: object) -> CollectiveCall:
    return CollectiveCall(**{"name": name, "kind": "all_reduce", "group": group, "size_bytes": size_bytes, **more})  # type: ignore[arg-type]


def trace_of(*calls: CollectiveCall, ranks: int = 6) -> Trace:
    build = TraceBuilder(ranks)
    for each in calls:
        build.collective(each)
    return build.build()


@pytest.fixture
def own_algorithms(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test register algorithms that are gone after it."""
    for own in registry._algorithms.values():
        monkeypatch.setattr(own, "_known", dict(own._known))


def test_operations_are_the_traces_nodes() -> None:
    trace = dlrm()
    schedule = lower(trace)
    assert len(schedule) == len(trace)
    for column in ("kind", "rank", "duration_ps", "name", "iteration", "phase", "dep_ptr"):
        assert np.array_equal(getattr(schedule, column), getattr(trace, column)), column
    assert np.array_equal(schedule.dep_op, trace.dep_node)
    assert np.array_equal(schedule.instance, trace.call)
    assert schedule.instance_call.tolist() == list(range(len(trace.calls)))
    is_collective = schedule.kind == OuterKind.COLLECTIVE
    assert np.array_equal(schedule.member[is_collective], schedule.rank[is_collective])
    assert (schedule.member[~is_collective] == -1).all()
    assert schedule.dep_op.dtype == np.int32
    assert schedule.priority.dtype == np.uint8


def test_equal_collectives_share_a_template() -> None:
    schedule = lower(dlrm())
    shapes = {(t.collective, t.algorithm, int(t.size_bytes.sum())) for t in schedule.templates}
    assert len(schedule.templates) == len(shapes) == 5
    assert len(schedule.instance_template) == 18
    per_iteration = 7 * 2 * 3 * 4 + 2 * 4 * 3
    assert schedule.message_count == 2 * per_iteration


def test_groups_are_shared_and_members_are_group_coordinates() -> None:
    schedule = lower(trace_of(call("a", (5, 2, 3)), call("b", (0, 1, 4)), call("c", (5, 2, 3), 900)))
    assert schedule.group(0).tolist() == [5, 2, 3]
    assert schedule.instance_group.tolist() == [0, 1, 0]
    assert schedule.instance_template.tolist() == [0, 0, 1]
    assert schedule.rank.tolist() == [5, 2, 3, 0, 1, 4, 5, 2, 3]
    assert schedule.member.tolist() == [0, 1, 2] * 3


def test_matrices_are_told_apart_by_their_bytes() -> None:
    one = np.array([[0, 5], [6, 0]])
    calls = [
        CollectiveCall(name=str(i), kind="all_to_all_v", group=(0, 1), matrix=matrix)
        for i, matrix in enumerate((one, one.T, one.copy()))
    ]
    assert lower(trace_of(*calls)).instance_template.tolist() == [0, 1, 0]


def test_priorities_are_carried() -> None:
    schedule = lower(trace_of(call("a", (0, 1), priority=6), call("b", (0, 1))))
    assert schedule.instance_priority.tolist() == [6, 0]
    assert schedule.priority.tolist() == [6, 6, 0, 0]


def test_a_stream_is_a_pool_of_one() -> None:
    build = TraceBuilder(2)
    build.compute([0, 1, 0], 1, name="x", stream="compute")
    build.compute([1], 1, name="y", stream="copy")
    build.memory([0], 1, name="z")
    schedule = lower(build.build())
    assert schedule.pool_owner.tolist() == [0, 1, 1]
    assert schedule.pool_capacity.tolist() == [1, 1, 1]
    assert schedule.pool_order.tolist() == [PoolOrder.FIFO] * 3
    assert schedule.use_ptr.tolist() == [0, 1, 2, 3, 4, 4]
    assert schedule.use_pool.tolist() == [0, 1, 0, 2]


def test_active_collectives_are_limited_by_a_pool_a_rank() -> None:
    trace = dlrm(ranks=3, iterations=1)
    schedule = lower(trace, max_active_collectives=2, scheduling=PoolOrder.PRIORITY)
    assert schedule.pool_owner.tolist() == [0, 1, 2, 0, 1, 2]
    assert schedule.pool_capacity.tolist() == [1, 1, 1, 2, 2, 2]
    assert schedule.pool_order.tolist() == [PoolOrder.FIFO] * 3 + [PoolOrder.PRIORITY] * 3
    for op in range(len(schedule)):
        used = schedule.use_pool[schedule.use_ptr[op] : schedule.use_ptr[op + 1]].tolist()
        first = {OuterKind.COMPUTE: [0], OuterKind.COLLECTIVE: [3], OuterKind.MEMORY: []}[OuterKind(schedule.kind[op])]
        assert used == [pool + int(schedule.rank[op]) for pool in first]
    with pytest.raises(ConfigError, match=r"system\.max_active_collectives = 0"):
        lower(trace, max_active_collectives=0)


def test_the_system_reaches_the_templates() -> None:
    system = SystemModel(local_memory_bandwidth_bps=10**12, notify_on=EdgeOn.ACKED)
    (template,) = lower(trace_of(call("a", (0, 1, 2))), system=system).templates
    assert template.notify_on == EdgeOn.ACKED
    assert template.duration_ps.max() > 0


def test_groups_of_one_rank_and_empty_traces() -> None:
    schedule = lower(trace_of(call("alone", (3,))))
    assert len(schedule.templates[0]) == 0
    assert schedule.message_count == 0
    empty = lower(TraceBuilder(2).build())
    assert len(empty) == 0
    assert empty.message_count == 0
    assert empty.to_pandas().empty


def test_a_collective_without_an_algorithm_is_named_with_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry._algorithms["broadcast"], "_known", {})
    trace = trace_of(call("b", (0, 1), kind="broadcast", source="model.txt, line 4"))
    with pytest.raises(WorkloadError, match=r"model.txt, line 4: .*no algorithm is known for broadcast; .*all_reduce"):
        lower(trace)


def test_gathers_and_scatters_of_a_text_workload_run(tmp_path: Path) -> None:
    path = tmp_path / "model.txt"
    text = DLRM_2020.read_text().replace("ALLREDUCE   13312", "ALLGATHER   13312")
    path.write_text(text.replace("ALLREDUCE  524288   524\nbottom_2", "REDUCESCATTER 524288 524\nbottom_2"))
    trace = training_trace(read_astra_text(path), ranks=4, iterations=1)
    schedule = lower(trace)
    # A rank brings 13,312 B to the all-gather, and the reduce-scatter is of 524,288 B in all.
    size = {"all_gather": 4 * 13_312, "reduce_scatter": 524_288}
    found = {t.collective: t for t in schedule.templates if t.collective in size}
    assert set(found) == set(size)
    for kind, template in found.items():
        assert template.algorithm == "ring"
        assert set(template.size_bytes.tolist()) == {size[kind] // 4}
        assert len(template) == 3 * 4
        check_dataflow(template, size[kind])


@pytest.mark.parametrize(
    ("algorithms", "message"),
    [
        (
            {"all_reduce": "rign"},
            "unknown all_reduce algorithm 'rign'; allowed: ring, .*, auto; did you mean 'ring'?",
        ),
        ({"all_redcue": "ring"}, "unknown collective 'all_redcue'; allowed: all_reduce, .*did you mean 'all_reduce'?"),
    ],
)
def test_unknown_names_are_refused(algorithms: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        lower(trace_of(call("a", (0, 1))), algorithms)


def test_an_error_inside_an_algorithm_says_which_collective_was_built() -> None:
    with pytest.raises(ConfigError) as caught:
        lower(trace_of(call("a", (0, 1), algorithm="rnig", source="job.txt, line 7")))
    assert caught.value.__notes__ == ["while building collective 'a' of job.txt, line 7"]


@pytest.mark.usefixtures("own_algorithms")
def test_a_users_algorithm_goes_the_same_way() -> None:
    seen: list[tuple[int, list[list[int]]]] = []

    @collective("all_to_all", name="backwards")
    def backwards(build: ScheduleBuilder, group: Group, matrix: np.ndarray) -> None:
        seen.append((group.size, matrix.tolist()))
        for step in range(group.size - 1, 0, -1):
            src = np.arange(group.size)
            dst = (src + step) % group.size
            build.send(src, dst, matrix[src, dst], blocks=src * group.size + dst)

    exchange = call("x", (0, 1, 2), 7, kind="all_to_all")
    schedule = lower(trace_of(exchange, exchange), {"all_to_all": "backwards"})
    assert seen == [(3, [[3, 2, 2]] * 3)]
    assert schedule.templates[0].algorithm == "backwards"
    chosen = lower(trace_of(call("x", (0, 1, 2), 7, kind="all_to_all", algorithm="backwards")))
    assert chosen.templates[0].algorithm == "backwards"


@pytest.mark.usefixtures("own_algorithms")
def test_an_algorithm_that_looks_at_ranks_is_built_for_each_group() -> None:
    @collective("sendrecv", name="by_place")
    def by_place(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
        build.send(0, 1, [size_bytes] * group.ranks[0])

    calls = [call(str(group), group, kind="sendrecv") for group in ((1, 0), (2, 0), (1, 0))]
    schedule = lower(trace_of(*calls), {"sendrecv": "by_place"})
    assert schedule.instance_template.tolist() == [0, 1, 0]
    assert [len(template) for template in schedule.templates] == [1, 2]


@pytest.mark.parametrize(
    ("kind", "algorithm", "payload", "message"),
    [
        ("all_reduce", "ring", np.zeros((2, 2), dtype=np.int64), "takes a size, not an array"),
        (
            "all_to_all",
            "direct",
            np.zeros((2, 3), dtype=np.int64),
            r"of shape \(2, 2\), not an array of shape \(2, 3\)",
        ),
        ("all_to_all_v", "direct", 5, r"a byte matrix of shape \(2, 2\), not 5"),
        ("all_reduce", "ring", -4, "a size is 0 bytes or more, not -4"),
        ("all_to_all", "direct", -np.eye(2, dtype=np.int64), "a negative entry, -1"),
    ],
)
def test_a_payload_fits_its_kind(kind: str, algorithm: str, payload: int | np.ndarray, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        build_template(kind, algorithm, 2, payload)


def test_numpy_sizes_are_sizes() -> None:
    size = np.int64(800)
    assert len(build_template("all_to_all", "direct", 3, size)) == 6  # type: ignore[arg-type]
    assert type(call("a", (0, 1), size_bytes=size).payload) is int  # type: ignore[arg-type]


def test_registering_needs_a_known_kind_and_three_arguments() -> None:
    with pytest.raises(ConfigError, match=r"unknown collective 'alltoall'.*did you mean 'all_to_all'"):
        collective("alltoall", name="x")
    with pytest.raises(ConfigError, match=r"all_to_all algorithm 'x': a function of \(build, group, matrix\)"):
        collective("all_to_all", name="x")(lambda build: None)  # type: ignore[type-var]
