# SPDX-License-Identifier: GPL-2.0-only
"""Many senders, one receiver: who pauses, how deep the queue gets, and that the shared link never idles."""

from __future__ import annotations

from functools import cache

import pytest

import astra_py as ap
from behaviour.flows import MS, WORKLOADS, Flow, incast, run_flows

CONTROLS = ("dcqcn", "hpcc", "timely", "swift", "dctcp")
SCENARIO = str(WORKLOADS / "incast_64.toml")


@cache
def sixty_four(control: str) -> ap.Result:
    return run_flows(incast(64, 1_000_000), f"transport.congestion_control={control}", source=SCENARIO)


def peak_queue(result: ap.Result) -> int:
    return int(result.queues["max_queue_bytes"].max())


def p99_ps(result: ap.Result) -> float:
    return float((result.messages["delivered_ps"] - result.messages["posted_ps"]).quantile(0.99))


def test_without_control_ports_are_paused_and_nothing_is_dropped() -> None:
    result = sixty_four("none")
    assert result.queues["pauses_sent"].sum() == len(result.pauses) > 0
    assert result.queues["refused_frames"].sum() == 0
    assert result.counters["timeouts"] == result.counters["repeated_packets"] == 0
    assert "pauses: " in result.report()


@pytest.mark.parametrize("control", CONTROLS)
def test_each_control_is_told_from_none_by_its_queue_or_its_tail(control: str) -> None:
    result, plain = sixty_four(control), sixty_four("none")
    assert result.queues["refused_frames"].sum() == 0
    differences = (peak_queue(result) / peak_queue(plain), p99_ps(result) / p99_ps(plain))
    assert max(abs(ratio - 1) for ratio in differences) > 0.1, differences
    assert f"congestion control: {control} slowed 64 of " in result.report()


def test_the_sooner_a_control_hears_the_shorter_is_the_queue() -> None:
    peaks = [peak_queue(sixty_four(control)) for control in ("hpcc", "dctcp", "dcqcn")]
    assert peaks == sorted(set(peaks))


@pytest.mark.parametrize("lossless", ["[0]", "all"])
def test_dcqcn_alone_pauses_and_with_a_window_does_not(lossless: str) -> None:
    keys = ("platform.ranks=41", "transport.congestion_control=dcqcn", f"switch.lossless={lossless}")
    alone, windowed = (
        run_flows(incast(40, 1_000_000), *keys, f"transport.window={window}", source=SCENARIO)
        for window in ("none", "bdp")
    )
    assert len(alone.pauses) > 0
    assert len(windowed.pauses) == 0
    assert peak_queue(windowed) < peak_queue(alone)


#: Of the scenario: a first packet, further ones and PAUSE frames on the line, in ps at 100 Gb/s.
BYTE_PS, FIRST, PACKET, PAUSE = 80, 4194, 4178, 84
DELAY_PS, LATENCY_PS, RESPONSE_PS = 1_000_000, 300_000, 60 * 512 * 10


@pytest.mark.parametrize("senders", [2, 7, 24, 64])
@pytest.mark.parametrize("buffer", ["8MB", "1GB"])
def test_pauses_cost_the_shared_link_nothing(senders: int, buffer: str) -> None:
    """The last byte comes no later than the link's own bytes take, a frame a sender, and the way of a pause."""
    result = run_flows(incast(senders, 1_000_000), f"switch.buffer={buffer}", source=SCENARIO)
    assert (len(result.pauses) > 0) == (buffer == "8MB")
    packets = -(-1_000_000 // 4096)
    line_bytes = senders * (1_000_000 + packets * (PACKET - 4096) + FIRST - PACKET)
    first_ps = DELAY_PS + FIRST * BYTE_PS + LATENCY_PS
    least_ps = first_ps + line_bytes * BYTE_PS + DELAY_PS
    loop_ps = 2 * DELAY_PS + (PAUSE + 2 * FIRST) * BYTE_PS + RESPONSE_PS
    last_ps = int(result.messages["delivered_ps"].max())
    assert least_ps <= last_ps <= least_ps + senders * FIRST * BYTE_PS + loop_ps


def test_a_control_that_had_nothing_to_do_is_reported() -> None:
    for control in CONTROLS:
        run = run_flows([Flow(1, 0, 3000), Flow(2, 0, 3000, MS)], f"transport.congestion_control={control}")
        assert f"congestion control never acted: {control} slowed none of 2 flows" in run.report(), control
    assert "congestion control: none" in run_flows([Flow(1, 0, 3000)], "transport.congestion_control=none").report()
