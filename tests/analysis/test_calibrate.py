# SPDX-License-Identifier: GPL-2.0-only
"""Fits find what the figures were made with, and say what they are worth where they have not looked."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from astra_py.analysis.calibrate import calibrate
from astra_py.api import one_collective
from astra_py.config import load_scenario
from astra_py.errors import ConfigError

TREE = {"engine": "analytic", "platform": {"kind": "zionex", "nodes": 1, "accelerators_per_node": 4}}
SIZES = [2**power for power in range(14, 27, 2)]


def measured(*overrides: str, sizes: list[int] = SIZES, tree: dict = TREE) -> pd.DataFrame:
    """What an nccl-tests log of this very scenario would hold."""
    scenario = load_scenario(tree, overrides)
    times = [one_collective(scenario, "all_reduce", size).run().collectives["time_us"].item() for size in sizes]
    return pd.DataFrame({"size_bytes": sizes, "time_us": times})


def test_what_the_figures_were_made_with_is_found() -> None:
    figures = measured("platform.scale_up.efficiency=0.72", "system.endpoint_delay=3us")
    found = calibrate(TREE, figures, "all_reduce")
    assert found.fitted["platform.scale_up.efficiency"] == pytest.approx(0.72, rel=2e-3)
    delay_ps = load_scenario(TREE, [found.overrides[1]]).system.endpoint_delay
    assert delay_ps == pytest.approx(3_000_000, rel=2e-3)
    assert found.before == {"platform.scale_up.efficiency": 0.94, "system.endpoint_delay": "0s"}
    assert found.error_percent(is_fitted=True) < 0.1
    assert found.error_percent(is_fitted=False) < 0.1


def test_sizes_held_out_are_not_seen() -> None:
    """What is measured there may be anything: the fit is the same to the last digit."""
    figures = measured("platform.scale_up.efficiency=0.8")
    spoilt = figures.copy()
    spoilt.loc[[1, 3], "time_us"] *= 10
    clean, other = (calibrate(TREE, each, "all_reduce", held_out=[SIZES[1], SIZES[3]]) for each in (figures, spoilt))
    assert clean.fitted == other.fitted
    assert list(clean.points["is_fitted"]) == [True, False, True, False, True, True, True]
    assert other.error_percent(is_fitted=False) > 80
    assert np.isnan(calibrate(TREE, figures, "all_reduce", held_out=[]).error_percent(is_fitted=False))


def test_between_machines_the_rate_of_links_is_fitted() -> None:
    tree = {"engine": "analytic", "platform": {"ranks": 4, "link_rate": "100Gbps"}}
    found = calibrate(tree, measured("platform.link_rate=80Gbps", tree=tree), "all_reduce")
    rate_bps = load_scenario(tree, [found.overrides[0]]).platform.link_rate
    assert rate_bps == pytest.approx(80e9, rel=2e-3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"keys": ["platform.scale_up.eficiency"]}, "did you mean 'platform.scale_up.efficiency'"),
        ({"keys": ["switch.buffer"]}, "is no figure of this scenario that can be fitted"),
        ({"held_out": [3]}, "3 B is to be held out and was not measured"),
        ({"held_out": SIZES[1:]}, "1 sizes to fit 2 figures to"),
    ],
)
def test_what_cannot_be_fitted_is_refused(change: dict, message: str) -> None:
    figures = pd.DataFrame({"size_bytes": SIZES, "time_us": 1.0})
    with pytest.raises(ConfigError, match=message):
        calibrate(TREE, figures, "all_reduce", **change)


def test_measurements_without_times_are_refused() -> None:
    with pytest.raises(ConfigError, match="no column time_us; they have size_bytes, busbw_GBps"):
        calibrate(TREE, pd.DataFrame({"size_bytes": [1], "busbw_GBps": [1.0]}), "all_reduce")
    with pytest.raises(ConfigError, match="no row with bytes and a time"):
        calibrate(TREE, pd.DataFrame({"size_bytes": [0], "time_us": [1.0]}), "all_reduce")
