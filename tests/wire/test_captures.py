# SPDX-License-Identifier: GPL-2.0-only
"""Captures say what the tables say, frame by frame, and their checksums hold."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from capture_cases import CASES, Captured, capture, invariant_crc

FIRST, MIDDLE, LAST, ONLY, ACK, CNP = 0x06, 0x07, 0x08, 0x0A, 0x11, 0x81
DATA = (FIRST, MIDDLE, LAST, ONLY)
PFC = -1
#: Line bytes that a capture does not have: preamble, FCS, gap (IEEE 802.3).
UNCAPTURED = 24
TELEMETRY = 42


def number(data: bytes, at: int, length: int) -> int:
    return int.from_bytes(data[at : at + length], "big")


def kind_of(frame: bytes) -> int:
    return PFC if frame[12:14] == b"\x88\x08" else frame[42]


def ecn_of(frame: bytes) -> int:
    return frame[15] & 3


@pytest.fixture(scope="module", params=CASES)
def captured(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Captured:
    return capture(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture
def frames(captured: Captured) -> dict[int, list[bytes]]:
    return {port: [frame for _, frame in captured.frames(port)] for port in captured.files}


def test_every_port_has_a_file_and_every_frame_is_in_it(captured: Captured, frames: dict[int, list[bytes]]) -> None:
    columns = captured.columns
    assert {port: len(found) for port, found in frames.items()} == dict(enumerate(columns.channel_frames.tolist()))
    assert columns.counters["captured_frames"] == columns.channel_frames.sum()
    assert columns.counters["frames_not_captured"] == 0


def test_frames_of_a_kind_bytes_and_marks_are_those_of_the_tables(
    captured: Captured, frames: dict[int, list[bytes]]
) -> None:
    columns = captured.columns
    for port, found in frames.items():
        kinds = Counter(map(kind_of, found))
        assert sum(kinds[kind] for kind in DATA) == columns.channel_data_frames[port]
        assert kinds[PFC] == columns.channel_pfc_frames[port]
        assert sum(map(len, found)) + UNCAPTURED * len(found) == columns.channel_line_bytes[port]
        # odd ports are those of the switch, which is the only one to mark
        marked = sum(1 for frame in found if kind_of(frame) != PFC and ecn_of(frame) == 3)
        assert marked == columns.channel_marked_frames[port]
    at_nics = Counter(kind_of(frame) for port, found in frames.items() if port % 2 == 0 for frame in found)
    naks = sum(1 for port in frames if port % 2 == 0 for f in frames[port] if kind_of(f) == ACK and f[54] >> 5 == 3)
    assert at_nics[CNP] == columns.counters["cnps"]
    assert naks == columns.counters["naks"]
    assert at_nics[ACK] == columns.counters["acks"] + naks


def test_checksums_and_lengths_hold(captured: Captured, frames: dict[int, list[bytes]]) -> None:
    for frame in (frame for found in frames.values() for frame in found if kind_of(frame) != PFC):
        words = [number(frame, at, 2) for at in range(14, 34, 2)]
        assert sum(words) % 0xFFFF == 0
        length = number(frame, 16, 2)
        assert len(frame) - 14 - length in (0, TELEMETRY)
        assert number(frame, 38, 2) == length - 20
        assert number(frame, 14 + length - 4, 4) == invariant_crc(frame)


def test_data_has_the_opcodes_lengths_and_padding_of_its_messages(
    captured: Captured, frames: dict[int, list[bytes]]
) -> None:
    for port, found in frames.items():
        payload: Counter[int] = Counter()
        sizes: dict[int, int] = {}
        seen: set[tuple[int, int]] = set()
        for frame in (frame for frame in found if kind_of(frame) in DATA):
            pair, psn = number(frame, 47, 3), number(frame, 51, 3)
            if kind_of(frame) in (FIRST, ONLY):
                assert number(frame, 54, 8) == 0  # one message a queue pair
                sizes[pair] = number(frame, 66, 4)
            header = 70 if kind_of(frame) in (FIRST, ONLY) else 54
            end = 14 + number(frame, 16, 2) - 4
            if (pair, psn) not in seen:
                payload[pair] += end - header - (frame[43] >> 4 & 3)
                seen.add((pair, psn))
            assert (end - header) % 4 == 0
            assert (kind_of(frame) in (LAST, ONLY)) <= bool(frame[50] & 0x80)  # asks for an ACK
        # a frame that is lost on the way to the switch is not in the switch's file, until it is repeated
        if captured.columns.channel_dropped_frames.sum() == 0 or port % 2 == 0:
            assert payload == sizes


def test_an_answer_follows_what_it_answers(captured: Captured, frames: dict[int, list[bytes]]) -> None:
    for port in (port for port in frames if port % 2 == 0):
        # the port's rank sends ACKs for data that the switch's port of the same link sends to it
        last: Counter[int] = Counter()
        for frame in (frame for frame in frames[port + 1] if kind_of(frame) in DATA):
            last[number(frame, 47, 3)] = max(last[number(frame, 47, 3)], number(frame, 51, 3))
        for frame in (frame for frame in frames[port] if kind_of(frame) == ACK):
            pair, psn, syndrome, msn = number(frame, 47, 3), number(frame, 51, 3), frame[54], number(frame, 55, 3)
            assert syndrome in (0x1F, 0x60)
            if syndrome == 0x1F and captured.columns.counters["naks"] == 0:
                assert msn == (psn == last[pair])  # the only message is complete
        complete = {number(f, 47, 3) for f in frames[port] if kind_of(f) == ACK and number(f, 55, 3) == 1}
        assert complete == set(last)


def test_frames_are_in_order_of_time_and_pass_the_switch_as_routed(captured: Captured) -> None:
    for port in captured.files:
        frames = captured.frames(port)
        assert [time for time, _ in frames] == sorted(time for time, _ in frames)
        for frame in (frame for _, frame in frames if kind_of(frame) != PFC):
            assert frame[22] == 64 - port % 2
            if port % 2 == 0:
                assert number(frame, 26, 4) == 0x0A000001 + port // 2
            else:
                assert number(frame, 30, 4) == 0x0A000001 + port // 2


def test_pauses_are_of_the_priority_and_end_with_a_resume(captured: Captured, frames: dict[int, list[bytes]]) -> None:
    for found in frames.values():
        pauses = [frame for frame in found if kind_of(frame) == PFC]
        quanta: dict[int, list[int]] = {0: [], 7: []}  # of data and of acknowledgements
        for frame in pauses:
            assert (len(frame), frame[:6].hex(), number(frame, 14, 2)) == (60, "0180c2000001", 0x0101)
            priority = number(frame, 16, 2).bit_length() - 1
            assert number(frame, 16, 2) == 1 << priority
            quanta[priority].append(number(frame, 18 + 2 * priority, 2))
            assert sum(frame[18:]) == sum(frame[18 + 2 * priority : 20 + 2 * priority])
        for said in quanta.values():
            assert said == [65_535, 0] * (len(said) // 2)


def test_a_capture_changes_nothing_and_one_port_is_as_one_of_all(tmp_path: Path) -> None:
    every = capture("lossy", tmp_path / "all")
    one = capture("lossy", tmp_path / "one", ports=["rank3", 7], max_frames=50)
    assert (one.columns.message_acked_ps == every.columns.message_acked_ps).all()
    assert list(one.files) == [6, 7]
    for port in one.files:
        assert one.frames(port) == every.frames(port)[:50]
    left_out = one.columns.channel_frames[[6, 7]].sum() - 100
    assert (one.columns.counters["captured_frames"], one.columns.counters["frames_not_captured"]) == (100, left_out)


def test_telemetry_is_behind_the_icrc_with_a_stamp_for_each_switch(tmp_path: Path) -> None:
    captured = capture("telemetry", tmp_path)
    for port, hops in ((2, 0), (1, 1)):
        trailers = {frame[14 + number(frame, 16, 2) :] for _, frame in captured.frames(port) if kind_of(frame) in DATA}
        assert {(len(trailer), trailer[0] >> 4) for trailer in trailers} == {(TELEMETRY, hops)}


def test_a_snap_length_cuts_what_is_kept_and_not_what_is_told(tmp_path: Path) -> None:
    captured = capture("plain", tmp_path, ports=["rank0>switch0"], snap_length="80B")
    data = captured.files[0].read_bytes()
    assert number(data[16:20][::-1], 0, 4) == 80
    kept, told = (int.from_bytes(data[at : at + 4], "little") for at in (32, 36))
    assert (kept, told) == (80, 14 + 20 + 8 + 12 + 16 + 1024 + 4)


@pytest.mark.parametrize(("case", "is_naming"), [("lossy", False), ("repeated", True)])
def test_a_nak_names_the_packet_that_came_instead_under_selective_repeat(
    case: str, is_naming: bool, tmp_path: Path
) -> None:
    captured = capture(case, tmp_path)
    naks = [frame for port in range(0, 16, 2) for _, frame in captured.frames(port) if kind_of(frame) == ACK]
    naks = [frame for frame in naks if frame[54] == 0x60]
    assert naks
    for frame in naks:
        missing, named = number(frame, 51, 3), number(frame, 55, 3)
        assert named > missing if is_naming else named == 0  # the only message is not complete
