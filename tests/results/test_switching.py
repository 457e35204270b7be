# SPDX-License-Identifier: GPL-2.0-only
"""Tables and checks of switches and congestion, on a run with measurements put in by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from astra_py.engines.base import AckPolicy, WindowPolicy
from astra_py.errors import DeadlockError
from astra_py.results.build import build_result
from astra_py.results.checks import require_completed, run_checks
from astra_py.results.congestion import congestion_section
from astra_py.results.queues import pauses_table, queues_table
from astra_py.results.record import RunRecord
from astra_py.results.result import Result
from result_cases import SWITCH, one_collective, with_columns

#: Of the star: what rank 1 sends, and what the switch sends to it.
UP, DOWN = 2, 3
#: The switch, after ranks 0 to 3.
NODE = 4
#: Reserve of a 1,098 B frame and a PAUSE, and headroom: 12,500 B on the way, two frames, 3,840 B; four ports, 0 and 7.
KEPT = 4 * 2 * (1098 + 84 + 12_500 + 2 * 1098 + 3840)


def column(length: int = 8, **at: int) -> np.ndarray:
    """Zeros but for ``c2=5``: 5 at index 2."""
    values = np.zeros(length, dtype=np.int64)
    for index, value in at.items():
        values[int(index[1:])] = value
    return values


@pytest.fixture(scope="module")
def record() -> RunRecord:
    plain = one_collective()
    return replace(plain, transport=replace(plain.transport, congestion_control="ns3::Dcqcn"))


def measured(record: RunRecord, counters: dict[str, int] | None = None, **columns: Any) -> RunRecord:
    """The record with some of its frames data, and further measurements."""
    data = record.columns.channel_payload_bytes // 1000
    return with_columns(
        record,
        channel_data_frames=data,
        counters={**record.columns.counters, **(counters or {})},
        **columns,
    )


def failed(record: RunRecord) -> list[str]:
    return [check.name for check in run_checks(record) if not check.passed]


def episode(start: int, end: int, channel: int = UP) -> dict[str, np.ndarray]:
    return {
        "pause_channel": np.array([channel], dtype=np.int32),
        "pause_priority": np.array([3], dtype=np.uint8),
        "pause_start_ps": np.array([start], dtype=np.int64),
        "pause_end_ps": np.array([end], dtype=np.int64),
    }


def with_pfc(record: RunRecord, channel: int, frames: int) -> dict[str, np.ndarray]:
    """Columns of a channel that carries PAUSE and RESUME frames beside what it carried."""
    more = column(**{f"c{channel}": frames})
    columns = record.columns
    return {
        "channel_frames": columns.channel_frames + more,
        "channel_pfc_frames": more,
        "channel_line_bytes": columns.channel_line_bytes + 84 * more,
        "channel_busy_ps": columns.channel_busy_ps + 84 * 80 * more,
    }


def test_a_run_with_nothing_of_it_passes(record: RunRecord) -> None:
    assert failed(measured(record)) == []


def test_pauses_are_in_the_tables_and_pass(record: RunRecord) -> None:
    paused = {"channel_pauses": column(c2=1), "channel_paused_ps": column(c2=400)}
    run = measured(record, **with_pfc(record, DOWN, 2), **paused, **episode(1000, 1400))
    assert failed(run) == []
    queues = queues_table(run)
    assert queues["channel"].tolist() == [1, 3, 5, 7]
    assert queues["switch"].tolist() == ["switch"] * 4
    assert queues["peer"].tolist() == ["rank0", "rank1", "rank2", "rank3"]
    # the switch made rank 1 pause, by two frames that its own port sent
    assert queues["pauses_sent"].tolist() == [0, 1, 0, 0]
    assert queues["peer_paused_us"].tolist() == [0, 400 / 1e6, 0, 0]
    assert queues["pfc_frames"].tolist() == [0, 2, 0, 0]
    assert queues["pauses_received"].tolist() == [0] * 4
    assert queues["paused_us"].tolist() == [0.0] * 4
    pauses = pauses_table(run)
    assert (pauses["paused"].tolist(), pauses["by"].tolist()) == (["rank1"], ["switch"])
    assert (pauses["priority"].tolist(), pauses["start_ps"].tolist(), pauses["end_ps"].tolist()) == (
        [3],
        [1000],
        [1400],
    )
    assert pauses["time_us"].tolist() == [400 / 1e6]


@pytest.mark.parametrize(
    ("paused_ps", "end", "counters", "fails"),
    [
        (400, 1401, {}, ["pauses"]),
        (399, 1400, {}, ["pauses"]),
        (0, -1, {}, ["pauses"]),
        (400, 900, {}, ["pauses"]),
        (900, 1400, {"pauses_unlisted": 1}, []),
        (300, 1400, {"pauses_unlisted": 1}, ["pauses"]),
    ],
)
def test_an_episode_has_its_end(
    record: RunRecord, paused_ps: int, end: int, counters: dict[str, int], fails: list[str]
) -> None:
    run = measured(record, counters, channel_paused_ps=column(c2=paused_ps), **episode(1000, end))
    assert failed(run) == fails


def test_pfc_frames_have_their_line_bytes(record: RunRecord) -> None:
    columns = with_pfc(record, DOWN, 2)
    columns["channel_line_bytes"] = columns["channel_line_bytes"] - 84
    assert "link_line_bytes" in failed(measured(record, **columns))


@pytest.mark.parametrize(("held", "fails"), [(0, []), (10**6, []), (10**6 + 1, ["buffers"]), (-1, ["buffers"])])
def test_buffers_are_within_their_size(record: RunRecord, held: int, fails: list[str]) -> None:
    assert failed(measured(record, node_max_buffer_bytes=column(5, c4=held))) == fails
    assert queues_table(measured(record, node_max_buffer_bytes=column(5, c4=held)))["max_buffer_bytes"][0] == held


@pytest.mark.parametrize(
    ("asked", "size", "fails"),
    [
        (10**6, 10**6, []),
        (10**6, 10**6 - 1, ["buffer_sizes"]),
        (0, 0, []),
        (0, 10**6, ["buffer_sizes"]),
        (-1, 40_000_000, []),
        (-1, 31_999_999, ["buffer_sizes"]),
    ],
)
def test_the_engine_has_the_buffers_that_were_asked_for(
    record: RunRecord, asked: int, size: int, fails: list[str]
) -> None:
    run = replace(record, switch=replace(SWITCH, buffer_bytes=asked))
    assert failed(measured(run, node_buffer_bytes=column(5, c4=size))) == fails


def test_ranks_have_no_buffer(record: RunRecord) -> None:
    assert failed(measured(record, node_max_buffer_bytes=column(5, c0=1))) == ["buffers"]


def test_ports_keep_what_they_need_for_themselves_even_of_a_small_buffer(record: RunRecord) -> None:
    small = replace(record, switch=replace(SWITCH, buffer_bytes=1000))
    assert failed(measured(small, node_max_buffer_bytes=column(5, c4=KEPT))) == []
    assert failed(measured(small, node_max_buffer_bytes=column(5, c4=KEPT + 1))) == ["buffers"]


def refused(record: RunRecord) -> RunRecord:
    """A frame of 1,098 B from rank 1 that the switch did not take, sent again, acknowledged as if for nothing."""
    columns = record.columns
    return measured(
        record,
        channel_buffer_drops=column(c2=1),
        channel_frames=columns.channel_frames + column(c2=1),
        channel_payload_bytes=columns.channel_payload_bytes + column(c2=1000),
        channel_delivered_payload_bytes=columns.channel_delivered_payload_bytes + column(c2=1000),
        channel_line_bytes=columns.channel_line_bytes + column(c2=1098),
        channel_busy_ps=columns.channel_busy_ps + column(c2=1098 * 80),
        message_retransmitted_packets=column(len(columns.message_src), c0=1),
    )


def test_only_lossy_classes_drop(record: RunRecord) -> None:
    assert failed(refused(record)) == ["lossless"]
    for switch in (
        replace(SWITCH, lossless=(1, 7)),
        replace(SWITCH, headroom_bytes=0),
        replace(SWITCH, reserve_bytes=0),
    ):
        run = replace(refused(record), switch=switch)
        assert failed(run) == []
        assert "lossless" not in [check.name for check in run_checks(run)]
    assert failed(replace(refused(record), switch=replace(SWITCH, buffer_bytes=0))) == ["lossless"]
    assert queues_table(refused(record))["refused_frames"].tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize(
    ("changes", "channel", "count", "fails"),
    [
        ({}, DOWN, 60, []),
        ({}, DOWN, 61, ["marks"]),
        ({}, UP, 1, ["marks"]),
        ({"switch": replace(SWITCH, has_ecn=False)}, DOWN, 1, ["marks"]),
    ],
)
def test_marks_are_where_ecn_is(
    record: RunRecord, changes: dict[str, Any], channel: int, count: int, fails: list[str]
) -> None:
    run = measured(replace(record, **changes), channel_marked_frames=column(**{f"c{channel}": count}))
    assert failed(run) == fails


def test_a_control_without_marks_has_none(record: RunRecord) -> None:
    for control in ("", "ns3::Hpcc"):
        other = replace(record, transport=replace(record.transport, congestion_control=control))
        assert failed(measured(other, channel_marked_frames=column(c3=1))) == ["marks"]


def with_cnps(record: RunRecord, marks: int, cnps: int) -> RunRecord:
    """Rank 1 marks its way to ``cnps`` notifications to rank 0 over the switch."""
    columns, more = record.columns, column(c2=cnps, c1=cnps)
    return measured(
        record,
        {"cnps": cnps},
        channel_marked_frames=column(c3=marks),
        channel_frames=columns.channel_frames + more,
        channel_line_bytes=columns.channel_line_bytes + 98 * more,
        channel_busy_ps=columns.channel_busy_ps + 98 * 80 * more,
    )


def test_notifications_are_of_marks(record: RunRecord) -> None:
    assert failed(with_cnps(record, 5, 5)) == []
    assert failed(with_cnps(record, 5, 6)) == ["notifications"]


def test_notifications_have_their_line_bytes(record: RunRecord) -> None:
    run = with_cnps(record, 5, 3)
    less = run.columns.channel_line_bytes - column(c2=1)
    assert failed(with_columns(run, channel_line_bytes=less)) == ["link_line_bytes", "link_busy"]


def test_without_implied_acknowledgements_line_bytes_are_a_lower_bound_beside_notifications(record: RunRecord) -> None:
    windowed = replace(
        record, transport=replace(record.transport, ack_policy=AckPolicy.EVERY, window_policy=WindowPolicy.BDP)
    )
    assert failed(measured(windowed)) == []
    assert failed(with_cnps(windowed, 5, 3)) == []
    run = with_cnps(windowed, 5, 3)
    few = run.columns.channel_line_bytes - column(c2=3 * 12 + 1)
    assert failed(with_columns(run, channel_line_bytes=few, channel_busy_ps=few * 80)) == ["link_line_bytes"]


def test_a_nak_has_no_telemetry(record: RunRecord) -> None:
    run = replace(
        refused(record), transport=replace(record.transport, telemetry_bytes=42), switch=replace(SWITCH, lossless=(7,))
    )
    columns = run.columns
    told = columns.channel_line_bytes + 42 * columns.channel_frames
    # one of the frames back to rank 1 is a NAK
    told = told - column(c3=42)
    assert failed(with_columns(run, channel_line_bytes=told, channel_busy_ps=told * 80)) == []


def test_a_deadlock_of_pauses_names_its_ports(record: RunRecord) -> None:
    stuck = measured(record)
    stuck = replace(stuck, columns=replace(stuck.columns, exit_reason="deadlock", deadlocked_channels=[UP, DOWN]))
    with pytest.raises(DeadlockError, match=r"PFC deadlock: .*: rank1 -> switch; switch -> rank1; 4 of 4 operations"):
        require_completed(stuck)


def test_bytes_left_in_a_buffer_are_found(record: RunRecord) -> None:
    assert failed(measured(record, {"buffer_bytes_left": 1})) == ["nothing_left"]


def result(record: RunRecord, control: str = "dcqcn") -> Result:
    return build_result(record, {"digest": "0" * 64, "scenario": {"transport": {"congestion_control": control}}})


def test_the_report_says_what_control_did(record: RunRecord) -> None:
    slowed = measured(with_cnps(record, 5, 3), {"cnps": 3, "flows_controlled": 4, "flows_slowed": 2})
    assert congestion_section(result(slowed)) == [
        "congestion control: dcqcn slowed 2 of 4 flows; 5 frames marked, 3 CNPs"
    ]


def test_the_report_says_that_control_never_acted(record: RunRecord) -> None:
    idle = measured(record, {"flows_controlled": 4, "flows_slowed": 0})
    assert congestion_section(result(idle)) == [
        "congestion control never acted: dcqcn slowed none of 4 flows; 0 frames marked"
    ]
    none = replace(idle, transport=replace(idle.transport, congestion_control=""))
    assert congestion_section(result(none, "none")) == ["congestion control: none"]


def test_without_an_engine_of_packets_the_report_says_nothing_of_it(record: RunRecord) -> None:
    assert congestion_section(result(measured(record))) == []


def test_the_report_has_pauses_buffers_and_losses(record: RunRecord) -> None:
    run = replace(refused(record), switch=replace(SWITCH, lossless=(1,)))
    run = with_columns(
        run,
        channel_paused_ps=column(c2=400),
        node_max_buffer_bytes=column(5, c4=250_000),
        counters={**run.columns.counters, "flows_controlled": 4, "flows_slowed": 1},
        **episode(1_000_000, 1_000_400),
    )
    assert congestion_section(result(run))[1:] == [
        "pauses: 1 at 1 port, 0.00 us in all, the longest 0.00 us",
        "buffers: at most 250,000 of 1,000,000 B (25.0 %), at switch",
        "losses: 0 frames lost on links, 1 refused by buffers",
    ]
