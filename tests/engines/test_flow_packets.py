# SPDX-License-Identifier: GPL-2.0-only
"""The flow engine beside the packet engine: alone to the picosecond, shared within packets, the same bytes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astra_py.api import one_collective
from astra_py.collectives import algorithm_names
from astra_py.config import load_scenario
from astra_py.engines.base import EngineColumns
from astra_py.engines.flow import FlowEngine
from astra_py.engines.packet import PacketEngine
from astra_py.platforms.platform import Platform
from astra_py.results.result import Result
from astra_py.workloads import COLLECTIVE_KINDS
from collective_cases import CHOSEN_AT_ISSUE
from flow_cases import MB, Message, network, run_messages, star
from nic_cases import transport

#: The acknowledgement's bytes, windows and control, which no flow has, out of the way.
FREE = transport(ack="out_of_band")


def chain(rates_gbps: list[int], delay_ps: int = 500_000) -> Platform:
    """Two ranks at the ends of a chain of links."""
    hops = len(rates_gbps)
    nodes = [0, *range(2, hops + 1), 1]
    return network(2, hops - 1, list(zip(nodes, nodes[1:], rates_gbps, strict=False)), delay_ps)


def both(platform: Platform, messages: list[Message], **changes: Any) -> tuple[EngineColumns, EngineColumns]:
    model = replace(FREE, **changes)
    return run_messages(platform, messages, model, PacketEngine()), run_messages(platform, messages, model)


@pytest.mark.parametrize("hops", [1, 2, 6])
@pytest.mark.parametrize("size", [0, 1, 4095, 4096, 4097, 8193, 10**6 + 7, 2**32 + 1])
@pytest.mark.parametrize("payload", [1024, 4096])
def test_a_message_alone_takes_the_time_of_its_packets(hops: int, size: int, payload: int) -> None:
    if size > 10**9 and (hops, payload) != (1, 4096):
        pytest.skip("a million packets once")
    packet, flow = both(chain([100] * hops), [Message(0, 1, size)], payload_bytes=payload)
    for name in ("sent", "delivered", "acked"):
        assert getattr(flow, f"message_{name}_ps").tolist() == getattr(packet, f"message_{name}_ps").tolist()


@given(
    rates=st.lists(st.sampled_from([3, 25, 40, 100, 400]), min_size=1, max_size=5),
    size=st.integers(0, 50_000),
    payload=st.sampled_from([256, 1000, 4096]),
)
@settings(max_examples=60, deadline=None)
def test_over_links_of_any_rate_a_message_is_early_by_less_than_a_packet_on_each_link(
    rates: list[int], size: int, payload: int
) -> None:
    packet, flow = both(chain(rates), [Message(0, 1, size)], payload_bytes=payload)
    early = int(packet.message_delivered_ps[0] - flow.message_delivered_ps[0])
    # what is shorter than the packet before it waits for it on each link behind the slowest
    last_slowest = max(i for i, rate in enumerate(rates) if rate == min(rates))
    behind = sum(8 * (payload + 98) * 1000 // rate + 1 for rate in rates[last_slowest + 1 :])
    packets = -(-size // payload) + 1
    # and each packet's time is rounded up
    assert -1 <= early <= behind + packets
    full = size % payload == 0 and size > 0
    if full:
        assert early <= packets + behind // 40


@pytest.mark.parametrize("senders", [2, 3, 7])
def test_the_last_of_an_incast_ends_as_in_packets(senders: int) -> None:
    """The others end a little earlier in packets, in the order in which they stand in the switch's queue."""
    messages = [Message(rank, senders, 3 * MB) for rank in range(senders)]
    packet, flow = both(star([100] * (senders + 1), 500_000), messages)
    assert packet.message_delivered_ps.max() == flow.message_delivered_ps.max()
    assert packet.message_delivered_ps.tolist() == pytest.approx(flow.message_delivered_ps.tolist(), rel=0.005)


def test_shares_of_a_slow_link_are_those_of_packets_in_turn() -> None:
    """Sizes differ: each end gives the others more."""
    messages = [Message(0, rank, rank * MB) for rank in range(1, 5)]
    packet, flow = both(star([100] * 5, 500_000), messages)
    assert flow.message_delivered_ps.tolist() == pytest.approx(packet.message_delivered_ps.tolist(), rel=2e-3)


def run_of(engine: str, kind: str, size_bytes: int, *overrides: str) -> Result:
    keys = [f"engine={engine}", "transport.ack=out_of_band", "transport.congestion_control=none", *overrides]
    group = (0, 1) if kind == "sendrecv" else None
    return one_collective(load_scenario({}, keys), kind, size_bytes, group).run()


ZIONEX = ("platform.kind=zionex", "platform.ranks_per_leaf=16")
LEAF_SPINE = ("platform.kind=leaf_spine", "platform.ranks=8", "platform.ranks_per_leaf=4")


@pytest.mark.parametrize(
    ("kind", "overrides", "tolerance"),
    [
        ("all_reduce", ("platform.ranks=6", "collective.all_reduce=ring"), 1e-9),
        ("all_reduce", ("platform.ranks=8", "collective.all_reduce=halving_doubling"), 1e-9),
        ("all_reduce", (*ZIONEX, "collective.all_reduce=hierarchical"), 1e-3),
        ("all_to_all", ("platform.ranks=8",), 5e-3),
        ("all_to_all", (*LEAF_SPINE, "platform.routing=spray"), 0.02),
        ("all_to_all", LEAF_SPINE, 0.05),
        ("all_gather", ("platform.kind=dgx_h100", "platform.nodes=1"), 1e-2),
    ],
)
def test_collectives_take_as_long_as_in_packets(kind: str, overrides: tuple[str, ...], tolerance: float) -> None:
    packet, flow = (run_of(engine, kind, 16 * MB, *overrides) for engine in ("packet", "flow"))
    assert flow.collectives["time_ps"][0] == pytest.approx(packet.collectives["time_ps"][0], rel=tolerance)


#: Algorithms whose messages meet on links, where a switch serves packets as they come and not in equal parts.
SHARING = {"ring_bidirectional": 0.03, "double_binary_tree": 0.04, "direct": 0.03, "bruck": 2e-3}
ALGORITHMS = [
    (kind, name) for kind in COLLECTIVE_KINDS for name in algorithm_names(kind) if name not in CHOSEN_AT_ISSUE
]


@pytest.mark.parametrize("platform", [("platform.ranks=8",), (*ZIONEX, "platform.accelerators_per_node=4")])
@pytest.mark.parametrize(("kind", "algorithm"), ALGORITHMS)
def test_every_algorithm_takes_as_long_as_in_packets(kind: str, algorithm: str, platform: tuple[str, ...]) -> None:
    size = 0 if kind == "barrier" else 1 << 20
    choice = (f"collective.{kind}={algorithm}", *platform)
    packet, flow = (run_of(engine, kind, size, *choice).collectives["time_ps"][0] for engine in ("packet", "flow"))
    assert flow == pytest.approx(packet, rel=SHARING.get(algorithm, 1e-3))


@pytest.mark.parametrize("overrides", [("platform.ranks=5",), LEAF_SPINE, ("platform.kind=zionex",)])
@pytest.mark.parametrize("kind", ["all_reduce", "all_to_all"])
def test_links_carry_the_bytes_that_ports_count(overrides: tuple[str, ...], kind: str) -> None:
    packet, flow = (run_of(engine, kind, 100_001, *overrides).links for engine in ("packet", "flow"))
    for column in ("payload_bytes", "line_bytes"):
        assert flow[column].tolist() == packet[column].tolist()
    # both as long as the bytes take at the link's rate, which packets round up one by one
    assert (flow["busy_us"] <= packet["busy_us"]).all()
    assert flow["busy_us"].tolist() == pytest.approx(packet["busy_us"].tolist(), abs=1e-4)


@pytest.mark.parametrize("routing", ["spray", "least_loaded"])
@pytest.mark.parametrize("size", [1, 4097, 10**6 + 3])
def test_a_message_whose_packets_choose_goes_over_all_ways(routing: str, size: int) -> None:
    """What comes to a switch leaves it, to the byte, in equal parts where links are equal."""
    keys = ("platform.kind=fat_tree", "platform.ranks=16", "platform.ports=4", f"platform.routing={routing}")
    scenario = load_scenario({}, ["engine=flow", *keys])
    links = one_collective(scenario, "sendrecv", size, (0, 15)).run().links
    carried = links[links["line_bytes"] > 0]
    switches = (set(carried["from"]) | set(carried["to"])) - {"rank0", "rank15"}
    for column in ("payload_bytes", "line_bytes"):
        coming, going = (carried.groupby(end)[column].sum() for end in ("to", "from"))
        assert all(coming[switch] == going[switch] for switch in switches)
        assert coming["rank15"] == going["rank0"] >= size
    assert len(carried) == 2 + 2 * (2 + 4)
    into_spines = carried[carried["from"].str.startswith("leaf") & ~carried["to"].str.startswith("rank")]
    assert np.ptp(into_spines["payload_bytes"]) <= 1


def test_the_engine_has_no_ns3() -> None:
    with pytest.raises(Exception, match=r"the flow engine has no ns-3 to set ns3::X in; use engine=packet"):
        run_messages(star([100, 100]), [Message(0, 1, 1)], engine=FlowEngine(), ns3_defaults={"ns3::X": "1"})
