# SPDX-License-Identifier: GPL-2.0-only
"""The oracle of TCP itself: each of its rules on a case small enough to do by hand."""

from __future__ import annotations

import pytest

from reference_port import Channel, Node
from reference_tcp import WRITE_PS, Message, Route, Tcp, TcpSimulator, line_bytes

#: 80 Gb/s: a byte every 100 ps.
RATE, BYTE_PS, DELAY_PS, LATENCY_PS = 80_000_000_000, 100, 1_000_000, 300_000
MSS = 1448
FULL_PS, ACK_PS = 1538 * BYTE_PS, 90 * BYTE_PS
WAY_PS = 2 * DELAY_PS + LATENCY_PS


def star(ranks: int, delay_ps: int = DELAY_PS) -> tuple[list[Node], list[Channel], Route]:
    """Ranks on one switch: channel 2 r goes up from rank r, 2 r + 1 down to it."""
    nodes = [*(Node(r) for r in range(ranks)), Node(-1, LATENCY_PS)]
    ends = [end for r in range(ranks) for end in ((r, ranks), (ranks, r))]
    return nodes, [Channel(tx, rx, RATE, delay_ps) for tx, rx in ends], lambda src, dst, index: (2 * src, 2 * dst + 1)


def run(*messages: Message, **figures: int) -> TcpSimulator:
    return TcpSimulator(*star(4), messages, Tcp(**figures)).run()


@pytest.mark.parametrize(("payload", "line"), [(0, 90), (1, 91), (1448, 1538), (8948, 9038)])
def test_line_bytes(payload: int, line: int) -> None:
    assert line_bytes(payload) == line


@pytest.mark.parametrize("size", [0, 1, 777, MSS])
def test_one_segment_is_stored_once_and_acknowledged_at_once(size: int) -> None:
    done = run(Message(0, 1, size))
    segment_ps = line_bytes(max(size, 1)) * BYTE_PS
    assert done.sent == [WRITE_PS + segment_ps]
    assert done.delivered == [WRITE_PS + 2 * segment_ps + WAY_PS]
    assert done.acked == [WRITE_PS + 2 * segment_ps + 2 * WAY_PS + 2 * ACK_PS]


@pytest.mark.parametrize("segments", [2, 3, 9, 10])
def test_segments_of_the_first_window_follow_each_other(segments: int) -> None:
    done = run(Message(0, 1, segments * MSS))
    assert done.sent == [WRITE_PS + segments * FULL_PS]
    assert done.delivered == [WRITE_PS + (segments + 1) * FULL_PS + WAY_PS]
    assert (done.segments, done.acks) == (segments, 1 + segments // 2)  # the first, every other, a last one late


def test_what_the_first_window_does_not_hold_waits_for_an_ack_of_the_first_segment() -> None:
    """One acknowledged, one more of window: the eleventh and the twelfth segment follow it."""
    done = run(Message(0, 1, 12 * MSS))
    first_ack_ps = WRITE_PS + 2 * FULL_PS + WAY_PS + 2 * ACK_PS + WAY_PS
    assert done.delivered == [first_ack_ps + 3 * FULL_PS + WAY_PS]


def test_an_ack_that_is_not_due_is_late() -> None:
    done = run(Message(0, 1, 2 * MSS))
    assert done.acked == [WRITE_PS + 3 * FULL_PS + 2 * WAY_PS + 2_500_000_000 + 2 * ACK_PS]


def test_what_was_never_acknowledged_is_within_a_window_without_scaling() -> None:
    """45 segments; then those 45 that wait in the socket; what the application adds as these leave follows them."""
    delay_ps = 10 * DELAY_PS
    done = TcpSimulator(*star(2, delay_ps), [Message(0, 1, 100 * MSS)], Tcp(initial_window=100)).run()
    way_ps = 2 * delay_ps + LATENCY_PS
    first_ack_ps = WRITE_PS + 2 * FULL_PS + way_ps + 2 * ACK_PS + way_ps
    assert done.delivered == [first_ack_ps + (100 - 65_535 // MSS + 1) * FULL_PS + way_ps]


def test_two_flows_that_meet_in_a_port_share_it_frame_by_frame() -> None:
    done = run(Message(0, 2, 10 * MSS), Message(1, 2, 10 * MSS))
    last_ps = WRITE_PS + 21 * FULL_PS + WAY_PS
    assert done.delivered == [last_ps - FULL_PS, last_ps]


def test_two_sockets_of_a_pair_take_turns_of_what_may_wait_at_the_port() -> None:
    done = run(Message(0, 1, 4 * MSS), Message(0, 1, 4 * MSS), sockets=2, unsent_limit=2 * MSS)
    assert done.sent == [WRITE_PS + 6 * FULL_PS, WRITE_PS + 8 * FULL_PS]


def test_messages_of_a_socket_are_one_stream() -> None:
    """Written in one instant, they are cut as one: three segments, the second of which has bytes of both."""
    done = run(Message(0, 1, MSS + 100), Message(0, 1, MSS + 100))
    assert (done.segments, done.acks) == (3, 2)
    assert done.sent[0] == WRITE_PS + 2 * FULL_PS
    assert done.sent[1] == WRITE_PS + 2 * FULL_PS + line_bytes(200) * BYTE_PS


def test_latencies_of_the_ends_and_later_posts() -> None:
    done = run(Message(0, 1, MSS, posted_ps=5_000), send_latency_ps=70, receive_latency_ps=900)
    assert done.delivered == [5_000 + 70 + WRITE_PS + 2 * FULL_PS + WAY_PS + 900]


def test_a_window_of_one_segment_grows_by_one_an_ack() -> None:
    """Without delayed ACKs: one segment, then two, then four, a round trip after each other."""
    done = run(Message(0, 1, 7 * MSS), initial_window=1, delayed_ack=1)
    trip_ps = 2 * FULL_PS + 2 * ACK_PS + 2 * WAY_PS
    assert done.delivered == [WRITE_PS + 2 * trip_ps + 5 * FULL_PS + WAY_PS]
