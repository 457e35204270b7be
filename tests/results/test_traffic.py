# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra_py.engines.base import AckPolicy, WindowPolicy
from astra_py.results.traffic import Traffic, ack_line_bytes, acks_of, are_acks_implied, line_bytes_of, packets_of
from recurrences import packet_lines
from result_cases import TRANSPORT


def _column(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


@given(st.integers(0, 30_000), st.sampled_from([64, 1000, 1022, 4096]))
def test_line_bytes_are_those_of_the_packets(size_bytes: int, payload: int) -> None:
    transport = replace(TRANSPORT, payload_bytes=payload)
    lines = packet_lines(size_bytes, payload)
    assert line_bytes_of(_column(size_bytes), transport).tolist() == [sum(lines)]
    assert packets_of(_column(size_bytes), transport).tolist() == [len(lines)]


def test_a_given_header_replaces_rocev2s_own_and_its_padding() -> None:
    transport = replace(TRANSPORT, header_bytes=36, ack_bytes=48)
    assert line_bytes_of(_column(0, 1, 1000, 1001), transport).tolist() == [36, 37, 1036, 1073]
    assert ack_line_bytes(transport) == 48
    assert ack_line_bytes(TRANSPORT) == 86


def test_sizes_beyond_32_bits_are_exact() -> None:
    size = 2**32 + 1
    assert line_bytes_of(_column(size), TRANSPORT).tolist() == [sum(packet_lines(size, 1000))]


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
    assert acks_of(_column(0, 1, 4000, 4001), transport).tolist() == acks


def test_a_window_asks_for_more_acknowledgements_than_messages_imply() -> None:
    size = _column(10_000)
    for policy in AckPolicy:
        for window in WindowPolicy:
            transport = replace(TRANSPORT, ack_policy=policy, ack_every=4, window_policy=window, window_bytes=4000)
            is_implied = policy in (AckPolicy.PER_PACKET, AckPolicy.OUT_OF_BAND) or window == WindowPolicy.NONE
            assert are_acks_implied(size, transport) == is_implied
    per_message = replace(TRANSPORT, ack_policy=AckPolicy.PER_MESSAGE)
    assert are_acks_implied(_column(1000 * 2**22 - 1000), per_message)
    assert not are_acks_implied(_column(1000 * 2**22), per_message)


def _flows(qps_per_peer: int, *, last_priority: int = 0) -> list[tuple[int, int, int, int]]:
    """Rows of (source, destination, queue pair, messages) of six messages."""
    src, dst = np.array([0, 1, 0, 0, 0, 1]), np.array([1, 0, 1, 2, 1, 0])
    none = np.zeros(0, dtype=np.int32)
    traffic = Traffic.on_routes(
        np.ones(6, dtype=np.int64),
        src,
        dst,
        np.array([0, 0, 0, 0, last_priority, 0], dtype=np.uint8),
        qps_per_peer,
        lambda s, d, q: (np.zeros(len(s) + 1, dtype=np.int64), none),
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
    traffic = Traffic(
        weight, flow, four, four, four, np.zeros(5, dtype=np.int64), none, np.zeros(5, dtype=np.int64), none
    )
    assert traffic.per_flow(weight).tolist() == [sum(w for f, w in messages if f == i) for i in range(4)]
