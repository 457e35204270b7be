# SPDX-License-Identifier: GPL-2.0-only
"""Many senders, one receiver over TCP: what a small buffer makes of it, what marks do, and the queue of DCTCP."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import astra_py as ap
from behaviour.flows import MS, US, Flow, incast, run_flows

SENDERS, SIZE = 32, 250_000
TEN = ("transport.kind=tcp", "platform.link_rate=10Gbps", "platform.link_delay=10us", "transport.tcp.mtu=1500B")
FRAME = 1518
#: SIGCOMM 2010, section 3.4: frames at 10 Gb/s.
STEP = 65 * FRAME
MIN_RTO_PS = 10 * MS


@cache
def thirty_two(control: str, ecn: str, buffer: str, *more: str) -> ap.Result:
    keys = (f"platform.ranks={SENDERS + 1}", f"switch.buffer={buffer}", "transport.tcp.min_rto=10ms")
    keys += (f"transport.congestion_control={control}", f"transport.tcp.ecn={ecn}")
    keys += (f"switch.ecn_kmin={STEP}B", f"switch.ecn_kmax={STEP}B")
    return run_flows(incast(SENDERS, SIZE), *TEN, *keys, *more)


def last_ps(result: ap.Result) -> int:
    return int(result.messages["delivered_ps"].max())


IDEAL_PS = SENDERS * SIZE * 1538 / 1448 * 800


@pytest.mark.parametrize("control", ["newreno", "cubic"])
def test_a_small_buffer_drops_and_the_link_idles_until_timeouts(control: str) -> None:
    result = thirty_two(control, "false", "250kB")
    assert result.queues["refused_frames"].sum() > 0
    assert result.counters["timeouts"] > 0
    assert last_ps(result) > max(1.5 * IDEAL_PS, MIN_RTO_PS)


@pytest.mark.parametrize("control", ["newreno", "cubic"])
def test_a_buffer_for_all_of_it_relieves(control: str) -> None:
    result = thirty_two(control, "false", "16MB")
    assert result.queues["refused_frames"].sum() == result.counters["timeouts"] == 0
    assert last_ps(result) < 1.05 * IDEAL_PS


@pytest.mark.parametrize("delayed_ack", [1, 2])
def test_dctcp_with_marks_relieves_in_the_same_small_buffer(delayed_ack: int) -> None:
    acks = f"transport.tcp.delayed_ack={delayed_ack}"
    result, plain = thirty_two("dctcp", "true", "1MB", acks), thirty_two("newreno", "false", "1MB", acks)
    assert plain.counters["timeouts"] > 0
    assert result.counters["timeouts"] == 0
    assert last_ps(result) < 1.05 * IDEAL_PS < 1.2 * IDEAL_PS < last_ps(plain)


@pytest.mark.parametrize("senders", [2, 8])
def test_dctcp_holds_the_queue_near_its_step(senders: int) -> None:
    """K = 65 frames at 10 Gb/s (SIGCOMM 2010, 3.4: at most K + N frames); one-byte messages tell by what they wait."""
    keys = (
        f"platform.ranks={senders + 2}",
        f"switch.ecn_kmin={STEP}B",
        f"switch.ecn_kmax={STEP}B",
        "switch.buffer=4MB",
    )
    flows = incast(senders, 60_000_000 // senders)
    probes = [Flow(senders + 1, 0, 1, 10 * MS + i * 100 * US) for i in range(300)]
    result = run_flows([*flows, *probes], *TEN, "transport.congestion_control=dctcp", *keys)
    seen = result.messages[result.messages["src"] == senders + 1]
    waits = (seen["delivered_ps"] - seen["posted_ps"]).to_numpy()
    alone = run_flows([Flow(1, 0, 1)], *TEN).messages.iloc[0]
    frames = (waits - (alone["delivered_ps"] - alone["posted_ps"])) / (1538 * 800)
    assert result.counters["timeouts"] == result.counters["repeated_packets"] == 0
    assert 40 < np.median(frames) < 75
    assert np.quantile(frames, 0.99) < 65 + 5 * senders
    assert last_ps(result) < 1.02 * 60_000_000 * 1538 / 1448 * 800 + 30 * US + MS
