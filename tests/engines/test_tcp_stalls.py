# SPDX-License-Identifier: GPL-2.0-only
"""What would end ns-3's process, or leave a connection without a timer: runs end, and lose no time to timers."""

from __future__ import annotations

import pytest

import astra_py as ap
from behaviour.flows import Flow, incast, run_flows

LEAF_SPINE = ("platform.kind=leaf_spine", "platform.ranks=16", "platform.ranks_per_leaf=4", "platform.spines=4")
TCP = "transport.kind=tcp"


def last_us(result: ap.Result) -> float:
    return float(result.messages["delivered_ps"].max()) / 10**6


@pytest.mark.parametrize("delayed_ack", [1, 2])
def test_dctcp_does_not_wait_for_delayed_acks(delayed_ack: int) -> None:
    """7 x 500 kB at 100 Gb/s are 282.8 us of line; a wait would be 2.5 ms."""
    result = run_flows(incast(7, 500_000), TCP, "platform.ranks=8", f"transport.tcp.delayed_ack={delayed_ack}")
    assert result.counters["marked_packets"] > 0
    assert last_us(result) < 290


@pytest.mark.parametrize("routing", ["spray", "least_loaded"])
@pytest.mark.parametrize("control", ["dctcp", "newreno", "bbr"])
@pytest.mark.parametrize("sack", ["true", "false"])
def test_reordered_segments_end_no_process(routing: str, control: str, sack: str) -> None:
    flows = [Flow(rank, (rank + 8) % 16, 1_000_000) for rank in range(16)]
    keys = (f"platform.routing={routing}", f"transport.congestion_control={control}", f"transport.tcp.sack={sack}")
    result = run_flows(flows, TCP, *LEAF_SPINE, *keys)
    assert result.messages["size_bytes"].sum() == 16_000_000


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("sack", ["true", "false"])
def test_nagle_holds_no_retransmission_back(seed: int, sack: str) -> None:
    """Messages end with short segments, of which some are lost."""
    keys = ("platform.ranks=3", "platform.link_loss=0.05", "transport.tcp.nagle=true", "transport.tcp.min_rto=50us")
    keys += ("transport.tcp.data_retries=100",)
    flows = [Flow(src, 0, 10_000, messages=5) for src in (1, 2)]
    result = run_flows(flows, TCP, *keys, f"transport.tcp.sack={sack}", f"seed={seed}")
    assert len(result.messages) == 10


@pytest.mark.parametrize("seed", range(8))
def test_a_lost_window_update_is_asked_for(seed: int) -> None:
    """A reader that is slower than the line, in a window of hardly more than two segments, on a lossy way."""
    keys = ("platform.ranks=2", "platform.link_loss=0.1", "host.copy_rate=5Gbps", "transport.tcp.min_rto=50us")
    small = ("transport.tcp.receive_buffer=18104B", "transport.tcp.data_retries=100", "transport.tcp.mtu=3000B")
    result = run_flows([Flow(1, 0, 500_000, messages=3)], TCP, *keys, *small, f"seed={seed}")
    assert result.messages["size_bytes"].sum() == 500_000
    assert last_us(result) < 5_000_000


def test_long_links_have_no_timeouts_without_losses() -> None:
    result = run_flows(incast(3, 500_000), TCP, "platform.ranks=4", "platform.link_delay=10ms")
    assert result.counters["timeouts"] == result.counters["repeated_packets"] == 0


@pytest.mark.parametrize("mtu", ["576B", "9053B", "65535B"])
def test_packets_of_any_size_that_ip_has(mtu: str) -> None:
    result = run_flows(incast(3, 200_000), TCP, "platform.ranks=4", f"transport.tcp.mtu={mtu}")
    assert result.messages["size_bytes"].sum() == 600_000


@pytest.mark.slow
def test_sequence_numbers_turn_over_and_late_marks_count() -> None:
    """A stream of 5 GiB, which others meet when it is past 2 GiB since it began, without a mark until then."""
    alone_ps = 100 * 10**9
    flows = [Flow(1, 0, 5 * 2**30), *(Flow(src, 0, 20_000_000, alone_ps) for src in (2, 3))]
    result = run_flows(flows, TCP, "platform.ranks=4", "platform.link_rate=400Gbps")
    assert result.counters["marked_packets"] > 0
    assert result.counters["timeouts"] == 0
    assert result.sockets["size_bytes"].sum() == 5 * 2**30 + 40_000_000
