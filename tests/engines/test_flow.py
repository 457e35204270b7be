# SPDX-License-Identifier: GPL-2.0-only
"""Max-min fair flows by hand: who gets what of which link, from when to when."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from astra_py.engines.base import EngineOptions, ExitReason
from astra_py.engines.flow import FlowEngine
from flow_cases import MB, PLAIN, Message, network, of_messages, run_messages, schedule_of, sent_us, star

#: 1 MB alone at 100 Gb/s.
ALONE_US = 80.0


def test_two_flows_share_a_link_until_the_shorter_one_is_over() -> None:
    messages = [Message(0, 2, MB), Message(1, 2, 2 * MB)]
    assert sent_us(star([100] * 3), messages) == [2 * ALONE_US, 3 * ALONE_US]


def test_a_parking_lot() -> None:
    """The long flow has half of each link; were one slower, what it leaves of the others is for the short flows."""
    rows = [(0, 3, 400), (1, 4, 400), (2, 5, 400), (3, 4, 100), (4, 5, 100)]
    messages = [Message(0, 2, MB), Message(0, 1, MB), Message(1, 2, MB)]
    assert sent_us(network(3, 3, rows), messages) == [2 * ALONE_US] * 3
    # 20, 80 and 20 Gb/s until 1 MB have gone at 80; then the others go on as they were
    slower = [*rows[:4], (4, 5, 40)]
    assert sent_us(network(3, 3, slower), messages) == [400.0, 100.0, 400.0]


def test_an_incast_with_late_joiners() -> None:
    # 25 us alone, 25 at a half, 25 at a third, then all at a quarter, until the first has its 12.5 Mbit of 8 at most
    messages = [Message(rank, 4, MB, rank * 25_000_000) for rank in range(4)]
    sent = sent_us(star([100] * 5), messages)
    served = 25 * 100e-3 * (1 + 1 / 2 + 1 / 3)  # Mbit, when the last one comes
    first = 75 + (8 - served) / 25e-3
    assert sent[0] == pytest.approx(first, abs=1e-5)
    assert sent == sorted(sent)
    # all bytes go over the one link, which is never idle
    assert sent[3] == pytest.approx(4 * ALONE_US, abs=1e-5)


def test_a_bottleneck_that_moves() -> None:
    """What a flow gets at its sender's link changes where another flow's bottleneck is."""
    platform = star([100, 100, 100, 40])
    messages = [Message(0, 3, MB), Message(0, 2, 3 * MB), Message(1, 2, MB)]
    # 0 -> 3 has 40 of 100 Gb/s, since 0 -> 2 has 50 with 1 -> 2; nobody wants the other 10
    sent = sent_us(platform, messages)
    assert sent[2] == 160.0
    assert sent[0] == 200.0
    # then 0 -> 2 has 60 beside 0 -> 3, and all of its link at the end: 8 + 2.4 Mbit by 200 us, 13.6 at 100 Gb/s
    assert sent[1] == 200 + 13.6 / 100e-3


def test_messages_of_a_queue_pair_go_one_after_another() -> None:
    messages = [Message(0, 1, MB), Message(0, 1, MB), Message(0, 1, 2 * MB)]
    platform = star([100, 100])
    assert sent_us(platform, messages) == [80.0, 160.0, 320.0]
    # on two queue pairs the third waits for the first
    assert sent_us(platform, messages, replace(PLAIN, qps_per_peer=2)) == [160.0, 160.0, 320.0]
    assert sent_us(platform, messages, replace(PLAIN, qps_per_peer=0)) == [240.0, 240.0, 320.0]


def test_a_striped_message_goes_over_all_queue_pairs_of_its_peer() -> None:
    """Beside another flow it has two shares of three, and is over when its last part is."""
    striped = replace(PLAIN, qps_per_peer=2, is_striped=True)
    messages = [Message(0, 2, MB), Message(1, 2, 500)]
    columns = run_messages(star([100] * 3), messages, striped)
    assert len(columns.message_op) == 2
    assert columns.message_sent_ps.tolist() == [80_040_000, 3 * 40_000]
    assert columns.rank_received_payload_bytes.tolist() == [0, 0, MB + 500]


def test_higher_priorities_go_first() -> None:
    """The low one stops while the high ones have all, goes on with what they leave, and then with all."""
    platform = star([100, 100, 100, 40])
    low, high = Message(0, 2, MB), Message(1, 2, MB, 40_000_000, 3)
    assert sent_us(platform, [low, high]) == [160.0, 120.0]
    # the high one has but 40 Gb/s of rank 0's link, to a slow receiver
    both = sent_us(platform, [low, replace(high, src=0, dst=3, start_ps=0)])
    assert both == pytest.approx([8 / 60e-3, 200.0], abs=1e-6)


def test_three_priorities_that_start_in_the_wrong_order() -> None:
    messages = [Message(0, 3, MB, 0, 0), Message(1, 3, MB, 10_000_000, 1), Message(2, 3, MB, 20_000_000, 6)]
    assert sent_us(star([100] * 4), messages) == [240.0, 170.0, 100.0]


def test_a_message_behind_a_priority_that_takes_all_waits_for_as_long_as_it_does() -> None:
    messages = [Message(0, 2, MB, 1_000_000, 0), *(Message(1, 2, MB, 0, 5) for _ in range(10))]
    assert sent_us(star([100] * 3), messages)[0] == 11 * ALONE_US


def test_what_is_posted_as_another_ends_finds_the_same_share() -> None:
    """One batch of 240 equal flows, all of which end at once: one sharing for all, another for none."""
    ranks = 16
    messages = [Message(a, b, 15_000) for a in range(ranks) for b in range(ranks) if a != b]
    columns = run_messages(star([100] * ranks), messages)
    assert set(columns.message_sent_ps.tolist()) == {15 * 1_200_000}
    assert columns.counters["rates_given"] == len(messages)
    assert columns.counters["events"] < 10


def test_nothing_depends_on_the_order_of_the_messages() -> None:
    rng = np.random.default_rng(1)
    platform = network(6, 2, [*((rank, 6 + rank % 2, 100) for rank in range(6)), (6, 7, 100)])
    messages = [
        Message(src, dst, int(rng.integers(1, MB)), int(rng.integers(0, 5)) * 10_000_000)
        for src, dst in (rng.choice(6, 2, replace=False).tolist() for _ in range(60))
    ]
    model = replace(PLAIN, qps_per_peer=0)
    sent = of_messages(platform, messages, run_messages(platform, messages, model), "sent_ps")
    order = rng.permutation(len(messages))
    shuffled = [messages[i] for i in order]
    again = of_messages(platform, shuffled, run_messages(platform, shuffled, model), "sent_ps")
    assert again.tolist() == sent[order].tolist()


def test_an_empty_message_takes_its_header() -> None:
    model = replace(PLAIN, header_bytes=-1)
    columns = run_messages(star([100, 100], delay_ps=500_000), [Message(0, 1, 0)], model)
    assert columns.message_sent_ps.tolist() == [98 * 80]
    assert columns.message_delivered_ps.tolist() == [2 * 98 * 80 + 1_000_000]
    nothing = run_messages(star([100, 100]), [Message(0, 1, 0)])
    assert nothing.message_acked_ps.tolist() == [0]


def test_latencies_and_the_way_back() -> None:
    model = replace(PLAIN, send_latency_ps=7_000, receive_latency_ps=11_000)
    columns = run_messages(star([100, 100], delay_ps=500_000), [Message(0, 1, MB), Message(0, 1, MB)], model)
    assert columns.message_sent_ps.tolist() == [80_007_000, 160_007_000]
    # a packet's 80 ns on the second link, and both links' delays
    assert columns.message_delivered_ps.tolist() == [81_098_000, 161_098_000]
    assert columns.message_acked_ps.tolist() == [82_087_000, 162_087_000]


def test_a_limit_of_time_stops_flows_on_their_way() -> None:
    platform, messages = star([100] * 3), [Message(0, 2, MB), Message(1, 2, 2 * MB)]
    schedule, _ = schedule_of(3, messages)
    columns = FlowEngine().run(schedule, platform, PLAIN, EngineOptions(max_time_ps=200_000_000))
    assert columns.exit_reason == ExitReason.TIME_LIMIT
    assert columns.message_sent_ps.tolist() == [160_000_000, -1]
    assert columns.rank_received_payload_bytes.tolist() == [0, 0, MB]
    assert any("message 1 from rank 1 to rank 2" in line and "on its way" in line for line in columns.waiting)
