# SPDX-License-Identifier: GPL-2.0-only
"""What a NIC does with its congestion control: pace, window, scope, round trips; and nothing where there is no need."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import Any

import pytest

import astra_py as ap
from astra_py.api import one_collective
from astra_py.config import load_scenario
from astra_py.engines.base import EngineColumns
from nic_cases import run_flow, transport

RATE_BPS = 100 * 10**9
TIMES = ["posted_ps", "sent_ps", "delivered_ps", "acked_ps"]
#: Swift with a window that never moves.
SWIFT = {"ns3::Swift::MinWindow": 0.5, "ns3::Swift::MaxWindow": 0.5}


def run(kind: str, size: int, ns3_defaults: dict[str, Any] | None = None, **overrides: Any) -> ap.Result:
    keys = [f"{key.replace('__', '.')}={value}" for key, value in overrides.items()]
    return one_collective(load_scenario({"ns3": {"defaults": ns3_defaults or {}}}, keys), kind, size).run()


def wire_ps(line_bytes: int, rate_bps: int = RATE_BPS) -> int:
    return -(-8 * line_bytes * 10**12 // rate_bps)


def round_trip_ps(payload: int, delay_ps: int, latency_ps: int) -> int:
    """Of a packet and its ACK over two links and a switch."""
    return 2 * (wire_ps(payload + 82) + wire_ps(86)) + 4 * delay_ps + 2 * latency_ps


@pytest.mark.parametrize("packets", [1, 2, 9])
@pytest.mark.parametrize("payload", [256, 4096])
def test_packets_leave_at_the_pace_that_the_control_gives(packets: int, payload: int) -> None:
    result = run(
        "sendrecv",
        packets * payload,
        SWIFT,
        platform__ranks=2,
        platform__link_rate="100Gbps",
        platform__link_delay="500ns",
        transport__payload=f"{payload}B",
        transport__congestion_control="swift",
    )
    round_trip = round_trip_ps(payload, 500_000, 300_000)
    starts, rtt = [0], round_trip
    for number in range(packets - 1):
        line = payload + (98 if number == 0 else 82)
        # A packet every two round trips; the rate is whole bits per second, and half goes away from zero.
        rate = int(Fraction(payload + 82, 2) * 8 * 10**12 / rtt + Fraction(1, 2))
        starts.append(starts[-1] + ceil(Fraction(8 * line * 10**12, rate)))
        # By the next start the last packet's ACK is back, with its own round trip.
        rtt = round_trip + 2 * (wire_ps(line) - wire_ps(payload + 82))
    last = payload + (98 if packets == 1 else 82)
    assert result.messages["sent_ps"][0] == starts[-1] + wire_ps(last)
    assert result.counters["flows_controlled"] == 1


@pytest.mark.parametrize("qps", [1, 4])
def test_queue_pairs_that_share_a_control_share_its_pace(qps: int) -> None:
    def sent(scope: str) -> EngineColumns:
        swift = SWIFT | {"ns3::RoceNic::CongestionScope": scope}
        return run_flow(12_000, transport(payload=1000, qps=qps, congestion_control="ns3::Swift"), swift, messages=4)

    alone, shared = sent("queue_pair"), sent("peer")
    assert alone.counters["flows_controlled"] == qps
    assert shared.counters["flows_controlled"] == 1
    ratio = int(shared.message_sent_ps.max()) / int(alone.message_sent_ps.max())
    assert ratio == pytest.approx(qps, rel=0.1)


@pytest.mark.parametrize("control", ["dcqcn", "timely", "swift"])
@pytest.mark.parametrize("scope", ["queue_pair", "peer"])
@pytest.mark.parametrize("qps", [1, "per_message"])
def test_a_control_that_finds_nothing_to_do_changes_no_moment(control: str, scope: str, qps: int | str) -> None:
    # Neighbours only: no queue anywhere. Swift's window is as large as may be.
    shape = {"platform__ranks": 4, "transport__qps_per_peer": qps, "collective__all_reduce": "ring"}
    defaults = {"ns3::Swift::MinWindow": 1000.0, "ns3::Swift::MaxWindow": 1000.0} if control == "swift" else {}
    plain = run("all_reduce", 1 << 20, **shape, transport__congestion_control="none")
    controlled = run(
        "all_reduce", 1 << 20, defaults, **shape, transport__congestion_control=control, transport__cc_scope=scope
    )
    assert controlled.messages[TIMES].equals(plain.messages[TIMES])
    assert controlled.counters["packet_hops"] == plain.counters["packet_hops"]
    assert controlled.counters["flows_slowed"] == 0
    assert controlled.counters["flows_controlled"] > 0
    assert plain.counters["flows_controlled"] == 0


@pytest.mark.parametrize("ack", ["per_packet", "out_of_band"])
@pytest.mark.parametrize("control", ["timely", "swift"])
def test_round_trips_tell_of_an_incast(control: str, ack: str) -> None:
    shape = {"platform__ranks": 9, "transport__ack": ack, "transport__payload": "1000B"}
    plain = run("gather", 9 << 20, **shape, transport__congestion_control="none")
    slowed = run("gather", 9 << 20, **shape, transport__congestion_control=control)
    assert slowed.counters["flows_slowed"] > 0
    assert slowed.links["max_queue_bytes"].max() < plain.links["max_queue_bytes"].max()
    if control == "swift":  # which empties the queue and not the link; TIMELY from a full buffer falls far
        assert slowed.collectives["time_ps"][0] < 1.5 * plain.collectives["time_ps"][0]


@pytest.mark.parametrize("ack", ["per_packet", "every:5", "per_message", "out_of_band"])
@pytest.mark.parametrize("cnp", ["frame", "ack_flag"])
@pytest.mark.parametrize("scope", ["queue_pair", "peer"])
def test_marks_bring_notifications_and_these_slow_the_flow(ack: str, cnp: str, scope: str) -> None:
    shape = {"platform__ranks": 9, "transport__ack": ack, "transport__payload": "1000B"}
    plain = run("gather", 18 << 20, **shape, transport__congestion_control="none")
    slowed = run("gather", 18 << 20, **shape, transport__cnp=cnp, transport__cc_scope=scope)
    assert plain.counters["cnps"] == plain.counters["marked_packets"] == 0
    counters = slowed.counters
    assert 0 < counters["cnps"] < counters["marked_packets"] / 10
    if ack != "per_message" or cnp == "frame":  # else the news comes with the only ACK, when all is sent
        assert counters["flows_slowed"] == 8
        assert slowed.links["max_queue_bytes"].max() < plain.links["max_queue_bytes"].max()


def test_a_receiver_notifies_as_often_as_it_may() -> None:
    def cnps(interval: str, **keys: Any) -> int:
        shape = {
            "platform__ranks": 3,
            "transport__payload": "1000B",
            "switch__ecn_kmin": "0B",
            "switch__ecn_kmax": "0B",
        }
        result = run("gather", 3 << 20, **shape, transport__dcqcn__cnp_interval=interval, **keys)
        return result.counters["cnps"]

    assert cnps("1s") == 2  # the first one of each flow
    assert cnps("20us") > cnps("100us") > 2


@pytest.mark.parametrize("ack", ["per_packet", "every:5", "out_of_band"])
@pytest.mark.parametrize("control", ["dctcp", "hpcc", "swift"])
def test_windows_keep_the_queue_of_an_incast_short(control: str, ack: str) -> None:
    shape = {"platform__ranks": 9, "transport__ack": ack, "transport__payload": "1000B"}
    plain = run("gather", 9 << 20, **shape, transport__congestion_control="none")
    slowed = run("gather", 9 << 20, **shape, transport__congestion_control=control)
    assert slowed.counters["flows_slowed"] == 8
    assert slowed.links["max_queue_bytes"].max() < plain.links["max_queue_bytes"].max() / 4
    assert slowed.collectives["time_ps"][0] < 1.3 * plain.collectives["time_ps"][0]


def test_a_window_below_a_packet_lets_one_be_in_flight() -> None:
    result = run("sendrecv", 20_000, SWIFT, platform__ranks=2, transport__congestion_control="swift")
    assert result.links["max_queue_bytes"].max() <= 4096 + 98


@pytest.mark.parametrize("routing", ["spray", "least_loaded"])
def test_hpcc_compares_stamps_of_the_same_ports_only(routing: str) -> None:
    def time_us(routing: str) -> float:
        keys = ("platform.kind=leaf_spine", "platform.ranks=16", "transport.congestion_control=hpcc")
        scenario = load_scenario({}, [*keys, f"platform.routing={routing}"])
        result = one_collective(scenario, "sendrecv", 4 << 20, (0, 8)).run()
        return float(result.columns("collectives")["time_us"][0])

    # a lone flow, spread over eight spines: counters of different ports would tell of any utilisation
    assert time_us(routing) < 1.1 * time_us("static_rail")
