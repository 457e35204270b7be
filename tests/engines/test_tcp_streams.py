# SPDX-License-Identifier: GPL-2.0-only
"""Messages over TCP: they complete, in order and whole, over one socket and several, with losses and without."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import astra_py as ap
from astra_py.config.tcp import TCP_VARIANTS
from astra_py.errors import ConfigError, DeadlockError
from behaviour.flows import Flow, incast, run_flows

TCP = ("transport.kind=tcp", "platform.ranks=4")
MSS = 8948
PS_PER_S = 10**12


def all_pairs(size_bytes: int, ranks: int = 4) -> list[Flow]:
    return [Flow(src, dst, size_bytes) for src in range(ranks) for dst in range(ranks) if src != dst]


def moments(result: ap.Result) -> list[tuple[int, ...]]:
    names = ("posted_ps", "sent_ps", "delivered_ps", "acked_ps")
    return list(zip(*(result.messages[name].tolist() for name in names), strict=True))


def test_a_small_message_takes_its_way_alone() -> None:
    """One segment: two links' serialisation and delay, a switch's latency, and ns-3's one step before it sends."""
    result = run_flows([Flow(0, 1, 1000)], *TCP, "platform.link_rate=100Gbps", "platform.link_delay=500ns")
    ((posted, sent, delivered, acked),) = moments(result)
    line_bytes = 1000 + 20 + 20 + 12 + 14 + 4 + 20
    serialisation = line_bytes * 8 * PS_PER_S // (100 * 10**9)
    assert sent == posted + 1 + serialisation
    latency = delivered - posted - 1 - 2 * serialisation
    assert latency == 2 * 500_000 + 300_000
    ack = (20 + 20 + 12 + 14 + 4 + 20) * 8 * PS_PER_S // (100 * 10**9)
    assert acked == delivered + 2 * ack + latency


@pytest.mark.parametrize("variant", sorted(TCP_VARIANTS))
def test_every_congestion_control_carries_messages(variant: str) -> None:
    ecn = "true" if variant == "dctcp" else "false"
    result = run_flows(all_pairs(300_000), *TCP, f"transport.congestion_control={variant}", f"transport.tcp.ecn={ecn}")
    assert result.counters["messages"] == 12
    assert result.counters["repeated_packets"] == result.counters["timeouts"] == 0


@given(
    sizes=st.lists(st.sampled_from([0, 1, 100, MSS - 1, MSS, MSS + 1, 70_000]), min_size=1, max_size=12),
    sockets=st.integers(1, 3),
    is_striped=st.booleans(),
    connect=st.sampled_from(["before", "timed"]),
)
@settings(max_examples=25, deadline=None)
def test_messages_of_any_size_arrive_whole_and_in_order(
    sizes: list[int], sockets: int, is_striped: bool, connect: str
) -> None:
    striped = ("transport.tcp.socket_policy=striped",) if is_striped and sockets > 1 else ()
    result = run_flows(
        [Flow(0, 1, size) for size in sizes],
        *TCP,
        f"transport.tcp.sockets_per_peer={sockets}",
        *striped,
        f"transport.tcp.connect={connect}",
    )
    assert result.messages["size_bytes"].tolist() == sizes
    delivered = result.messages["delivered_ps"].to_numpy()
    if sockets == 1:
        assert (np.diff(delivered) >= 0).all()
    assert result.counters["connections"] == sockets
    assert result.counters["frames_in_flight"] == result.counters["events_left"] == 0


@pytest.mark.parametrize("loss", [0.001, 0.02])
@pytest.mark.parametrize("sack", ["true", "false"])
def test_losses_are_repaired(loss: float, sack: str) -> None:
    result = run_flows(all_pairs(2_000_000), *TCP, f"platform.link_loss={loss}", f"transport.tcp.sack={sack}")
    assert result.counters["dropped_frames"] > 0
    assert result.counters["repeated_packets"] > 0
    assert int(result.messages["retransmitted_packets"].sum()) >= result.counters["repeated_packets"]


def test_a_run_is_the_same_when_repeated() -> None:
    overrides = (*TCP, "platform.link_loss=0.01", "transport.congestion_control=cubic", "transport.tcp.ecn=false")
    first, second = (run_flows(incast(3, 1_000_000), *overrides) for _ in range(2))
    assert moments(first) == moments(second)
    assert dict(first.counters) == dict(second.counters)
    other = run_flows(incast(3, 1_000_000), *overrides, "seed=2")
    assert moments(first) != moments(other)


def test_a_timed_connection_costs_a_round_trip_first() -> None:
    before, timed = (
        run_flows([Flow(0, 1, 1000)], *TCP, f"transport.tcp.connect={connect}") for connect in ("before", "timed")
    )
    handshake = int(timed.messages["sent_ps"][0] - before.messages["sent_ps"][0])
    assert handshake > 2 * 10**6
    assert int(timed.messages["delivered_ps"][0] - before.messages["delivered_ps"][0]) == handshake
    assert timed.counters["packets"] == before.counters["packets"] == 1


def test_a_connection_that_is_given_up_names_itself() -> None:
    with pytest.raises(DeadlockError, match=r"TCP connection 0 from rank 0 \(.*\) to rank 1 \(.*\) was given up"):
        run_flows([Flow(0, 1, 1000)], *TCP, "platform.link_loss=0.9999", "transport.tcp.data_retries=2")


def test_marks_reach_the_sender() -> None:
    marked = run_flows(
        incast(3, 2_000_000), *TCP, "switch.ecn_kmin=100kB", "switch.ecn_kmax=100kB", "switch.buffer=16MB"
    )
    plain = run_flows(incast(3, 2_000_000), *TCP, "transport.tcp.ecn=false", "transport.congestion_control=cubic")
    assert marked.counters["marked_packets"] > 0
    assert plain.counters["marked_packets"] == 0
    queues = [int(run.links["max_queue_bytes"].max()) for run in (marked, plain)]
    assert queues[0] < queues[1]


def test_what_tcp_cannot_have_is_refused() -> None:
    with pytest.raises(ConfigError, match="mtu"):
        run_flows([Flow(0, 1, 1000)], *TCP, "transport.tcp.mtu=100B")
