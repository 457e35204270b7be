# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from astra_py.collectives import lower
from astra_py.collectives.schedule import OuterKind
from astra_py.engines.base import AckPolicy, ExitReason
from astra_py.errors import CheckError, DeadlockError, SimulationError
from astra_py.results.checks import require_completed, require_passed, require_work, run_checks
from astra_py.results.record import RunRecord
from astra_py.workloads import TraceBuilder
from result_cases import one_collective, with_columns

ALL = [
    "operations",
    "participations",
    "durations",
    "limits",
    "priorities",
    "data_flow",
    "messages",
    "message_bytes",
    "sent_bytes",
    "received_bytes",
    "message_ends",
    "link_payload_bytes",
    "link_line_bytes",
    "link_delivery",
    "link_busy",
    "switch_frames",
    "switch_payload",
    "ports_sent",
    "ports_received",
    "lossless",
    "buffer_sizes",
    "buffers",
    "pauses",
    "marks",
    "notifications",
    "dependencies",
    "moments",
    "speed",
    "nothing_left",
]
#: Channels of the star: from rank 0 to the switch, and back.
_UP, _DOWN = 0, 1


def _failed(record: RunRecord) -> list[str]:
    return [check.name for check in run_checks(record) if not check.passed]


@pytest.mark.parametrize(("kind", "algorithm"), [("all_reduce", "ring"), ("all_to_all", "direct")])
@pytest.mark.parametrize("size_bytes", [4, 40_000, 40_003])
@pytest.mark.parametrize(
    "transport",
    [
        {},
        {"ack_policy": AckPolicy.EVERY, "ack_every": 3},
        {"ack_policy": AckPolicy.PER_MESSAGE},
        {"ack_policy": AckPolicy.OUT_OF_BAND},
        {"qps_per_peer": 2},
    ],
    ids=str,
)
def test_a_right_run_passes_every_check(kind: str, algorithm: str, size_bytes: int, transport: dict[str, int]) -> None:
    checks = run_checks(one_collective(kind, algorithm, ranks=5, size_bytes=size_bytes, **transport))
    assert [check.name for check in checks] == ALL
    assert all(check.passed for check in checks), [str(check) for check in checks if not check.passed]


@pytest.fixture(scope="module")
def record() -> RunRecord:
    return one_collective()


def _bump(column: np.ndarray, by: int = 1, at: int = 0) -> np.ndarray:
    changed = column.copy()
    changed[at] += by
    return changed


def test_an_operation_that_never_ended_is_named(record: RunRecord) -> None:
    end = record.columns.op_end_ps.copy()
    end[2] = -1
    checks = {check.name: check for check in run_checks(with_columns(record, op_end_ps=end))}
    assert not checks["operations"].passed
    assert "collective on rank 2: declared 1, measured 0" in str(checks["operations"])
    assert "all_reduce on rank 2" in str(checks["participations"])


def test_a_message_that_was_not_delivered_is_named(record: RunRecord) -> None:
    delivered = record.columns.message_delivered_ps.copy()
    delivered[3] = -1
    failed = run_checks(with_columns(record, message_delivered_ps=delivered))
    assert [check.name for check in failed if not check.passed] == ["messages"]
    assert "rank 3 to rank 0: declared 1, measured 0" in str(next(check for check in failed if not check.passed))
    # what is derived from messages is left out where these are wrong
    assert "link_line_bytes" not in [check.name for check in failed]


def test_a_message_that_was_delivered_twice_is_found(record: RunRecord) -> None:
    op = record.columns.message_op.copy()
    op[3] = op[2]
    assert "messages" in _failed(with_columns(record, message_op=op))


def test_sizes_that_are_not_those_declared_are_found(record: RunRecord) -> None:
    columns = record.columns
    assert _failed(with_columns(record, message_size_bytes=_bump(columns.message_size_bytes))) == ["message_bytes"]
    assert _failed(with_columns(record, message_delivered_bytes=_bump(columns.message_delivered_bytes, -1))) == [
        "message_bytes"
    ]


@pytest.mark.parametrize(
    ("column", "at", "checks"),
    [
        ("rank_sent_payload_bytes", 0, ["sent_bytes"]),
        ("rank_received_payload_bytes", 0, ["received_bytes"]),
        ("channel_payload_bytes", _UP, ["link_payload_bytes", "link_delivery", "ports_sent"]),
        ("channel_payload_bytes", _DOWN, ["link_payload_bytes", "link_delivery", "switch_payload"]),
        ("channel_delivered_payload_bytes", _UP, ["link_delivery", "switch_payload"]),
        ("channel_delivered_payload_bytes", _DOWN, ["link_delivery", "ports_received"]),
        ("channel_line_bytes", _UP, ["link_line_bytes", "link_busy"]),
        ("channel_frames", _DOWN, ["switch_frames"]),
        ("channel_busy_ps", _UP, ["link_busy"]),
    ],
)
@pytest.mark.parametrize("by", [1, -1])
def test_one_more_or_less_on_a_counter_is_found(
    record: RunRecord, column: str, at: int, checks: list[str], by: int
) -> None:
    assert _failed(with_columns(record, **{column: _bump(getattr(record.columns, column), by, at)})) == checks


def test_more_line_bytes_are_right_only_where_packets_were_sent_again(record: RunRecord) -> None:
    columns = record.columns
    more = {
        "channel_line_bytes": _bump(columns.channel_line_bytes, 1082),
        "channel_busy_ps": _bump(columns.channel_busy_ps, 1082 * 80),
    }
    again = {
        "message_retransmitted_packets": _bump(columns.message_retransmitted_packets),
        "channel_data_frames": columns.channel_payload_bytes // 1000,
    }
    assert _failed(with_columns(record, **more)) == ["link_line_bytes"]
    assert _failed(with_columns(record, **more, **again)) == []
    less = {
        "channel_line_bytes": _bump(columns.channel_line_bytes, -1),
        "channel_busy_ps": _bump(columns.channel_busy_ps, -80),
    }
    assert _failed(with_columns(record, **less, **again)) == ["link_line_bytes"]


def test_a_message_posted_before_the_one_it_waits_for_arrived_is_found(record: RunRecord) -> None:
    columns = record.columns
    last = len(columns.message_posted_ps) - 1
    posted = _bump(columns.message_posted_ps, -1, last)
    failed = {
        check.name: check for check in run_checks(with_columns(record, message_posted_ps=posted)) if not check.passed
    }
    assert list(failed) == ["dependencies"]
    assert f"message {last} is posted before message" in str(failed["dependencies"])


def test_a_part_that_ends_before_its_last_message_arrived_is_found(record: RunRecord) -> None:
    last = int(record.columns.message_delivered_ps.argmax())
    dst = int(record.columns.message_dst[last])
    assert _failed(with_columns(record, op_end_ps=_bump(record.columns.op_end_ps, -1, dst))) == ["dependencies"]


def test_a_message_posted_before_its_sender_joined_is_found(record: RunRecord) -> None:
    assert _failed(with_columns(record, op_start_ps=_bump(record.columns.op_start_ps, 1))) == ["dependencies"]


def test_a_part_that_ends_before_its_last_message_left_is_found() -> None:
    record = one_collective("sendrecv", "direct", ranks=2)
    end = record.columns.op_end_ps.copy()
    end[0] = record.columns.message_sent_ps[0] - 1
    assert _failed(with_columns(record, op_end_ps=end)) == ["dependencies"]


def _locals(ends: list[int]) -> RunRecord:
    """Two computes of 10 us on rank 0, the second after the first, beside a collective without further checks."""
    record = one_collective(ranks=2)
    schedule = replace(
        record.schedule,
        kind=np.array([OuterKind.COLLECTIVE] * 2 + [OuterKind.COMPUTE] * 2, dtype=np.uint8),
        rank=np.array([0, 1, 0, 0], dtype=np.int32),
        duration_ps=np.array([0, 0, 10, 10]),
        instance=np.array([0, 0, -1, -1], dtype=np.int32),
        member=np.array([0, 1, -1, -1], dtype=np.int32),
        dep_ptr=np.array([0, 0, 0, 0, 1]),
        dep_op=np.array([2], dtype=np.int32),
        name=np.zeros(4, dtype=np.int32),
    )
    build = TraceBuilder(2)
    build.collective(record.trace.calls[0])
    first = build.compute([0], 10, name="first")
    build.compute([0], 10, name="second", after=first)
    start, end = record.columns.op_start_ps, record.columns.op_end_ps
    changed = replace(record, schedule=schedule, trace=build.build())
    return with_columns(
        changed,
        op_start_ps=np.concatenate([start, [0, ends[0]]]),
        op_end_ps=np.concatenate([end, [10, ends[1]]]),
    )


def test_computes_are_held_to_their_durations_and_order() -> None:
    assert _failed(_locals([10, 20])) == []
    assert _failed(_locals([15, 25])) == []
    assert _failed(_locals([10, 21])) == ["durations"]
    # the second starts while the first, which it waits for, still holds the stream that both need
    assert _failed(_locals([9, 19])) == ["limits", "dependencies"]


def test_latencies_of_the_endpoints_count_in_the_least_time_of_a_message() -> None:
    record = one_collective("sendrecv", "direct", ranks=2, size_bytes=1_000_000)
    slow = replace(record, transport=replace(record.transport, receive_latency_ps=10**9))
    assert _failed(slow) == ["moments", "speed"]


def test_moments_out_of_order_are_found(record: RunRecord) -> None:
    columns = record.columns
    late = _bump(columns.message_sent_ps, int(columns.message_delivered_ps[0] - columns.message_sent_ps[0]) + 1)
    assert "moments" in _failed(with_columns(record, message_sent_ps=late))
    early = _bump(columns.message_acked_ps, int(columns.message_delivered_ps[0] - columns.message_acked_ps[0]) - 1)
    assert "moments" in _failed(with_columns(record, message_acked_ps=early))


def test_a_message_faster_than_its_links_is_found() -> None:
    record = one_collective("sendrecv", "direct", ranks=2, size_bytes=1_000_000)
    columns = record.columns
    floor_ps = 1_000_000 * 80 + 2 * 500_000 + 300_000
    for fast, failed in ((floor_ps, []), (floor_ps - 1000, ["speed"])):
        delivered = np.array([fast])
        sent = np.minimum(columns.message_sent_ps, delivered)
        ends = np.maximum(sent, delivered).repeat(2)
        assert (
            _failed(with_columns(record, message_delivered_ps=delivered, message_sent_ps=sent, op_end_ps=ends))
            == failed
        )


def test_frames_left_over_are_found(record: RunRecord) -> None:
    counters = {**record.columns.counters, "frames_in_flight": 2}
    failed = [check for check in run_checks(with_columns(record, counters=counters)) if not check.passed]
    assert [check.name for check in failed] == ["nothing_left"]
    assert "frames_in_flight: declared 0, measured 2" in str(failed[0])


@pytest.mark.parametrize("name", ["frames_in_flight", "events_left"])
def test_what_is_left_over_has_to_be_reported(record: RunRecord, name: str) -> None:
    counters = {key: value for key, value in record.columns.counters.items() if key != name}
    assert _failed(with_columns(record, counters=counters)) == ["nothing_left"]


def test_failed_checks_raise_with_both_sides(record: RunRecord) -> None:
    checks = run_checks(with_columns(record, rank_sent_payload_bytes=_bump(record.columns.rank_sent_payload_bytes)))
    with pytest.raises(
        CheckError, match=r"1 of 29 checks failed.*\n.*rank 0: declared 60,000, measured 60,001"
    ) as caught:
        require_passed(checks)
    assert caught.value.exit_code == 3


def test_a_deadlock_lists_what_waits(record: RunRecord) -> None:
    stuck = with_columns(
        record,
        exit_reason=ExitReason.DEADLOCK,
        op_end_ps=np.array([5, -1, -1, -1]),
        waiting=("rank 1: all_reduce waits for message 3",),
    )
    with pytest.raises(DeadlockError, match=r"1 of 4 operations done.*\n  rank 1: all_reduce waits for message 3"):
        require_completed(stuck)


@pytest.mark.parametrize("reason", [ExitReason.EVENT_LIMIT, ExitReason.TIME_LIMIT])
def test_a_limit_is_an_error_with_its_reason(record: RunRecord, reason: ExitReason) -> None:
    with pytest.raises(SimulationError, match="limit reached: 4 of 4 operations done") as caught:
        require_completed(with_columns(record, exit_reason=reason))
    assert caught.value.reason == reason


def test_a_simulator_that_was_stopped_from_outside_is_an_error(record: RunRecord) -> None:
    with pytest.raises(SimulationError, match=r"stopped from outside .*: 4 of 4 operations done at") as caught:
        require_completed(with_columns(record, exit_reason=ExitReason("stopped")))
    assert caught.value.reason == "stopped"


def test_collectives_without_a_message_are_no_work() -> None:
    record = one_collective(ranks=4)
    alone = one_collective(ranks=4, size_bytes=0)
    require_work(record.trace, record.schedule)
    with pytest.raises(SimulationError, match="put no byte on any link") as caught:
        require_work(alone.trace, alone.schedule)
    assert caught.value.reason == "no_work"


def test_operations_that_take_no_time_are_no_work() -> None:
    def require_work_of(duration_ps: list[int]) -> None:
        build = TraceBuilder(2)
        build.compute([0, 1], duration_ps, name="work")
        trace = build.build()
        require_work(trace, lower(trace))

    require_work_of([0, 1])
    with pytest.raises(SimulationError, match="2 operations take no time, and it has no collective") as caught:
        require_work_of([0, 0])
    assert caught.value.reason == "no_work"


def test_nothing_at_all_is_no_work(record: RunRecord) -> None:
    none = np.zeros(0, dtype=np.uint8)
    with pytest.raises(SimulationError, match="no operation"):
        require_work(record.trace, replace(record.schedule, kind=none))
