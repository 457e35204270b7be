# SPDX-License-Identifier: GPL-2.0-only
"""Swift against its paper, step by step."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra_py.errors import ConfigError
from congestion.reference_swift import ReferenceSwift
from congestion.trials import FIGURES, NEVER, US, Figures, new_trial

LINE = FIGURES.line_rate_bps
PACKET_BITS = FIGURES.packet_line_bytes * 8
BDP_PACKETS = LINE * FIGURES.base_round_trip_ps / 1e12 / PACKET_BITS
SWITCHES = FIGURES.hops - 1

VARIANTS: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "paper": ({}, {}),
    "others": (
        {
            "BaseTarget": "5us",
            "HopTarget": "500ns",
            "FlowRange": "40us",
            "FlowMinWindow": "0.5",
            "FlowMaxWindow": "20",
            "AdditiveIncrease": "0.25",
            "Decrease": "0.4",
            "MaxDecrease": "0.3",
            "ResetAfter": "2",
            "MinWindow": "0.05",
            "MaxWindow": "16",
        },
        {
            "base_target": 5e6,
            "h": 0.5e6,
            "fs_range": 40e6,
            "fs_min_cwnd": 0.5,
            "fs_max_cwnd": 20,
            "ai": 0.25,
            "beta": 0.4,
            "max_mdf": 0.3,
            "retx_reset_threshold": 2,
            "min_cwnd": 0.05,
            "max_cwnd": 16,
        },
    ),
}

#: What happens, how long after the last thing, and for ACKs the delay and the packets that they cover.
steps = st.lists(
    st.tuples(
        st.sampled_from(["ack", "ack", "ack", "ack", "loss", "timeout", "timeout"]),
        st.integers(1, 100 * US),
        st.one_of(st.integers(US, 60 * US), st.integers(US, 1000 * US)),
        st.integers(0, 8),
    ),
    min_size=1,
    max_size=60,
)


@pytest.mark.parametrize("variant", VARIANTS)
@given(steps)
def test_each_step_is_the_papers(variant: str, script: list[tuple[str, int, int, int]]) -> None:
    attributes, parameters = VARIANTS[variant]
    trial, reference = new_trial("swift", **attributes), ReferenceSwift(BDP_PACKETS, SWITCHES, **parameters)
    reference.rtt = FIGURES.base_round_trip_ps
    now = 0
    for kind, wait, delay, packets in script:
        now += wait
        if kind == "ack":
            if abs(delay - reference.target_delay()) < 0.5:
                return
            trial.ack(now, round_trip_ps=delay, packets=packets)
            reference.on_ack(now, delay, packets)
        elif kind == "loss":
            trial.loss(now)
            reference.on_fast_recovery(now)
        else:
            trial.timeout(now)
            reference.on_retransmit_timeout(now)
        state = trial.inspect()
        assert state["window_packets"] == pytest.approx(reference.cwnd, rel=1e-11)
        assert state["target_delay_ps"] == pytest.approx(reference.target_delay(), rel=1e-11)
        assert state["timeouts"] == reference.retransmit_cnt
        if reference.cwnd >= 1:
            assert trial.rate_bps == LINE
        else:
            pacing_rate = PACKET_BITS / reference.pacing_delay() * 1e12
            assert trial.rate_bps == pytest.approx(min(pacing_rate, LINE), rel=1e-11, abs=1)


def test_it_halves_at_most_and_once_a_round_trip() -> None:
    trial = new_trial("swift")
    windows = [BDP_PACKETS]
    for now in (0, 100, 499, 500, 999, 1000):
        trial.ack(now * US, round_trip_ps=500 * US)
        windows.append(trial.inspect()["window_packets"])
    halves = [0, 1, 1, 1, 2, 2, 3]
    assert windows == pytest.approx([BDP_PACKETS / 2**k for k in halves])


def test_a_round_trip_below_the_target_adds_ai() -> None:
    trial = new_trial("swift", AdditiveIncrease="1")
    before = trial.inspect()["window_packets"]
    trial.ack(0, round_trip_ps=5 * US, packets=15)
    assert trial.inspect()["window_packets"] == pytest.approx(before + 15 / before)


def test_longer_ways_have_longer_targets() -> None:
    targets = [new_trial("swift", Figures(hops=hops)).inspect()["target_delay_ps"] for hops in (1, 2, 4, 6)]
    assert [target - targets[0] for target in targets] == pytest.approx([0, 2 * US, 6 * US, 10 * US])


def test_a_window_below_a_packet_is_one_packet_at_a_time_and_paced() -> None:
    trial = new_trial("swift", ResetAfter="1", MinWindow="0.01")
    trial.ack(0, round_trip_ps=40 * US)
    trial.timeout(1)
    assert 0 < trial.window_bytes < FIGURES.payload_bytes
    assert trial.rate_bps == pytest.approx(PACKET_BITS / 4000e-6, rel=1e-6)


def test_an_ack_without_a_round_trip_only_ends_the_timeouts() -> None:
    trial = new_trial("swift")
    trial.timeout(0)
    window = trial.inspect()["window_packets"]
    trial.ack(1, packets=10)
    assert (trial.inspect()["timeouts"], trial.inspect()["window_packets"]) == (0, window)


@pytest.mark.parametrize("attributes", [{"FlowMinWindow": "100"}, {"MinWindow": "2", "MaxWindow": "1"}])
def test_windows_that_contradict_each_other(attributes: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="Swift: FlowMinWindow has to be below"):
        new_trial("swift", **attributes)


def test_it_asks_for_round_trips() -> None:
    trial = new_trial("swift")
    assert (trial.uses_cnp, trial.uses_ecn, trial.uses_round_trip, trial.telemetry_bytes) == (False, False, True, 0)
    assert (trial.rate_bps, trial.next_timer_ps, trial.has_acted) == (LINE, NEVER, False)
