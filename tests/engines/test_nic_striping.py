# SPDX-License-Identifier: GPL-2.0-only
"""Messages over several queue pairs, and queue pairs over several first ports."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astra_py.api import one_collective
from astra_py.config import load_scenario
from astra_py.engines.analytic import AnalyticEngine
from astra_py.engines.base import EngineColumns, ExitReason
from astra_py.engines.packet import PacketEngine
from astra_py.platforms.platform import NodeKind, Platform
from nic_cases import DELAY_PS, LATENCY_PS, RATE_BPS, run_flow, transport

GBPS = 10**9
ENGINES = (PacketEngine(), AnalyticEngine())
STRIPED = {"ns3::RoceNic::QpPolicy": "striped"}
MOMENTS = ["message_posted_ps", "message_sent_ps", "message_delivered_ps", "message_acked_ps"]


def nvswitches(rates_gbps: list[int]) -> Platform:
    """Two accelerators with a link of each rate to a switch of its own; efficiency 1."""
    graph: nx.MultiGraph[int] = nx.MultiGraph()
    for rank in range(2):
        graph.add_node(
            rank, kind=NodeKind.ACCELERATOR, rank=rank, latency_ps=0, name=f"accelerator {rank}", forwards=False
        )
    for number, rate in enumerate(rates_gbps):
        switch = 2 + number
        graph.add_node(switch, kind=NodeKind.SWITCH, rank=-1, latency_ps=0, name=f"nvswitch {number}", forwards=True)
        for rank in range(2):
            graph.add_edge(
                rank,
                switch,
                link=2 * number + rank,
                rate_bps=rate * GBPS,
                delay_ps=100_000,
                loss=0.0,
                link_class="nvlink",
                efficiency=1.0,
            )
    return Platform("nvswitches", graph)


def moments(columns: EngineColumns) -> list[list[int]]:
    return [getattr(columns, name).tolist() for name in MOMENTS]


def wire_ps(line_bytes: int) -> int:
    return -(-8 * line_bytes * 10**12 // RATE_BPS)


@given(
    size=st.integers(0, 30_000),
    messages=st.integers(1, 5),
    qps=st.integers(1, 9),
    ack=st.sampled_from(["per_packet", "per_message", "out_of_band"]),
)
@settings(max_examples=60)
def test_each_part_is_told_of_once(size: int, messages: int, qps: int, ack: str) -> None:
    columns = run_flow(size, transport(payload=1000, qps=qps, ack=ack), STRIPED, messages=messages)
    assert columns.exit_reason == ExitReason.COMPLETED
    assert columns.message_delivered_bytes.tolist() == [size] * messages
    for earlier, later in zip(moments(columns), moments(columns)[1:], strict=False):
        assert all(a <= b for a, b in zip(earlier, later, strict=True) if b >= 0)
    packets = max(1, -(-size // 1000))
    assert columns.counters["packets"] == messages * packets
    assert columns.counters["connections"] == min(qps, messages * packets)
    # Each part is a WRITE of its own, with its own RETH.
    parts = messages * min(qps, packets)
    payload = size if size % 4 == 0 else size - size % 1000 + (size % 1000 + 3) // 4 * 4
    assert columns.channel_line_bytes[0] == messages * (payload + 82 * packets) + 16 * parts


def test_the_moments_of_a_striped_message_are_those_of_its_last_part() -> None:
    # Three packets on two queue pairs, 2 + 1: round robin sends the single one second.
    columns = run_flow(3000, transport(payload=1000, qps=2, ack="out_of_band"), STRIPED)
    sent = 2 * wire_ps(1098) + wire_ps(1082)
    way = 2 * DELAY_PS + LATENCY_PS
    # The last packet is the shortest, and waits at the switch for the one before it.
    delivered = 3 * wire_ps(1098) + wire_ps(1082) + way
    assert moments(columns) == [[0], [sent], [delivered], [delivered + way]]


def test_one_queue_pair_is_a_whole_message() -> None:
    striped, plain = (run_flow(50_000, transport(qps=1), policy, messages=3) for policy in (STRIPED, {}))
    assert moments(striped) == moments(plain)


@pytest.mark.parametrize("rates", [[1000, 800, 800, 1000], [450, 450], [100, 900, 300]])
def test_packets_share_switches_as_their_links_are_fast(rates: list[int]) -> None:
    size = 256 << 20
    columns = run_flow(size, transport(), platform=nvswitches(rates))
    assert columns.exit_reason == ExitReason.COMPLETED
    reached = 8 * size / (int(columns.message_delivered_ps[0]) / 1e12)
    assert reached > 0.99 * sum(rates) * GBPS
    sent = columns.channel_payload_bytes[0::4]
    for share, rate in zip(sent.tolist(), rates, strict=True):
        assert share / size == pytest.approx(rate / sum(rates), rel=0.01)
    assert columns.message_delivered_bytes.tolist() == [size]
    counters = columns.counters
    assert counters["naks"] == counters["timeouts"] == counters["repeated_packets"] == 0
    assert counters["out_of_order_packets"] == counters["duplicate_packets"] == 0


@pytest.mark.parametrize("rates", [[1000, 800, 800, 1000], [450, 450], [100, 900, 300]])
@pytest.mark.parametrize("size", [0, 1, 4096, 5 * 4096 + 7, 256 << 20])
def test_the_analytic_engine_spreads_messages_as_well(rates: list[int], size: int) -> None:
    platform = nvswitches(rates)
    packet, analytic = (run_flow(size, transport(), platform=platform, engine=engine) for engine in ENGINES)
    for name in ("line_bytes", "payload_bytes"):
        sums = [getattr(columns, f"channel_{name}").reshape(-1, 4).sum(axis=0) for columns in (packet, analytic)]
        assert sums[0].tolist() == sums[1].tolist()
    sent = analytic.channel_payload_bytes[0::4]
    assert sent.sum() == size == analytic.rank_received_payload_bytes[1]
    for share, rate in zip(sent.tolist(), rates, strict=True):
        assert abs(share - size * rate / sum(rates)) <= len(rates) * 4096
    # cutting through: a packet's time earlier, at the slowest link
    slack = 8 * 2 * 4096 * 10**12 // (min(rates) * GBPS)
    assert abs(int(packet.message_delivered_ps[0] - analytic.message_delivered_ps[0])) <= slack
    assert analytic.message_sent_ps[0] <= analytic.message_delivered_ps[0] <= analytic.message_acked_ps[0]


def test_short_messages_take_the_switch_that_is_free_first() -> None:
    columns = run_flow(4096, transport(), messages=4, platform=nvswitches([800, 800]), engine=AnalyticEngine())
    packet_ps = 8 * 4096 * 10**12 // (800 * GBPS)
    assert columns.message_sent_ps.tolist() == [packet_ps, packet_ps, 2 * packet_ps, 2 * packet_ps]
    assert columns.channel_payload_bytes[0::4].tolist() == [8192, 8192]


def test_a_message_has_left_when_the_last_bit_of_all_its_packets_has() -> None:
    # Two packets start at once, the second by the far faster link: both leave, and arrive, at their own ends.
    columns = run_flow(8192, transport(), platform=nvswitches([100, 800]))
    slow = 8 * 4096 * 10**12 // (100 * GBPS)
    assert columns.message_sent_ps.tolist() == [slow]
    assert columns.message_delivered_ps.tolist() == [2 * slow + 200_000]
    assert columns.counters["out_of_order_accepted"] == 1


def test_many_messages_over_unequal_switches_come_whole_and_in_order() -> None:
    columns = run_flow(10_000, transport(), messages=50, platform=nvswitches([100, 800, 300]))
    assert columns.message_delivered_bytes.tolist() == [10_000] * 50
    assert (columns.message_delivered_ps[1:] >= columns.message_delivered_ps[:-1]).all()
    assert (columns.message_sent_ps <= columns.message_delivered_ps).all()
    assert columns.counters["out_of_order_accepted"] > 0


@pytest.mark.parametrize("routing", ["spray", "least_loaded"])
@pytest.mark.parametrize("ack", ["per_packet", "every:4", "per_message", "out_of_band"])
@pytest.mark.parametrize("recovery", ["go_back_n", "selective_repeat"])
@pytest.mark.parametrize("loss", [0.0, 0.01])
def test_packets_that_choose_their_ways_singly_come_whole(routing: str, ack: str, recovery: str, loss: float) -> None:
    keys = {
        "platform.kind": "leaf_spine",
        "platform.ranks": 8,
        "platform.routing": routing,
        "platform.link_loss": loss,
        "transport.ack": ack,
        "transport.recovery": recovery,
        "transport.payload": "1000B",
        "transport.congestion_control": "none",
    }
    scenario = load_scenario({}, [f"{key}={value}" for key, value in keys.items()])
    result = one_collective(scenario, "all_to_all", 800_000).run()
    counters = result.counters
    assert counters["out_of_order_packets"] == counters["naks"] == 0
    if loss == 0.0:
        assert counters["repeated_packets"] == counters["timeouts"] == 0
    else:
        assert counters["repeated_packets"] > 0
