# SPDX-License-Identifier: GPL-2.0-only
"""DCQCN against its paper, step by step, and that it costs nothing where nothing is congested."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from congestion.reference_dcqcn import ReferenceDcqcn
from congestion.trials import FIGURES, NEVER, US, new_trial, run_timers

LINE = FIGURES.line_rate_bps

#: The attributes of a variant and the reference's parameters for it.
VARIANTS: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "paper": ({}, {}),
    "short_byte_counter": ({"ByteCounter": "100000"}, {"b": 100_000}),
    "hpcc_sim": (
        {
            "AlphaUpdate": "per_interval",
            "AlphaInterval": "1us",
            "IncreaseTimer": "900us",
            "ByteCounter": "0",
            "FastRecovery": "1",
            "AdditiveIncrease": "50Mbps",
            "HyperIncrease": "100Mbps",
            "DecreaseInterval": "4us",
            "ClampTarget": "false",
        },
        {
            "per_interval": True,
            "k": US,
            "t": 900 * US,
            "b": None,
            "f": 1,
            "r_ai": 50e6,
            "r_hai": 100e6,
            "decrease_interval": 4 * US,
            "clamps": False,
        },
    ),
    "merged_cuts": (
        {"DecreaseInterval": "30us", "Gain": "0.1", "MinRate": "1Gbps", "FastRecovery": "0"},
        {"decrease_interval": 30 * US, "g": 0.1, "least": 1e9, "f": 0},
    ),
}

steps = st.lists(
    st.tuples(
        st.sampled_from(["cnp", "cnp", "sent", "wait"]),
        st.one_of(st.integers(0, 3 * US), st.sampled_from([US, 4 * US, 55 * US, 900 * US]), st.integers(0, 3000 * US)),
        st.integers(1, 400_000),
    ),
    min_size=1,
    max_size=40,
)


def check_steps(variant: str, script: list[tuple[str, int, int]]) -> None:
    attributes, parameters = VARIANTS[variant]
    trial, reference = new_trial("dcqcn", **attributes), ReferenceDcqcn(LINE, **parameters)
    now = 0
    for kind, wait, size in script:
        now += wait
        if kind == "cnp":
            run_timers(trial, now - 1)
            trial.cnp(now)
            reference.cnp(now)
            assert trial.inspect()["alpha"] == pytest.approx(reference.alpha, rel=1e-10)
        else:
            run_timers(trial, now)
            reference.advance(now)
            if kind == "sent":
                trial.sent(now, size)
                reference.sent(now, size)
        # At line rate, to half a bit per second, the product's timers rest.
        assert trial.rate_bps == pytest.approx(reference.current, rel=1e-10, abs=1)
        assert trial.inspect()["target_rate_bps"] == pytest.approx(reference.target, rel=1e-10, abs=1)
        if trial.next_timer_ps != NEVER:
            assert trial.next_timer_ps == min(filter(None, (reference.increase_timer, reference.cut_timer)))


@pytest.mark.parametrize("variant", VARIANTS)
@given(steps)
def test_each_step_is_the_papers(variant: str, script: list[tuple[str, int, int]]) -> None:
    check_steps(variant, script)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_long_congestion_and_a_long_recovery(variant: str) -> None:
    congestion = [("cnp", 50 * US, 1)] * 30
    recovery = [("sent", 20 * US, 300_000)] * 400
    check_steps(variant, congestion + recovery + congestion + [("wait", 20_000 * US, 1)] + congestion)


def test_the_first_cnp_halves_the_rate_and_later_ones_cut_with_the_alpha_before_them() -> None:
    trial = new_trial("dcqcn", Gain="0.5")
    trial.cnp(0)
    assert (trial.rate_bps, trial.inspect()["alpha"]) == (LINE // 2, 1.0)
    run_timers(trial, 54 * US)
    trial.timer(55 * US)  # alpha's timer and the first recovery
    assert (trial.rate_bps, trial.inspect()["alpha"]) == (LINE * 3 // 4, 0.5)
    trial.cnp(56 * US)
    assert (trial.rate_bps, trial.inspect()["alpha"]) == (LINE * 3 // 4 * 3 // 4, 0.75)


def test_there_are_five_recoveries_before_the_target_rises() -> None:
    trial = new_trial("dcqcn")
    trial.cnp(0)
    trial.cnp(1)
    target = trial.inspect()["target_rate_bps"]
    targets = []
    for k in range(1, 8):
        run_timers(trial, k * 55 * US + 1)
        targets.append(trial.inspect()["target_rate_bps"] - target)
    assert targets == [0, 0, 0, 0, 0, 40e6, 80e6]


def test_a_flow_at_line_rate_has_no_timer() -> None:
    trial = new_trial("dcqcn")
    for k in range(1000):
        trial.sent(k * US, 4178)
    assert (trial.next_timer_ps, trial.has_acted, trial.rate_bps) == (NEVER, False, LINE)
    trial.cnp(1000 * US)
    assert (trial.next_timer_ps, trial.has_acted) == (1055 * US, True)
    run_timers(trial, 10**6 * US)
    assert (trial.next_timer_ps, trial.rate_bps) == (NEVER, LINE)


def test_a_rate_never_leaves_its_bounds() -> None:
    trial = new_trial("dcqcn", MinRate="2Gbps")
    for k in range(100):
        trial.cnp(k)
    assert trial.rate_bps == 2 * 10**9
    slow = new_trial("dcqcn", type(FIGURES)(line_rate_bps=10**9), MinRate="2Gbps")
    slow.cnp(0)
    assert slow.rate_bps == 10**9


def test_it_asks_for_marks_and_cnps() -> None:
    trial = new_trial("dcqcn", CnpInterval="4us", CnpDelay="500ns")
    assert (trial.uses_cnp, trial.uses_ecn, trial.uses_round_trip, trial.telemetry_bytes) == (True, True, False, 0)
    assert (trial.cnp_interval_ps, trial.cnp_delay_ps) == (4 * US, US // 2)
    assert trial.window_bytes == 0
