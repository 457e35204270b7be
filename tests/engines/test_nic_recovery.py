# SPDX-License-Identifier: GPL-2.0-only
"""What is sent again after a loss, by either way of recovery, and what the receiver makes of it."""

from __future__ import annotations

from typing import Any

import pytest

from astra_py.engines.base import EngineColumns, ExitReason
from nic_cases import run_flow, transport

PAYLOAD = 1000
#: Channels of the way from rank 0 to rank 1 over the switch.
WAY = [0, 3]


def lossy(recovery: str, loss: float = 0.01, size: int = 4_000_000, seed: int = 3, **figures: Any) -> EngineColumns:
    defaults = {"ns3::RoceNic::Recovery": recovery}
    columns = run_flow(size, transport(payload=PAYLOAD, **figures), defaults, loss=loss, seed=seed)
    assert columns.exit_reason == ExitReason.COMPLETED
    assert columns.message_delivered_bytes.tolist() == [size]
    assert columns.rank_received_payload_bytes.tolist() == [0, size]
    return columns


def lost_on_the_way(columns: EngineColumns) -> int:
    return int(columns.channel_dropped_frames[WAY].sum())


@pytest.mark.parametrize("loss", [0.001, 0.01, 0.1])
@pytest.mark.parametrize("ack", ["per_packet", "per_message", "out_of_band"])
@pytest.mark.parametrize("recovery", ["go_back_n", "selective_repeat"])
def test_every_packet_is_accounted_for(recovery: str, ack: str, loss: float) -> None:
    columns = lossy(recovery, loss, 1_000_000, ack=ack)
    counters = columns.counters
    assert lost_on_the_way(columns) > 0
    # What was sent more than once replaced a lost packet, or came for nothing.
    useless = counters["duplicate_packets"] + counters["out_of_order_packets"]
    assert counters["repeated_packets"] == lost_on_the_way(columns) + useless
    assert counters["packets"] == 1000 + counters["repeated_packets"]


def test_selective_repeat_sends_what_was_lost_and_go_back_n_all_that_came_after_it() -> None:
    selective, all_over = lossy("selective_repeat"), lossy("go_back_n")
    assert selective.counters["selective_repeats"] == selective.counters["repeated_packets"]
    assert selective.counters["out_of_order_packets"] == 0
    assert selective.counters["out_of_order_accepted"] > selective.counters["repeated_packets"]
    # A packet is repeated for nothing only where the NAK that named it was lost itself, or a timeout came too soon.
    assert selective.counters["repeated_packets"] < 2 * lost_on_the_way(selective)
    assert all_over.counters["out_of_order_accepted"] == all_over.counters["selective_repeats"] == 0
    assert all_over.counters["repeated_packets"] > 10 * selective.counters["repeated_packets"]
    assert selective.end_ps < all_over.end_ps


def test_each_packet_after_a_gap_gets_its_own_nak_where_it_is_kept() -> None:
    selective, all_over = lossy("selective_repeat"), lossy("go_back_n")
    assert selective.counters["naks"] == selective.counters["out_of_order_accepted"]
    assert all_over.counters["naks"] <= lost_on_the_way(all_over)


@pytest.mark.parametrize("first", [0, 2**24 - 500, 2**24 - 1])
@pytest.mark.parametrize("recovery", ["go_back_n", "selective_repeat"])
def test_sequence_numbers_wrap_under_losses(recovery: str, first: int) -> None:
    size, figures = 1_000_000, transport(payload=PAYLOAD)
    plain, wrapped = (
        run_flow(
            size,
            figures,
            {"ns3::RoceNic::Recovery": recovery, "ns3::RoceNic::InitialPsn": psn},
            loss=0.02,
        )
        for psn in (0, first)
    )
    assert wrapped.message_delivered_ps.tolist() == plain.message_delivered_ps.tolist()
    assert dict(wrapped.counters) == dict(plain.counters)


def test_a_tail_that_is_lost_as_a_whole_takes_one_timeout() -> None:
    # No packet comes behind it to tell: what was sent before the timer started is taken for lost at once.
    timeouts = []
    for seed in range(40):
        columns = run_flow(
            8 * PAYLOAD, transport(payload=PAYLOAD), {"ns3::RoceNic::Recovery": "selective_repeat"}, loss=0.5, seed=seed
        )
        assert columns.exit_reason == ExitReason.COMPLETED
        timeouts.append(columns.counters["timeouts"])
    # A quarter of the packets and a quarter of their ACKs come through: rounds, not packets, are what it takes.
    assert sum(timeouts) / len(timeouts) < 2 * 8


@pytest.mark.parametrize("recovery", ["go_back_n", "selective_repeat"])
def test_an_automatic_timeout_is_for_what_was_dropped(recovery: str) -> None:
    # Sixteen senders' worth of data waits in front of one slow link, far beyond any unloaded round trip.
    columns = run_flow(
        100_000,
        transport(payload=PAYLOAD, qps=64),
        {"ns3::RoceNic::Recovery": recovery},
        messages=64,
        loss=1e-15,
    )
    assert columns.channel_dropped_frames.sum() == 0
    assert columns.counters["timeouts"] == columns.counters["repeated_packets"] == 0
