# SPDX-License-Identifier: GPL-2.0-only
"""HPCC against its paper, step by step."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import astra_py._ns3_ext as native
from congestion.reference_hpcc import Link, ReferenceHpcc
from congestion.trials import FIGURES, NEVER, US, Figures, new_trial

LINE = FIGURES.line_rate_bps
BASE = FIGURES.base_round_trip_ps
PAYLOAD_SHARE = FIGURES.payload_bytes / FIGURES.packet_line_bytes

#: What one link did between two ACKs: time in ps, line bytes sent, queue in bytes.
link_step = st.tuples(st.integers(1_000, 10 * US), st.integers(0, 130_000), st.integers(0, 10**6))
#: An ACK: packets that it acknowledges, packets sent meanwhile, what the links did.
ack_step = st.tuples(st.integers(0, 20), st.integers(0, 20), st.lists(link_step, min_size=3, max_size=3))

VARIANTS: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "paper": ({}, {}),
    "others": (
        {"TargetUtilization": "0.8", "MaxStage": "2", "AdditiveIncrease": "1000", "MinRate": "5Gbps"},
        {"eta": 0.8, "max_stage": 2, "w_ai": 1000, "least": 5e9 / 8e12},
    ),
    "no_additive_stage": ({"MaxStage": "0"}, {"max_stage": 0}),
    "base_round_trip_given": ({"BaseRoundTrip": "13us"}, {"t": 13 * US}),
}


class Telemetry:
    """Three links' counters: 100, 400 and 100 Gb/s."""

    rates = (LINE, 4 * LINE, LINE)

    def __init__(self) -> None:
        self.time, self.sent = [0] * 3, [0] * 3

    def step(self, links: list[tuple[int, int, int]]) -> list[tuple[int, int, int, int]]:
        for i, (time, sent, _) in enumerate(links):
            self.time[i] += time
            self.sent[i] += sent
        queues = [queue for _, _, queue in links]
        return list(zip(self.time, self.sent, queues, self.rates, strict=True))


def as_links(stack: list[tuple[int, int, int, int]]) -> list[Link]:
    return [Link(time, sent, queue, rate / 8e12) for time, sent, queue, rate in stack]


def assert_equal(trial: native.CongestionTrial, reference: ReferenceHpcc) -> None:
    state = trial.inspect()
    assert state["utilization"] == pytest.approx(reference.u, rel=1e-11, abs=1e-12)
    assert state["stage"] == reference.inc_stage
    assert state["window_line_bytes"] == pytest.approx(reference.w, rel=1e-11)
    assert state["reference_window_line_bytes"] == pytest.approx(reference.wc, rel=1e-11)
    assert trial.rate_bps == pytest.approx(min(reference.w / reference.t * 8e12, LINE), rel=1e-11, abs=1)
    assert trial.window_bytes == pytest.approx(max(reference.w * PAYLOAD_SHARE, 1), rel=1e-11, abs=1)


def is_near_a_branch(reference: ReferenceHpcc) -> bool:
    return abs(reference.u - reference.eta) < 1e-9


@pytest.mark.parametrize("variant", VARIANTS)
@given(st.lists(ack_step, min_size=1, max_size=40))
def test_each_step_is_the_papers(variant: str, script: list[tuple[int, int, list[tuple[int, int, int]]]]) -> None:
    attributes, parameters = VARIANTS[variant]
    trial, reference = new_trial("hpcc", **attributes), ReferenceHpcc(LINE / 8e12, **{"t": BASE, **parameters})
    telemetry = Telemetry()
    acked, sent = 0, 15
    for newly_acked, newly_sent, links in script:
        acked, sent = min(acked + newly_acked, sent), sent + newly_sent
        stack = telemetry.step(links)
        trial.ack(stack[0][0], acked_psn=acked, sent_psn=sent, telemetry=stack)
        reference.new_ack(acked, sent, as_links(stack))
        if is_near_a_branch(reference):
            return
        assert_equal(trial, reference)


def test_a_queue_at_one_link_drains_in_a_round_trip_and_idle_links_are_taken_in_stages() -> None:
    trial = new_trial("hpcc")
    telemetry = Telemetry()
    full, idle = LINE * BASE // 8 // 10**12, 1000
    trial.ack(0, acked_psn=1, sent_psn=15, telemetry=telemetry.step([(BASE, full, 0)] * 3))
    start = trial.inspect()["window_line_bytes"]
    busy = [(BASE, full, 0), (BASE, 0, 0), (BASE, full, full)]
    trial.ack(BASE, acked_psn=2, sent_psn=16, telemetry=telemetry.step(busy))
    trial.ack(2 * BASE, acked_psn=17, sent_psn=31, telemetry=telemetry.step(busy))
    # U = 2 of a link with a queue of one bandwidth-delay product at both ends of the measurement
    assert trial.inspect()["window_line_bytes"] == pytest.approx(start * 0.95**2 / 2 + 80 * (1 + 0.95 / 2))
    windows = []
    for k in range(1, 8):
        links = [(BASE, idle, 0)] * 3
        trial.ack((2 + k) * BASE, acked_psn=17 + 15 * k, sent_psn=31 + 15 * k, telemetry=telemetry.step(links))
        windows.append(trial.inspect()["window_line_bytes"])
    steps = [after - before for before, after in pairwise(windows)]
    assert steps[:4] == pytest.approx([80] * 4)
    assert windows[5] == LINE * BASE / 8e12


def test_acks_of_one_round_trip_do_not_add_up() -> None:
    trial = new_trial("hpcc")
    telemetry = Telemetry()
    busy = [(BASE, LINE * BASE // 8 // 10**12, 50_000)] * 3
    for acked in (1, 2):
        trial.ack(0, acked_psn=acked, sent_psn=20, telemetry=telemetry.step(busy))
    window = trial.inspect()["window_line_bytes"]
    for acked in range(3, 20):
        trial.ack(0, acked_psn=acked, sent_psn=20 + acked, telemetry=telemetry.step(busy))
        state = trial.inspect()
        assert state["reference_window_line_bytes"] == window
        assert state["window_line_bytes"] == pytest.approx(window * 0.95 / state["utilization"] + 80)


def test_ports_of_another_way_are_not_compared() -> None:
    trial, other = new_trial("hpcc"), Telemetry()
    busy = [(BASE, LINE * BASE // 8 // 10**12, 50_000)] * 3
    one = Telemetry()
    other.step(busy)  # later than the first, so that only the way tells them apart
    trial.ack(0, acked_psn=1, sent_psn=9, telemetry=one.step(busy), path=1)
    trial.ack(0, acked_psn=2, sent_psn=9, telemetry=other.step(busy), path=2)
    trial.ack(0, acked_psn=3, sent_psn=9, telemetry=other.step(busy)[:2], path=2)
    trial.ack(0, acked_psn=4, sent_psn=9)
    assert not trial.has_acted
    trial.ack(0, acked_psn=5, sent_psn=9, telemetry=other.step(busy)[:2], path=2)
    assert trial.has_acted


def test_an_old_stamp_is_no_measurement() -> None:
    trial, telemetry = new_trial("hpcc"), Telemetry()
    stack = telemetry.step([(BASE, 60_000, 50_000)] * 3)
    for acked in (1, 2):
        trial.ack(0, acked_psn=acked, sent_psn=9, telemetry=stack)
    assert (trial.has_acted, trial.inspect()["utilization"]) == (False, 1.0)


def test_it_asks_for_telemetry() -> None:
    trial = new_trial("hpcc", Figures(hops=2))
    assert (trial.telemetry_bytes, trial.uses_cnp, trial.uses_ecn, trial.uses_round_trip) == (42, False, False, False)
    assert (trial.rate_bps, trial.next_timer_ps) == (LINE, NEVER)
