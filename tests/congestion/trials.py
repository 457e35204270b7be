# SPDX-License-Identifier: GPL-2.0-only
"""What the tests of congestion controls share: a flow's figures, trials, and how timers are kept."""

from __future__ import annotations

from dataclasses import dataclass

import astra_py._ns3_ext as native
from astra_py.engines.resolve import CONTROL_CLASSES

US = 1_000_000
NEVER = -1


@dataclass(frozen=True)
class Figures:
    """What a control knows of a flow: rates in bit/s, times in ps, sizes in bytes."""

    line_rate_bps: int = 100 * 10**9
    base_round_trip_ps: int = 5 * US
    hops: int = 4
    payload_bytes: int = 4096
    packet_line_bytes: int = 4178


FIGURES = Figures()


def new_trial(control: str, figures: Figures = FIGURES, **attributes: str) -> native.CongestionTrial:
    """A new flow under a control named as in a scenario; attributes as ns-3's text."""
    return native.CongestionTrial(CONTROL_CLASSES[control], attributes, **vars(figures))


def run_timers(trial: native.CongestionTrial, until_ps: int) -> None:
    """Call the control's timer whenever it wants to be, up to a time, that time included, as a NIC does."""
    while trial.next_timer_ps != NEVER and trial.next_timer_ps <= until_ps:
        trial.timer(trial.next_timer_ps)
