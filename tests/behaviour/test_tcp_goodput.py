# SPDX-License-Identifier: GPL-2.0-only
"""One flow over an ideal host fills its link: what it delivers is the payload's share of the line."""

from __future__ import annotations

import pytest

from behaviour.flows import Flow, run_flows

#: Payload and line bytes of a full segment with timestamps (MTU 1,500 and 9,000).
SHARES = {1500: (1448, 1538), 9000: (8948, 9038)}
TOLERANCE = 0.005


def steady_goodput_bps(rate_gbps: int, mtu: int, size_bytes: int, *keys: str) -> float:
    """What is delivered a second while the last four fifths of the bytes come."""
    tables = ("platform.ranks=2", f"platform.link_rate={rate_gbps}Gbps", f"transport.tcp.mtu={mtu}B")
    result = run_flows([Flow(0, 1, size_bytes, messages=5)], "transport.kind=tcp", *tables, *keys)
    assert result.counters["repeated_packets"] == result.counters["timeouts"] == 0
    first, last = result.messages["delivered_ps"].iloc[[0, -1]]
    return 8e12 * size_bytes * 4 / 5 / (last - first)


def assert_fills_the_link(rate_gbps: int, mtu: int, size_bytes: int, *keys: str) -> None:
    payload, line = SHARES[mtu]
    share = steady_goodput_bps(rate_gbps, mtu, size_bytes, *keys) / (rate_gbps * 1e9 * payload / line)
    assert 1 - TOLERANCE <= share <= 1 + 1e-3  # a message's end is a segment's


@pytest.mark.parametrize("mtu", SHARES)
@pytest.mark.parametrize("rate_gbps", [10, 100, 400])
def test_twenty_megabytes_fill_the_link(rate_gbps: int, mtu: int) -> None:
    assert_fills_the_link(rate_gbps, mtu, 20_000_000)


@pytest.mark.slow
@pytest.mark.parametrize("control", ["dctcp", "cubic", "linux_reno", "newreno"])
@pytest.mark.parametrize("mtu", SHARES)
@pytest.mark.parametrize("rate_gbps", [10, 100, 400])
def test_two_hundred_megabytes_fill_the_link(rate_gbps: int, mtu: int, control: str) -> None:
    assert_fills_the_link(rate_gbps, mtu, 200_000_000, f"transport.congestion_control={control}")


@pytest.mark.parametrize("links_us", [5, 50])
def test_longer_ways_fill_it_too(links_us: int) -> None:
    assert_fills_the_link(100, 9000, 100_000_000, f"platform.link_delay={links_us}us")


def test_a_send_buffer_of_half_the_round_trip_gives_half_the_rate() -> None:
    """What is not acknowledged is at most the buffer: bytes a round trip. ACKs come for every two segments."""
    trip_s, buffer = 4 * 50e-6 + 2 * 300e-9, 1_000_000
    keys = (f"transport.tcp.send_buffer={buffer}B", "platform.link_delay=50us", "platform.switch_latency=300ns")
    measured = steady_goodput_bps(100, 9000, 40_000_000, *keys)
    assert measured == pytest.approx(8 * buffer / trip_s, rel=0.05)
