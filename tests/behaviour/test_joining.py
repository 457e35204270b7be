# SPDX-License-Identifier: GPL-2.0-only
"""Seven senders join a long flow: the queue over time, as small messages two microseconds apart see it."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import astra_py as ap
from behaviour.flows import US, WORKLOADS, Flow, run_flows

SCENARIO = str(WORKLOADS / "long_flow_joined.toml")
RATE_BPS, ROUND_TRIP_PS = 25 * 10**9, 5.4e6
JOIN_PS, PROBES, APART_PS = 300 * US, 60, 2 * US
BYTE_PS = 8 * 10**12 // RATE_BPS


@cache
def joined(control: str) -> tuple[ap.Result, np.ndarray]:
    """The run, and what waited at the receiver's port in bytes, ``APART_PS`` apart from the moment of joining on."""
    keys = (f"transport.congestion_control={control}",)
    probe_ps = run_flows([Flow(9, 0, 1)], *keys, source=SCENARIO).messages["delivered_ps"].item()
    flows = [Flow(1, 0, 20_000_000), *(Flow(src, 0, 4_000_000, JOIN_PS) for src in range(2, 9))]
    probes = [Flow(9, 0, 1, JOIN_PS + i * APART_PS) for i in range(PROBES)]
    result = run_flows([*flows, *probes], *keys, source=SCENARIO)
    seen = result.messages[result.messages["src"] == 9].sort_values("posted_ps")
    waited_ps = (seen["delivered_ps"] - seen["posted_ps"] - probe_ps).to_numpy()
    return result, waited_ps / BYTE_PS


@pytest.mark.parametrize("control", ["dcqcn", "hpcc"])
def test_the_round_trip_is_that_of_the_paper(control: str) -> None:
    one = run_flows([Flow(1, 0, 1000)], f"transport.congestion_control={control}", source=SCENARIO).messages
    assert one["acked_ps"].item() == pytest.approx(ROUND_TRIP_PS, rel=0.01)


def test_dcqcn_lets_the_queue_grow_to_hundreds_of_kilobytes() -> None:
    result, queue = joined("dcqcn")
    assert 300_000 < result.queues["max_queue_bytes"].max() < 1_100_000
    assert len(result.pauses) == 0
    # half of it is still there when ten round trips have passed
    assert queue[int(10 * ROUND_TRIP_PS / APART_PS)] > 0.5 * queue.max()


def test_hpcc_stops_within_two_round_trips_and_the_queue_leaves_at_line_rate() -> None:
    """Eight windows less the one that the link holds is what comes; what the link carries is what can leave."""
    result, queue = joined("hpcc")
    window = RATE_BPS * ROUND_TRIP_PS / 8e12
    peak = result.queues["max_queue_bytes"].max()
    assert 6 * window < peak < 8 * window
    # the probe sees what the port counts
    assert queue.max() == pytest.approx(peak, rel=0.05)
    drained_ps = 2 * ROUND_TRIP_PS + (peak - 30_000) * BYTE_PS
    after = int(np.ceil(drained_ps / APART_PS))
    assert queue[after:].max() < 30_000
    # no packet comes while it drains
    at = np.flatnonzero((queue > 30_000) & (np.arange(PROBES) * APART_PS > 2 * ROUND_TRIP_PS))
    falls = -np.diff(queue[at]) / (APART_PS / BYTE_PS)
    assert falls.min() > 0.9


def test_hpcc_keeps_the_queue_shorter_than_dcqcn_throughout() -> None:
    (_, hpcc), (_, dcqcn) = joined("hpcc"), joined("dcqcn")
    assert (hpcc[5:] < dcqcn[5:]).all()
