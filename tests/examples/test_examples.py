# SPDX-License-Identifier: GPL-2.0-only
"""Every example runs as the script it is, and shows what it says."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import astra_py as ap
from astra_py.config import load_scenario
from astra_py.platforms import build_platform, describe

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
#: What an example that takes minutes is told, to take seconds.
ARGUMENTS = {"hoti2020_study": ["--quick", "--engine", "analytic"]}


def load(name: str) -> ModuleType:
    """The example as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(example: Path, tmp_path: Path) -> None:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(
        [sys.executable, example, *ARGUMENTS.get(example.stem, [])],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("engine", ["packet", "flow", "analytic"])
@pytest.mark.parametrize(("ranks", "size_bytes"), [(2, 8192), (3, 1_000_000), (7, 777_777), (16, 4_000_001)])
def test_the_ring_by_hand_takes_the_time_of_the_built_in_one(engine: str, ranks: int, size_bytes: int) -> None:
    by_hand_ps, built_in_ps = load("ring_by_hand").main(ranks, size_bytes, engine)
    assert by_hand_ps == built_in_ps > 0


def test_the_captured_incast_shows_marks_and_notifications(tmp_path: Path) -> None:
    counts = load("packets_in_wireshark").main(tmp_path)
    assert counts["data"] == counts["ACK"] == 7 * 123  # 500,000 B each in packets of 4,096 B
    assert 0 < counts["CNP"] < counts["marked"] < counts["data"]


def test_a_job_takes_the_same_time_as_chakra_files(tmp_path: Path) -> None:
    as_it_was_ps, read_again_ps = load("trace_of_a_job").main(tmp_path)
    assert as_it_was_ps == read_again_ps > 0


def test_one_run_is_read_as_it_was(tmp_path: Path) -> None:
    result = load("one_run").main(tmp_path / "run")
    assert result.digest == ap.read_result(tmp_path / "run").digest
    assert len(result.messages) > 0


def test_the_hyperx_has_a_link_for_each_pair_in_a_row_or_a_column() -> None:
    example = load("own_platform")
    platform = build_platform(load_scenario({"platform": {"kind": "hyperx", "ranks": 64}}).platform)
    assert [(each.name, each.links) for each in describe(platform).link_classes] == [
        ("host", 64),
        ("fabric", 2 * 4 * 6),
    ]
    times_us = example.main(ranks=16, size_bytes=100_000)
    assert set(times_us) == {"hyperx", "leaf_spine"}
    assert min(times_us.values()) > 0


def test_the_study_draws_what_it_has_run(tmp_path: Path) -> None:
    table = load("study_with_a_plot").main(tmp_path / "exposed.svg", (100, 400))
    assert (tmp_path / "exposed.svg").read_text().startswith("<?xml")
    at_once, one_at_a_time = (
        part["exposed_us"].to_list() for _, part in table.groupby("max_active_collectives", sort=False)
    )
    assert at_once == sorted(at_once, reverse=True)
    assert all(a < b for a, b in zip(at_once, one_at_a_time, strict=True))


def test_the_fit_to_the_log_is_nearer_to_it() -> None:
    both, fit = load("nccl_tests_log").main()
    collectives = both.table[both.table["level"] == "collective"]
    before = collectives["analytic_difference"].abs().max()
    assert fit.points["error_percent"].abs().max() < 100 * before


def test_a_sweep_that_is_done_runs_nothing_again(tmp_path: Path) -> None:
    example = load("sweep")
    spread = example.main(tmp_path / "incast")
    assert set(spread["seeds"]) == {3}
    # which has the times at which each point was run
    runs = (tmp_path / "incast" / "runs.csv").read_bytes()
    assert example.main(tmp_path / "incast").equals(spread)
    assert (tmp_path / "incast" / "runs.csv").read_bytes() == runs
