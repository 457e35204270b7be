# SPDX-License-Identifier: GPL-2.0-only
"""Long flows that start one after another get equal shares of the port that they share."""

from __future__ import annotations

import numpy as np
import pytest

from behaviour.flows import MS, WORKLOADS, Flow, run_flows

SCENARIO = str(WORKLOADS / "fair_shares.toml")
FLOWS, SIZE_BYTES, MESSAGES = 4, 62_500_000, 1600


def shares(control: str) -> np.ndarray:
    """Each flow's bytes over their mean, in the second half of the time in which all are under way."""
    flows = [Flow(1 + i, 0, SIZE_BYTES, i * MS, MESSAGES) for i in range(FLOWS)]
    messages = run_flows(flows, f"transport.congestion_control={control}", source=SCENARIO).messages
    ends = messages.groupby("src")["delivered_ps"].max()
    spans = ends - messages.groupby("src")["posted_ps"].min()
    assert spans.min() > 20 * MS
    last_start, first_end = (FLOWS - 1) * MS, ends.min()
    within = messages["delivered_ps"].between((last_start + first_end) / 2, first_end)
    got = messages[within].groupby("src")["size_bytes"].sum().to_numpy()
    assert len(got) == FLOWS
    return got / got.mean()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("control", "tolerance"), [("none", 0.05), ("dctcp", 0.05), ("hpcc", 0.05), ("swift", 0.05), ("dcqcn", 0.10)]
)
def test_shares_are_equal(control: str, tolerance: float) -> None:
    assert shares(control) == pytest.approx(np.ones(FLOWS), abs=tolerance)


@pytest.mark.slow
def test_timely_has_no_fair_point() -> None:
    """Zhu et al., CoNEXT 2016: below its low threshold rates only rise, by equal steps, and stay as far apart."""
    assert shares("timely").max() > 1.5
