# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra_py.analysis.recurrences import packet_lines
from astra_py.engines.base import AckPolicy, TransportModel, WindowPolicy
from astra_py.results.traffic import ControlFrames, Traffic, implied_line_bytes
from result_cases import TRANSPORT


def _column(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def messages_of(*sizes: int, efficiency: float = 0.0) -> tuple[Traffic, np.ndarray]:
    """One flow's messages over channel 0, its acknowledgements over channel 1, and the channels' efficiency."""
    channels = np.full(2, efficiency)

    def way(src: np.ndarray, dst: np.ndarray, qp: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.arange(len(src) + 1, dtype=np.int64), np.where(src == 0, 0, 1).astype(np.int32)

    src = np.zeros(len(sizes), dtype=np.int32)
    return Traffic.on_routes(
        _column(*sizes), src, src + 1, np.zeros(len(sizes), dtype=np.uint8), 1, way, channels
    ), channels


def line_bytes(transport: TransportModel, *sizes: int, efficiency: float = 0.0) -> list[int]:
    """Line bytes on the channel there and the one back."""
    traffic, channels = messages_of(*sizes, efficiency=efficiency)
    return implied_line_bytes(traffic, transport, channels, acks_of(traffic, transport)).tolist()


def acks_of(traffic: Traffic, transport: TransportModel) -> ControlFrames:
    """The control frames of the two channels: acknowledgements on the way back."""
    acks = traffic.on_channels(traffic.per_flow(traffic.acks(transport)), 2, back=True)
    return ControlFrames(acks, acks * transport.ack_line_bytes)


@given(st.integers(0, 30_000), st.sampled_from([64, 1000, 1022, 4096]))
def test_line_bytes_are_those_of_the_packets(size_bytes: int, payload: int) -> None:
    transport = replace(TRANSPORT, payload_bytes=payload)
    lines = packet_lines(size_bytes, payload)
    assert line_bytes(transport, size_bytes) == [sum(lines), 86 * len(lines)]
    assert messages_of(size_bytes)[0].packets(transport).tolist() == [len(lines)]


@given(st.integers(0, 30_000), st.sampled_from([64, 1000, 4096]), st.sampled_from([0.94, 0.6667, 1.0]))
def test_a_scale_up_way_has_its_own_packets_and_no_acknowledgement_frames(
    size_bytes: int, payload: int, efficiency: float
) -> None:
    transport = replace(TRANSPORT, payload_bytes=payload)
    whole, last = divmod(max(size_bytes, 1) - 1, 4096)
    payloads = [4096] * whole + [max(last + 1, 16)]
    lines = [math.ceil(Fraction(p) / Fraction(round(efficiency * 10**6), 10**6)) for p in payloads]
    assert line_bytes(transport, size_bytes, efficiency=efficiency) == [sum(lines), 0]


def test_an_acknowledgement_that_crosses_a_scale_up_link_is_a_flit_there() -> None:
    traffic, _ = messages_of(4096)
    mixed = implied_line_bytes(traffic, TRANSPORT, np.array([0.0, 0.5]), acks_of(traffic, TRANSPORT))
    assert mixed.tolist() == [sum(packet_lines(4096, 1000)), 5 * 32]


def test_a_given_header_replaces_rocev2s_own_and_its_padding() -> None:
    transport = replace(TRANSPORT, header_bytes=36, ack_bytes=48)
    assert [line_bytes(transport, size)[0] for size in (0, 1, 1000, 1001)] == [36, 37, 1036, 1073]
    assert line_bytes(transport, 1)[1] == 48
    assert line_bytes(TRANSPORT, 1)[1] == 86


def test_control_frames_have_line_bytes_on_ethernet_and_flits_on_scale_up_links() -> None:
    traffic, channels = messages_of(1000)
    control = ControlFrames(_column(0, 4), _column(2 * 84, 86 + 3 * 98))
    assert implied_line_bytes(traffic, TRANSPORT, channels, control).tolist() == [1098 + 2 * 84, 86 + 3 * 98]
    assert implied_line_bytes(traffic, TRANSPORT, np.array([0.0, 0.5]), control)[1] == 4 * 32


def test_telemetry_is_in_every_packet_and_in_its_acknowledgement() -> None:
    transport = replace(TRANSPORT, telemetry_bytes=42)
    assert line_bytes(transport, 2000) == [2 * (1082 + 42) + 16, 2 * (86 + 42)]
    assert line_bytes(replace(transport, header_bytes=36, ack_bytes=48), 2000) == [2 * (1036 + 42), 2 * (48 + 42)]


def test_sizes_beyond_32_bits_are_exact() -> None:
    size = 2**32 + 1
    assert line_bytes(TRANSPORT, size)[0] == sum(packet_lines(size, 1000))


@pytest.mark.parametrize(
    ("policy", "every", "acks"),
    [
        (AckPolicy.PER_PACKET, 1, [1, 1, 4, 5]),
        (AckPolicy.EVERY, 2, [1, 1, 2, 3]),
        (AckPolicy.PER_MESSAGE, 1, [1, 1, 1, 1]),
        (AckPolicy.OUT_OF_BAND, 1, [0, 0, 0, 0]),
    ],
)
def test_acknowledgements_of_a_message(policy: AckPolicy, every: int, acks: list[int]) -> None:
    transport = replace(TRANSPORT, ack_policy=policy, ack_every=every)
    assert messages_of(0, 1, 4000, 4001)[0].acks(transport).tolist() == acks
    assert messages_of(0, 1, 4000, 4001, efficiency=0.94)[0].acks(transport).tolist() == [0, 0, 0, 0]


def test_a_window_asks_for_more_acknowledgements_than_messages_imply() -> None:
    traffic, _ = messages_of(10_000)
    for policy in AckPolicy:
        for window in WindowPolicy:
            transport = replace(TRANSPORT, ack_policy=policy, ack_every=4, window_policy=window, window_bytes=4000)
            is_implied = policy in (AckPolicy.PER_PACKET, AckPolicy.OUT_OF_BAND) or window == WindowPolicy.NONE
            assert traffic.are_acks_implied(transport) == is_implied
    per_message = replace(TRANSPORT, ack_policy=AckPolicy.PER_MESSAGE)
    assert messages_of(1000 * 2**22 - 1000)[0].are_acks_implied(per_message)
    assert not messages_of(1000 * 2**22)[0].are_acks_implied(per_message)


def _flows(qps_per_peer: int, *, last_priority: int = 0) -> list[tuple[int, int, int, int]]:
    """Rows of (source, destination, queue pair, messages) of six messages."""
    src, dst = np.array([0, 1, 0, 0, 0, 1]), np.array([1, 0, 1, 2, 1, 0])
    traffic = Traffic.on_routes(
        np.ones(6, dtype=np.int64),
        src,
        dst,
        np.array([0, 0, 0, 0, last_priority, 0], dtype=np.uint8),
        qps_per_peer,
        lambda s, d, q: (np.arange(len(s) + 1, dtype=np.int64), np.zeros(len(s), dtype=np.int32)),
        np.zeros(1),
    )
    rows = zip(traffic.flow_src, traffic.flow_dst, traffic.flow_qp, np.bincount(traffic.flow), strict=True)
    return [tuple(map(int, row)) for row in rows]  # type: ignore[misc]


def test_messages_of_a_pair_take_its_queue_pairs_in_turn() -> None:
    assert _flows(1) == [(0, 1, 0, 3), (0, 2, 0, 1), (1, 0, 0, 2)]
    assert _flows(2) == [(0, 1, 0, 2), (0, 1, 1, 1), (0, 2, 0, 1), (1, 0, 0, 1), (1, 0, 1, 1)]
    # each priority has queue pairs of its own, numbered alike
    assert _flows(2, last_priority=6) == [(0, 1, 0, 2), (0, 1, 1, 1), (0, 2, 0, 1), (1, 0, 0, 1), (1, 0, 1, 1)]
    assert _flows(3, last_priority=6)[:2] == [(0, 1, 0, 2), (0, 1, 1, 1)]
    assert _flows(0) == [(0, 1, 0, 1), (0, 1, 1, 1), (0, 1, 2, 1), (0, 2, 0, 1), (1, 0, 0, 1), (1, 0, 1, 1)]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2**60)), max_size=7))
def test_sums_are_those_of_integers(messages: list[tuple[int, int]]) -> None:
    flow = np.array([f for f, _ in messages], dtype=np.int64)
    weight = np.array([w for _, w in messages], dtype=np.int64)
    none = np.zeros(0, dtype=np.int32)
    four = np.zeros(4, dtype=np.int32)
    ptr = np.zeros(5, dtype=np.int64)
    traffic = Traffic(weight, flow, np.arange(len(flow)), four, four, four, ptr, none, ptr, none, four > 0)
    assert traffic.per_flow(weight).tolist() == [sum(w for f, w in messages if f == i) for i in range(4)]


def striped(*sizes: int, queue_pairs: int = 4) -> Traffic:
    """Messages of two pairs of ranks in turn, each split over its queue pairs."""

    def way(src: np.ndarray, dst: np.ndarray, qp: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.arange(len(src) + 1, dtype=np.int64), np.where(src < 2, 0, 1).astype(np.int32)

    src = np.arange(len(sizes), dtype=np.int32) % 2
    priority = np.zeros(len(sizes), dtype=np.uint8)
    return Traffic.on_routes(
        _column(*sizes), src, src + 2, priority, queue_pairs, way, np.zeros(2), striped_payload=1000
    )


def test_a_striped_message_is_split_over_the_next_queue_pairs() -> None:
    traffic = striped(9500, 0, 1001, 4000, 1)
    assert traffic.whole.tolist() == [0, 0, 0, 0, 1, 2, 2, 3, 3, 3, 3, 4]
    # 10 packets are 3, 3, 2 and 2, the last of which is short; what has fewer packets takes fewer queue pairs
    assert traffic.size_bytes.tolist() == [3000, 3000, 2000, 1500, 0, 1000, 1, 1000, 1000, 1000, 1000, 1]
    queue_pair = traffic.flow_qp[traffic.flow]
    assert queue_pair.tolist() == [0, 1, 2, 3, 0, 0, 1, 1, 2, 3, 0, 2]
    assert traffic.flow_src[traffic.flow].tolist() == [0] * 4 + [1] + [0, 0] + [1] * 4 + [0]
    assert traffic.of_whole(np.array([2, 0, 4])).tolist() == [5, 6, 0, 1, 2, 3, 11]


@given(st.lists(st.integers(0, 20_000), min_size=1, max_size=9), st.integers(1, 5))
def test_striping_keeps_packets_and_bytes(sizes: list[int], queue_pairs: int) -> None:
    traffic, whole = striped(*sizes, queue_pairs=queue_pairs), striped(*sizes, queue_pairs=1)
    assert np.bincount(traffic.whole, traffic.size_bytes).tolist() == sizes
    assert np.bincount(traffic.whole, traffic.packets(TRANSPORT)).tolist() == whole.packets(TRANSPORT).tolist()
    assert np.bincount(traffic.whole).max() <= queue_pairs


def test_each_part_of_a_striped_message_has_a_first_packet() -> None:
    traffic = striped(4000)
    line = implied_line_bytes(traffic, TRANSPORT, np.zeros(2), ControlFrames(_column(0, 0), _column(0, 0)))
    assert line[0] == 4 * (1000 + 82 + 16)
