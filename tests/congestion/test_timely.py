# SPDX-License-Identifier: GPL-2.0-only
"""TIMELY against its paper, step by step."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from congestion.reference_timely import ReferenceTimely
from congestion.trials import FIGURES, NEVER, US, new_trial

LINE = FIGURES.line_rate_bps
#: Time of a full packet on the sender's own wire, which is no part of a round trip: 4,178 B at 100 Gb/s.
SERIALIZATION = 334_240

VARIANTS: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "paper": ({}, {}),
    "others": (
        {
            "LowThreshold": "20us",
            "HighThreshold": "100us",
            "MinRoundTrip": "5us",
            "GradientWeight": "0.5",
            "Decrease": "0.25",
            "AdditiveIncrease": "1Gbps",
            "HyperAfter": "2",
            "HyperFactor": "10",
            "MinRate": "2Gbps",
        },
        {
            "t_low": 20e6,
            "t_high": 100e6,
            "min_rtt": 5e6,
            "ewma": 0.5,
            "beta": 0.25,
            "delta": 1e9,
            "hai_after": 2,
            "hai": 10,
            "least": 2e9,
        },
    ),
}

#: Round trips at large, and slowly falling ones, of which hyper-active increases are made.
round_trips = st.lists(
    st.one_of(
        st.lists(st.integers(US, 2000 * US), min_size=1, max_size=5),
        st.tuples(st.integers(60 * US, 400 * US), st.integers(1, US), st.integers(3, 12)).map(
            lambda fall: [fall[0] - k * fall[1] for k in range(fall[2])]
        ),
    ),
    min_size=1,
    max_size=8,
).map(lambda parts: [round_trip for part in parts for round_trip in part])


@pytest.mark.parametrize("variant", VARIANTS)
@given(round_trips)
def test_each_step_is_the_papers(variant: str, script: list[int]) -> None:
    attributes, parameters = VARIANTS[variant]
    trial, reference = new_trial("timely", **attributes), ReferenceTimely(LINE, **parameters)
    for k, round_trip in enumerate(script):
        trial.ack(k * US, newly_acked_bytes=16_384, packets=4, round_trip_ps=round_trip + SERIALIZATION)
        reference.completion(round_trip)
        state = trial.inspect()
        assert state["negative_gradients"] == reference.falling
        assert state["round_trip_difference_ps"] == pytest.approx(reference.rtt_diff, rel=1e-11, abs=1e-6)
        assert trial.rate_bps == pytest.approx(reference.rate, rel=1e-11, abs=1)


def test_a_completion_is_a_segment_of_payload() -> None:
    trial = new_trial("timely", Segment="10000")
    rates = []
    for k in range(9):
        trial.ack(k * US, newly_acked_bytes=4096, round_trip_ps=1000 * US + SERIALIZATION)
        rates.append(trial.rate_bps / LINE)
    cut = 1 - 0.8 * (1 - 500 / 1000)
    assert rates == pytest.approx([1, 1, cut, cut, cut, cut**2, cut**2, cut**2, cut**3])


def test_it_rises_below_t_low_whatever_the_gradient() -> None:
    trial = new_trial("timely")
    trial.ack(0, newly_acked_bytes=16_384, round_trip_ps=1000 * US)
    before = trial.rate_bps
    for k, round_trip in enumerate([10, 20, 30, 40, 49]):
        trial.ack(k * US, newly_acked_bytes=16_384, round_trip_ps=round_trip * US)
    assert trial.rate_bps == before + 5 * 10**7


def test_between_the_thresholds_it_rises_with_a_gradient_of_zero_and_falls_with_a_positive_one() -> None:
    trial = new_trial("timely", GradientWeight="1")
    rates = []
    for k, round_trip in enumerate([1000, 100, 100, 105]):
        trial.ack(k * US, newly_acked_bytes=16_384, round_trip_ps=round_trip * US + SERIALIZATION)
        rates.append(trial.rate_bps)
    delta = 10**7
    assert rates[1:] == [rates[0] + delta, rates[0] + 2 * delta, round((rates[0] + 2 * delta) * (1 - 0.8 * 5 / 20))]


def test_acks_without_a_round_trip_only_count_bytes() -> None:
    trial = new_trial("timely")
    trial.ack(0, newly_acked_bytes=10**6)
    assert not trial.has_acted
    trial.ack(0, newly_acked_bytes=1, round_trip_ps=1000 * US)
    assert trial.has_acted


def test_it_asks_for_round_trips() -> None:
    trial = new_trial("timely")
    assert (trial.uses_cnp, trial.uses_ecn, trial.uses_round_trip, trial.telemetry_bytes) == (False, False, True, 0)
    assert (trial.rate_bps, trial.window_bytes, trial.next_timer_ps) == (LINE, 0, NEVER)
