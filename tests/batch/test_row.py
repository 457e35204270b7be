# SPDX-License-Identifier: GPL-2.0-only
"""A run as one row."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import astra_py as ap
from astra_py.batch.row import point_row
from astra_py.results import Result
from small_job import write_job


def test_collectives_and_iterations_are_in_a_row(tmp_path: Path) -> None:
    result = ap.load(write_job(tmp_path)).run()
    row = point_row(result)
    assert json.loads(json.dumps(row, allow_nan=False)) == row
    last = result.iterations.iloc[-1]
    assert row["iterations"] == 2
    for name in ("compute_us", "communication_us", "exposed_us", "exposed_percent", "memory_us"):
        assert row[name] == last[name]
    assert row["iteration_time_us"] == last["time_us"]
    mine = result.collectives[(result.collectives["iteration"] == 1) & (result.collectives["kind"] == "all_reduce")]
    assert row["all_reduce_count"] == len(mine) == 2
    assert row["all_reduce_time_us"] == pytest.approx(mine["time_us"].mean())
    assert row["all_reduce_exposed_us"] == pytest.approx(mine["exposed_us"].sum())
    assert row["all_reduce_ratio"] == pytest.approx(mine["time_us"].sum() / mine["analytic_time_us"].sum())
    # all bytes over all time; busbw of an all-reduce of four is 3/2 of it
    algbw = mine["size_bytes"].sum() / mine["time_us"].sum() / 1e3
    assert row["all_reduce_algbw_GBps"] == pytest.approx(algbw)
    assert row["all_reduce_busbw_GBps"] == pytest.approx(1.5 * algbw)
    assert row["all_reduce_bottleneck"] == mine.sort_values("time_us")["bottleneck"].iloc[-1] != ""
    assert "max_core_utilisation_percent" not in row
    assert row["packets"] == result.counters["packets"]
    assert row["wire_bytes"] == result.links["line_bytes"].sum()
    assert row["max_queue_bytes"] == result.links["max_queue_bytes"].max()


def test_a_row_is_the_same_whenever_it_is_made(tmp_path: Path) -> None:
    job = write_job(tmp_path)
    assert point_row(ap.load(job).run()) == point_row(ap.load(job).run())


def test_each_job_has_its_figures(tmp_path: Path) -> None:
    job = write_job(tmp_path)
    flows = "background.other={ kind = 'incast', receiver = 0, size = '64KiB' }"
    result = ap.load(job, flows).run()
    row = point_row(result)
    jobs = sorted(set(result.iterations["job"]))
    assert len(jobs) == 1
    assert row[f"{jobs[0]}.iteration_time_us"] == result.iterations["time_us"].iloc[-1]
    assert row["other.flows_count"] == 3
    assert row["other.flows_max_us"] == result.flows["time_us"].max()
    assert "iteration_time_us" not in row


def test_hosts_are_in_a_row_where_they_work(tmp_path: Path) -> None:
    result = ap.load(write_job(tmp_path)).run()
    cores = {"utilisation_percent": np.array([3.0, 40.0])}
    worked = Result(
        lambda table: cores if table == "host_cores" else result.columns(table), result.checks, result.manifest
    )
    assert point_row(worked)["max_core_utilisation_percent"] == 40.0
