# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from astra_py.engines.base import TimeRounding
from astra_py.engines.routes import route_paths
from astra_py.results.balance import check_links, check_ports, check_switches
from astra_py.results.check import Check
from astra_py.results.record import RunRecord
from engine_cases import one_instance, platform_of, run_packet, template_of, transport_of
from oracle_cases import random_case
from result_cases import one_collective, with_columns

#: Channels of the star: from rank 0 to the switch, and back.
UP, DOWN = 0, 1


@pytest.fixture(scope="module")
def record() -> RunRecord:
    return one_collective()


def _add(record: RunRecord, **by: tuple[int, int]) -> RunRecord:
    """The record with ``by`` = (channel, how much more) added to its columns of channels."""
    columns = {}
    for name, (channel, more) in by.items():
        columns[f"channel_{name}"] = getattr(record.columns, f"channel_{name}").copy()
        columns[f"channel_{name}"][channel] += more
    return with_columns(record, **columns)


def _by_name(checks: list[Check]) -> dict[str, Check]:
    return {check.name: check for check in checks}


@pytest.mark.parametrize(
    ("dropped", "missing", "passes"), [(0, 0, True), (0, 1, False), (1, 1, True), (1, 1000, True), (1, 1001, False)]
)
def test_a_dropped_frame_accounts_for_one_payload_at_most(
    record: RunRecord, dropped: int, missing: int, passes: bool
) -> None:
    lossy = _add(record, dropped_frames=(UP, dropped), delivered_payload_bytes=(UP, -missing))
    assert _by_name(check_links(lossy))["link_delivery"].passed == passes


def test_more_than_was_sent_never_arrives(record: RunRecord) -> None:
    lossy = _add(record, dropped_frames=(UP, 5), delivered_payload_bytes=(UP, 1))
    assert "rank0 -> switch: declared" in str(_by_name(check_links(lossy))["link_delivery"])


def test_a_channel_is_not_busy_for_longer_than_the_run(record: RunRecord) -> None:
    last = max(record.end_ps, int(record.columns.message_acked_ps.max()))
    busy = record.columns.channel_busy_ps.copy()
    line = record.columns.channel_line_bytes.copy()
    for extra, passes in ((0, True), (1, False)):
        line[UP] = last // 80 + extra
        busy[UP] = line[UP] * 80
        check = _by_name(check_links(with_columns(record, channel_busy_ps=busy, channel_line_bytes=line)))["link_busy"]
        assert check.passed == passes


@pytest.mark.parametrize(
    ("rounding", "rate_bps", "frames", "low", "high"),
    [
        # 10 bytes at 100 Gb/s are 800 ps, whatever the frames
        (TimeRounding.PS_CEIL, 100 * 10**9, 3, 800, 800),
        # at 7 Gb/s they are 11,428.57 ps, and each of three frames may be rounded up
        (TimeRounding.PS_CEIL, 7 * 10**9, 3, 11_429, 11_431),
        # to the nearest nanosecond, each of three frames may lose half of one, and gain all of it since none takes 0
        (TimeRounding.NS_NEAREST, 7 * 10**9, 3, 9_929, 14_428),
    ],
)
def test_busy_is_the_serialisation_of_what_was_carried(
    record: RunRecord, rounding: TimeRounding, rate_bps: int, frames: int, low: int, high: int
) -> None:
    platform = record.platform
    arrays = replace(platform.arrays(), link_rate_bps=np.full(4, rate_bps))
    changed = replace(record, transport=replace(record.transport, time_rounding=rounding))
    changed.__dict__["arrays"] = arrays
    zeros = np.zeros(8, dtype=np.int64)
    one = zeros.copy()
    one[UP] = 1
    for busy_ps, passes in ((low - 1, False), (low, True), (high, True), (high + 1, False)):
        columns = {
            "channel_line_bytes": one * 10,
            "channel_frames": one * frames,
            "channel_busy_ps": one * busy_ps,
        }
        moved = with_columns(changed, **columns)
        moved.__dict__["arrays"] = arrays
        assert _by_name(check_links(moved))["link_busy"].passed == passes


def test_line_bytes_beyond_64_bits_of_picoseconds_are_exact(record: RunRecord) -> None:
    line = np.full(8, 2**42)
    huge = with_columns(
        record,
        channel_line_bytes=line,
        channel_busy_ps=line * 80,
        op_end_ps=record.columns.op_end_ps + 2**42 * 80,
    )
    assert _by_name(check_links(huge))["link_busy"].passed


def test_a_switch_passes_on_every_frame_that_was_not_dropped_on_its_way(record: RunRecord) -> None:
    assert all(check.passed for check in check_switches(record))
    failed = check_switches(_add(record, dropped_frames=(UP, 1)))
    assert [check.passed for check in failed] == [False, True]
    assert "1 place differs, the first is switch" in str(failed[0])
    # one that is dropped on its way out of the switch was passed on
    assert all(check.passed for check in check_switches(_add(record, dropped_frames=(DOWN, 1))))


def test_ports_carry_at_least_what_is_declared_where_packets_were_sent_again(record: RunRecord) -> None:
    again = with_columns(record, message_retransmitted_packets=record.columns.message_retransmitted_packets + 1)
    for by, passes in ((1000, True), (0, True), (-1, False)):
        sent, received = check_ports(_add(again, payload_bytes=(UP, by), delivered_payload_bytes=(DOWN, by)))
        assert (sent.passed, received.passed) == (passes, passes)
    assert not any(
        check.passed for check in check_ports(_add(record, payload_bytes=(UP, 1000), delivered_payload_bytes=(DOWN, 1)))
    )


@pytest.mark.parametrize("seed", range(40))
def test_balances_hold_on_any_platform_and_transport(seed: int) -> None:
    """Random cases of the oracle: ranks that pass on for others, late joins, odd rates, windows, all policies."""
    case = random_case(seed)
    columns, schedule = run_packet(case), one_instance(template_of(case), case.group, case.join_ps)
    size = columns.message_size_bytes
    declared = [np.bincount(ranks, size, schedule.ranks) for ranks in (columns.message_src, columns.message_dst)]
    record = replace(
        one_collective(),
        schedule=schedule,
        platform=platform_of(case),
        transport=transport_of(case),
        declared_bytes=(declared[0].astype(np.int64), declared[1].astype(np.int64)),
        columns=columns,
        route_paths=route_paths,
    )
    checks = [*check_links(record), *check_switches(record), *check_ports(record)]
    assert [str(check) for check in checks if not check.passed] == []
