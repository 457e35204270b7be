# SPDX-License-Identifier: GPL-2.0-only
"""DCTCP against its paper, step by step."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from congestion.reference_dctcp import ReferenceDctcp
from congestion.trials import FIGURES, NEVER, new_trial

LINE = FIGURES.line_rate_bps
MSS = FIGURES.payload_bytes
BDP = LINE * FIGURES.base_round_trip_ps / 8e12 * MSS / FIGURES.packet_line_bytes

VARIANTS: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "paper": ({}, {"window": BDP}),
    "others": ({"Gain": "0.3", "InitialWindow": "40960"}, {"window": 40_960, "g": 0.3}),
    "less_than_a_packet": ({"InitialWindow": "1"}, {"window": 1}),
}

#: What happens; for ACKs the marks of the packets covered, packets sent meanwhile, and whether the window was full.
steps = st.lists(
    st.tuples(
        st.sampled_from(["ack"] * 8 + ["loss", "timeout"]),
        st.one_of(st.lists(st.booleans(), max_size=6), st.lists(st.just(False), max_size=20)),
        st.integers(0, 20),
        st.booleans(),
    ),
    min_size=1,
    max_size=80,
)


@pytest.mark.parametrize("variant", VARIANTS)
@given(steps)
def test_each_step_is_the_papers(variant: str, script: list[tuple[str, list[bool], int, bool]]) -> None:
    attributes, parameters = VARIANTS[variant]
    trial, reference = new_trial("dctcp", **attributes), ReferenceDctcp(mss=MSS, **parameters)
    una, sent = 0, 10
    for now, (kind, marks, newly_sent, is_full) in enumerate(script):
        if kind == "ack":
            marks = marks[: sent - una]
            acked = MSS * len(marks)
            before = max(trial.window_bytes - (0 if is_full else 1), acked)
            una, sent = una + len(marks), sent + newly_sent
            trial.ack(
                now,
                newly_acked_bytes=acked,
                in_flight_bytes=before - acked,
                acked_psn=una,
                sent_psn=sent,
                packets=len(marks),
                marked_packets=sum(marks),
            )
            reference.ack(una, sent, marks, acked, before)
        elif kind == "loss":
            trial.loss(now)
            reference.loss()
        else:
            trial.timeout(now)
            reference.timeout()
        state = trial.inspect()
        assert state["alpha"] == pytest.approx(reference.alpha, rel=1e-11, abs=1e-300)
        assert state["window_bytes"] == pytest.approx(reference.cwnd, rel=1e-11)
        assert state["slow_start_until"] == pytest.approx(reference.ssthresh, rel=1e-11)


def ack_rounds(trial: Any, rounds: int, marked: int, packets: int = 10) -> list[float]:
    """Acknowledge whole windows, a packet an ACK; returns the window after each."""
    windows = []
    for k in range(rounds):
        for p in range(packets):
            psn = k * packets + p + 1
            trial.ack(
                psn,
                newly_acked_bytes=MSS,
                in_flight_bytes=10**9,
                acked_psn=psn,
                sent_psn=psn + packets - 1,
                marked_packets=int(p < marked),
            )
        windows.append(trial.inspect()["window_bytes"])
    return windows


def test_alpha_becomes_the_share_of_marked_packets() -> None:
    trial = new_trial("dctcp")
    ack_rounds(trial, 400, 3)
    assert trial.inspect()["alpha"] == pytest.approx(0.3, rel=1e-6)


def test_marks_cut_once_a_round_trip() -> None:
    trial = new_trial("dctcp", Gain="0", InitialWindow=str(64 * MSS))
    assert ack_rounds(trial, 3, 10) == [32 * MSS, 16 * MSS, 8 * MSS]


def test_slow_start_doubles_until_the_first_mark_and_then_a_packet_is_added_a_round_trip() -> None:
    trial = new_trial("dctcp", Gain="0", InitialWindow=str(10 * MSS))
    assert ack_rounds(trial, 1, 0) == [20 * MSS]
    trial.ack(11, newly_acked_bytes=MSS, acked_psn=11, sent_psn=20, marked_packets=1)
    assert trial.window_bytes == 10 * MSS
    trial.ack(20, newly_acked_bytes=10 * MSS, in_flight_bytes=0, acked_psn=21, sent_psn=31, packets=10)
    assert trial.window_bytes == 11 * MSS


def test_a_timeout_leaves_one_packet() -> None:
    trial = new_trial("dctcp")
    trial.timeout(0)
    assert (trial.window_bytes, trial.inspect()["slow_start_until"]) == (MSS, pytest.approx(BDP / 2))


def test_it_asks_for_marks() -> None:
    trial = new_trial("dctcp")
    assert (trial.uses_cnp, trial.uses_ecn, trial.uses_round_trip, trial.telemetry_bytes) == (False, True, False, 0)
    assert (trial.rate_bps, trial.next_timer_ps, trial.has_acted) == (LINE, NEVER, False)
