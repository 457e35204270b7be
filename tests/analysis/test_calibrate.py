# SPDX-License-Identifier: GPL-2.0-only
"""Fits find what the figures were made with, and say what they are worth where they have not looked."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from astra_py.analysis.calibrate import calibrate
from astra_py.api import one_collective
from astra_py.cli.app import command
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
    keys = ["platform.scale_up.efficiency"]
    clean, other = (
        calibrate(TREE, each, "all_reduce", keys=keys, held_out=[SIZES[1], SIZES[3]]) for each in (figures, spoilt)
    )
    assert clean.fitted == other.fitted
    assert list(clean.points["is_fitted"]) == [True, False, True, False, True, True, True]
    assert other.error_percent(is_fitted=False) > 80
    assert np.isnan(calibrate(TREE, figures, "all_reduce", keys=keys, held_out=[]).error_percent(is_fitted=False))


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
        ({"keys": ["system.endpoint_delay"] * 2}, "system.endpoint_delay is to be fitted twice"),
        ({"keys": ["platform.link_rate"]}, "platform.link_rate moves none of the 4 fitted times; allowed"),
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


@pytest.mark.parametrize("value", [-1.0, float("inf"), float("nan")])
@pytest.mark.parametrize("column", ["size_bytes", "time_us"])
def test_what_is_no_measurement_is_refused(column: str, value: float) -> None:
    figures = pd.DataFrame({"size_bytes": [1024.0, 2048.0, 4096.0], "time_us": [1.0, 2.0, 3.0]})
    figures.loc[1, column] = value
    with pytest.raises(ConfigError, match=f"measurements have {value} as {column}"):
        calibrate(TREE, figures, "all_reduce")


def test_a_fit_that_would_go_on_beyond_a_limit_says_so() -> None:
    """Half the time of a lossless link: no efficiency is enough."""
    keys = ["platform.scale_up.efficiency"]
    figures = measured("platform.scale_up.efficiency=1")
    assert calibrate(TREE, figures * [1, 2], "all_reduce", keys=keys).at_limit == ()
    assert calibrate(TREE, figures * [1, 0.5], "all_reduce", keys=keys).at_limit == tuple(keys)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A log of two GPUs against four ranks: a warning, the fit in words or as JSON, and one line to use it."""
    log, scenario = tmp_path / "all_reduce_perf.log", tmp_path / "scenario.toml"
    scenario.write_text('[platform]\nkind = "zionex"\nnodes = 1\naccelerators_per_node = 4\n')
    times = measured("platform.scale_up.efficiency=0.5", sizes=[2**20, 2**22, 2**24]).itertuples(index=False)
    rows = [" ".join([f"{size} {size // 4} float sum -1", *[f"{time} 1 1 0"] * 2]) for size, time in times]
    gpus = [f"#  Rank {rank} Group 0 Pid 1 on host device {rank} [0x00] GPU" for rank in range(2)]
    head = "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong"
    log.write_text("\n".join([*gpus, head, *rows]) + "\n")
    arguments = ["calibrate", str(log), str(scenario), "--fit", "platform.scale_up.efficiency"]
    arguments += ["--collective", "all_reduce", "--hold-out", "4MiB"]
    with pytest.raises(SystemExit) as done:
        command(arguments)
    assert not done.value.code
    printed = capsys.readouterr()
    assert "is of 2 GPUs, and the platform has 4 ranks" in printed.err
    assert "to use it: platform.scale_up.efficiency=0.5" in printed.out
    assert sum("held out" in line and "MiB" in line for line in printed.out.splitlines()) == 1
    with pytest.raises(SystemExit):
        command([*arguments, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["fitted"]["platform.scale_up.efficiency"] == pytest.approx(0.5, rel=1e-3)
    assert [point["is_fitted"] for point in found["points"]] == [True, False, True]
