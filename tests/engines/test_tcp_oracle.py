# SPDX-License-Identifier: GPL-2.0-only
"""TCP to the picosecond: what one message takes by hand, and random messages as the plain oracle has them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astra_py.platforms import Platform
from behaviour.flows import GBPS, Flow
from reference_tcp import Host, Tcp
from tcp_cases import MICROSECOND, run_tcp, simulate, star, tree

DELAY_PS, LATENCY_PS = 500_000, 300_000


def serialisation_ps(payload: int, rate_bps: int) -> int:
    """Ethernet 14, IPv4 20, TCP 20 with 12 of timestamps, FCS 4; at least 64; preamble 8 and gap 12."""
    line_bytes = 20 + max(64, 14 + 20 + 20 + 12 + payload + 4)
    return -(-8 * line_bytes * 10**12 // rate_bps)


@pytest.mark.parametrize("rate_bps", [10 * GBPS, 100 * GBPS, 400 * GBPS])
@pytest.mark.parametrize(("mtu", "size"), [(1500, s) for s in (0, 1, 700, 1448)] + [(9000, s) for s in (0, 1, 8948)])
def test_a_message_of_one_segment_takes_what_wires_and_switch_take(mtu: int, size: int, rate_bps: int) -> None:
    platform = star([rate_bps] * 2, [DELAY_PS] * 2, LATENCY_PS)
    result = run_tcp([Flow(0, 1, size)], f"transport.tcp.mtu={mtu}B", platform=platform)
    message = result.messages.iloc[0]
    expected_ps = 2 * serialisation_ps(max(size, 1), rate_bps) + 2 * DELAY_PS + LATENCY_PS
    assert 0 <= message["delivered_ps"] - message["posted_ps"] - expected_ps <= 1  # ns-3's Send waits a time step


@pytest.mark.parametrize("hops", [2, 3])
@pytest.mark.parametrize("segments", [2, 5, 7])  # more are not in a window without scaling, which SYNs tell
def test_segments_of_the_initial_window_follow_each_other(segments: int, hops: int) -> None:
    rates, delays = [100 * GBPS] * (hops + (hops == 3) * 2), [DELAY_PS] * (hops + (hops == 3) * 2)
    platform = star(rates, delays, LATENCY_PS) if hops == 2 else tree(rates, delays, LATENCY_PS)
    last = 1 if hops == 2 else 3
    result = run_tcp([Flow(0, last, segments * 8948)], platform=platform)
    message = result.messages.iloc[0]
    way_ps = hops * DELAY_PS + (hops - 1) * LATENCY_PS
    expected_ps = (segments + hops - 1) * serialisation_ps(8948, 100 * GBPS) + way_ps
    assert 0 <= message["delivered_ps"] - message["posted_ps"] - expected_ps <= 1


def test_two_flows_that_meet_in_a_port_take_it_in_turn() -> None:
    platform = star([100 * GBPS] * 3, [DELAY_PS] * 3, LATENCY_PS)
    result = run_tcp([Flow(0, 2, 7 * 8948), Flow(1, 2, 7 * 8948)], platform=platform)
    frame_ps = serialisation_ps(8948, 100 * GBPS)
    first, second = sorted((result.messages["delivered_ps"] - result.messages["posted_ps"]).tolist())
    assert 0 <= second - (15 * frame_ps + 2 * DELAY_PS + LATENCY_PS) <= 1
    assert second - first == frame_ps


@st.composite
def platforms(draw: st.DrawFn) -> Platform:
    """Delays of their own, so that no two things happen in one picosecond by the platform's making."""
    make = draw(st.sampled_from([star, tree]))
    links = draw(st.integers(2, 4)) + (make is tree)
    rates = draw(st.lists(st.sampled_from([10, 25, 100, 400]), min_size=links, max_size=links))
    delays = draw(st.lists(st.integers(1_000, 5 * MICROSECOND), min_size=links, max_size=links, unique=True))
    return make([rate * GBPS for rate in rates], delays, draw(st.sampled_from([0, 7, LATENCY_PS])))


@st.composite
def cases(draw: st.DrawFn) -> tuple[Platform, list[Flow], Tcp, list[str]]:
    platform = draw(platforms())
    mtu = draw(st.sampled_from([1500, 9000]))
    mss = mtu - 52
    flows = []
    for start in draw(st.lists(st.integers(0, 30 * MICROSECOND), min_size=1, max_size=5, unique=True)):
        src = draw(st.integers(0, platform.ranks - 1))
        dst = draw(st.integers(0, platform.ranks - 2))
        size = draw(st.sampled_from([1, mss - 1, mss, mss + 1, 10 * mss, 11 * mss, 100_000, 1_000_000]))
        flows.append(Flow(src, dst + (dst >= src), size, start, messages=draw(st.integers(1, 3)) if size > 1 else 1))
    tcp = Tcp(
        mss=mss,
        initial_window=draw(st.sampled_from([1, 2, 10, 40])),
        delayed_ack=draw(st.integers(1, 3)),
        delayed_ack_ps=1_000 * MICROSECOND,
        unsent_limit=draw(st.sampled_from([2 * mss, 65_536])),
        sockets=draw(st.sampled_from([1, 1, 2])),
        send_latency_ps=draw(st.sampled_from([0, 1_234_567])),
        receive_latency_ps=draw(st.sampled_from([0, 7_654_321])),
    )
    keys = {
        "mtu": f"{mtu}B",
        "initial_window": tcp.initial_window,
        "delayed_ack": tcp.delayed_ack,
        "unsent_limit": f"{tcp.unsent_limit}B",
        "sockets_per_peer": tcp.sockets,
    }
    if tcp.delayed_ack > 1:
        keys["delayed_ack_timeout"] = "1ms"
    latencies = [
        f"transport.send_latency={tcp.send_latency_ps}ps",
        f"transport.receive_latency={tcp.receive_latency_ps}ps",
    ]
    return platform, flows, tcp, [f"transport.tcp.{key}={value}" for key, value in keys.items()] + latencies


@st.composite
def hosts(draw: st.DrawFn) -> tuple[Host, list[str]]:
    """Costs of no round numbers, so that no two things end in one picosecond by their making."""
    host = Host(
        per_message_ps=draw(st.sampled_from([0, 1_700_003])),
        per_segment_ps=draw(st.sampled_from([0, 211_037])),
        per_packet_ps=draw(st.sampled_from([0, 307_061])),
        copy_bps=draw(st.sampled_from([0, 7_000_000_019, 40_000_000_003])),
        cores=draw(st.integers(1, 3)),
    )
    costs = [f"host.per_{name}={getattr(host, f'per_{name}_ps')}ps" for name in ("message", "segment", "packet")]
    copies = f"host.copy_rate={f'{host.copy_bps}bps' if host.copy_bps else 'none'}"
    return host, [*costs, copies, f"host.cores={host.cores}", "host.rss=socket_index"]


def assert_as_the_oracle(
    case: tuple[Platform, list[Flow], Tcp, list[str]],
    host: Host = Host(),  # noqa: B008  (frozen)
    costs: Sequence[str] = (),
) -> None:
    platform, flows, tcp, keys = case
    result = run_tcp(flows, *keys, *costs, platform=platform)
    oracle = simulate(platform, result, tcp, host)
    for moment in ("sent", "delivered", "acked"):
        assert result.messages[f"{moment}_ps"].tolist() == getattr(oracle, moment), moment
    assert (result.counters["packets"], result.counters["acks"]) == (oracle.segments, oracle.acks)
    assert result.counters["repeated_packets"] == result.counters["timeouts"] == 0


@given(cases())
@settings(max_examples=40)
def test_random_messages_as_the_oracle(case: tuple[Platform, list[Flow], Tcp, list[str]]) -> None:
    assert_as_the_oracle(case)


@given(cases(), hosts())
@settings(max_examples=40)
def test_random_messages_over_hosts_that_cost(
    case: tuple[Platform, list[Flow], Tcp, list[str]], costly: tuple[Host, list[str]]
) -> None:
    assert_as_the_oracle(case, *costly)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@given(cases())
@settings(max_examples=2000)
def test_many_random_messages_as_the_oracle(case: tuple[Platform, list[Flow], Tcp, list[str]]) -> None:
    assert_as_the_oracle(case)
