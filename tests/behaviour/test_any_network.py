# SPDX-License-Identifier: GPL-2.0-only
"""Whatever network, flows, control and losses: a run ends, moves every byte once, and keeps within its buffers."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import astra_py as ap
from behaviour.flows import US, Flow, run_flows

#: Platforms of six or eight ranks and what makes them.
PLATFORMS = {
    "single_switch": (6, ("ranks=6",)),
    "leaf_spine": (6, ("ranks=6", "ranks_per_leaf=2", "spines=2")),
    "fat_tree": (8, ("ranks=8", "ports=4")),
    "zionex": (8, ("nodes=4", "accelerators_per_node=2", "nodes_per_group=2")),
    "rail_optimized": (8, ("nodes=4", "accelerators_per_node=2", "nodes_per_group=2")),
    "rail_only": (8, ("nodes=4", "accelerators_per_node=2")),
}
LEAVES = ("leaf_spine", "fat_tree", "zionex", "rail_optimized")


@st.composite
def platforms(draw: st.DrawFn) -> tuple[int, list[str]]:
    kind = draw(st.sampled_from(list(PLATFORMS)))
    ranks, shape = PLATFORMS[kind]
    shape = tuple(key for key in shape if not (kind == "zionex" and key.startswith("nodes_per_group")))
    keys = [f"platform.kind={kind}", *(f"platform.{key}" for key in shape)]
    keys.append(f"platform.link_rate={draw(st.sampled_from(['10Gbps', '100Gbps', '400Gbps']))}")
    keys.append(f"platform.link_delay={draw(st.sampled_from(['1ns', '500ns', '20us']))}")
    keys.append(f"platform.switch_latency={draw(st.sampled_from(['0ns', '300ns']))}")
    keys.append(f"platform.link_loss={draw(st.sampled_from(['0', '0', '0.001', '0.02', '0.1']))}")
    routing = draw(st.sampled_from(["ecmp", "enhanced_ecmp", "spray", "least_loaded"]))
    keys.append(f"platform.routing={routing}")
    if kind in LEAVES and draw(st.booleans()):
        keys.append("platform.fabric_rate=40Gbps")
        keys.append("platform.spines=1")
    return ranks, [key for i, key in enumerate(keys) if not _is_overridden(key, keys[i + 1 :])]


def _is_overridden(key: str, later: list[str]) -> bool:
    name = key.partition("=")[0]
    return any(other.partition("=")[0] == name for other in later)


@st.composite
def switches(draw: st.DrawFn) -> list[str]:
    buffer = draw(st.sampled_from(["auto", "auto", "20kB", "100kB", "400kB", "2MB", "unlimited"]))
    keys = [f"switch.buffer={buffer}"]
    if buffer != "unlimited":
        is_lossless = draw(st.booleans())
        keys.append(f"switch.pfc={str(is_lossless).lower()}")
        if is_lossless:
            keys.append(f"switch.pfc_alpha={draw(st.sampled_from(['0.125', '1', '8']))}")
            keys.append(f"switch.pause_quanta={draw(st.sampled_from(['200', '1000', '65535']))}")
            keys.append(f"switch.pfc_response_quanta={draw(st.sampled_from(['0', '60']))}")
            keys.append(f"switch.lossless={draw(st.sampled_from(['all', '[0]', '[1,2]']))}")
    keys.append(f"switch.forwarding={draw(st.sampled_from(['store_and_forward', 'cut_through']))}")
    keys.append(f"switch.scheduling={draw(st.sampled_from(['strict', 'dwrr']))}")
    keys.append(f"switch.ecn_mark_at={draw(st.sampled_from(['enqueue', 'dequeue']))}")
    return keys


@st.composite
def transports(draw: st.DrawFn) -> list[str]:
    keys = [f"transport.payload={draw(st.sampled_from(['64B', '1000B', '4096B']))}"]
    control = draw(st.sampled_from(["none", "dcqcn", "hpcc", "timely", "swift", "dctcp"]))
    keys.append(f"transport.congestion_control={control}")
    if control != "none":
        keys.append(f"transport.cc_scope={draw(st.sampled_from(['queue_pair', 'peer']))}")
    if control == "dcqcn":
        keys.append(f"transport.cnp={draw(st.sampled_from(['frame', 'ack_flag']))}")
    keys.append(f"transport.window={draw(st.sampled_from(['none', 'bdp', '20kB']))}")
    keys.append(f"transport.ack={draw(st.sampled_from(['per_packet', 'every:3', 'per_message', 'out_of_band']))}")
    keys.append(f"transport.recovery={draw(st.sampled_from(['go_back_n', 'selective_repeat']))}")
    pairs = draw(st.sampled_from(["1", "3", "per_message"]))
    keys.append(f"transport.qps_per_peer={pairs}")
    if pairs == "3":
        keys.append(f"transport.qp_policy={draw(st.sampled_from(['round_robin', 'striped']))}")
    return keys


@st.composite
def flows(draw: st.DrawFn, ranks: int) -> list[Flow]:
    """Up to ten flows, most of them to one rank."""
    found = []
    for _ in range(draw(st.integers(1, 10))):
        dst = draw(st.sampled_from([0, 0, *range(ranks)]))
        src = draw(st.integers(0, ranks - 2))
        size = draw(st.sampled_from([1, 4096, 30_000, 150_000]))
        start, priority = draw(st.integers(0, 50 * US)), draw(st.integers(0, 2))
        found.append(Flow(src + (src >= dst), dst, size, start, draw(st.integers(1, 3)), priority))
    return found


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[Flow], list[str]]:
    ranks, platform = draw(platforms())
    keys = [*platform, *draw(switches()), *draw(transports()), f"seed={draw(st.integers(0, 1000))}"]
    return draw(flows(ranks)), keys


def assert_sound(work: list[Flow], keys: list[str]) -> None:
    """The run's own checks hold: bytes once, buffers within their size, pauses ended. Here is what they leave out."""
    result: ap.Result = run_flows(work, *keys, "limits.max_events=20000000")
    assert result.messages["size_bytes"].sum() == sum(flow.size_bytes for flow in work)
    assert (result.messages["delivered_ps"] >= 0).all()
    assert {check.name for check in result.checks} >= {"buffers", "pauses", "received_bytes", "switch_frames"}
    refused = int(result.queues["refused_frames"].sum())
    if "switch.lossless=all" in keys or "switch.buffer=unlimited" in keys:
        assert refused == 0
    if refused == result.links["dropped_frames"].sum() == 0:
        assert result.counters["timeouts"] == 0
        if "ecmp" in " ".join(keys):
            assert result.counters["repeated_packets"] == 0


@given(cases())
@settings(max_examples=100, deadline=None)
def test_a_run_ends_and_keeps_its_bytes(case: tuple[list[Flow], list[str]]) -> None:
    assert_sound(*case)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@given(cases())
@settings(max_examples=3000, deadline=None)
def test_many_runs_end_and_keep_their_bytes(case: tuple[list[Flow], list[str]]) -> None:
    assert_sound(*case)


@pytest.mark.parametrize("ack", ["every:3", "per_message"])
def test_packets_that_overtake_are_acknowledged_one_by_one(ack: str) -> None:
    """What sprayed packets return does not follow from their number; no check may say that it does."""
    keys = ["platform.kind=leaf_spine", "platform.ranks=6", "platform.ranks_per_leaf=2", "platform.spines=2"]
    work = [Flow(src, dst, 150_000) for src in range(6) for dst in range(6) if src != dst]
    assert_sound(work, [*keys, "platform.routing=spray", "transport.congestion_control=none", f"transport.ack={ack}"])


def test_a_run_that_ends_with_a_lost_frame_gives_its_room_back() -> None:
    """The last frame of a run is one that a switch's link loses: it holds its room as long as it is sent."""
    small = [Flow(5, 0, 1, messages=2), Flow(2, 0, 1, 1, 3), Flow(2, 4, 1, 1)]
    platform = ["kind=zionex", "nodes=4", "accelerators_per_node=2", "link_rate=10Gbps", "link_delay=1ns"]
    loss = ["switch_latency=0ns", "link_loss=0.02", "routing=enhanced_ecmp"]
    transport = ["payload=64B", "congestion_control=none", "ack=every:3", "recovery=selective_repeat"]
    keys = [f"platform.{key}" for key in (*platform, *loss)] + [f"transport.{key}" for key in transport]
    assert_sound(
        [Flow(2, 1, 150_000), *small], [*keys, "switch.pfc=false", "transport.qps_per_peer=per_message", "seed=0"]
    )
