# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import re

import numpy as np
import pytest

from astra_py.collectives.schedule import OuterKind
from astra_py.results.build import build_result
from astra_py.results.iterations import iterations_table
from astra_py.results.record import RunRecord
from astra_py.results.report import iterations_section
from astra_py.results.text import figure, grid
from result_cases import local_record, one_collective, with_columns

MANIFEST = {
    "title": "a test",
    "digest": "d" * 64,
    "notes": ["something was read " * 8],
    "run": {"setup_cpu_s": 0.5, "simulation_cpu_s": 1.25, "peak_rss_bytes": 80_000_000},
}


def _report(record: RunRecord) -> list[str]:
    return build_result(record, MANIFEST).report().splitlines()


def _iterations(count: int) -> list[str]:
    """First words of the rows of iterations of a run that only computes."""
    rows = [(0, OuterKind.COMPUTE, i, 10 * i, 10 * i + 10) for i in range(count)]
    lines = iterations_section(iterations_table(local_record(rows)))
    return [line.split()[0] for line in lines[2:]]


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (1, ["0"]),
        (2, ["0", "1", "run"]),
        (8, [*map(str, range(8)), "run"]),
        (12, ["0", "...", *map(str, range(5, 12)), "run"]),
    ],
)
def test_of_many_iterations_the_first_and_the_last_are_shown(count: int, shown: list[str]) -> None:
    assert _iterations(count) == shown


def test_a_report_has_all_its_parts_in_a_hundred_columns() -> None:
    lines = _report(one_collective())
    assert lines[:3] == [
        "a test",
        "4 ranks on star (links: 4 access)",
        f"engine packet, seed 1, digest {'d' * 12}",
    ]
    assert max(map(len, lines)) <= 100
    assert any(re.fullmatch(r"figures of rank \d, which ends the run", line) for line in lines)
    row = next(line for line in lines if line.startswith("all_reduce ring"))
    time = figure(one_collective().end_ps / 1e6, 2)
    assert row.split()[2:6] == ["4", "40kB", time, time]
    assert row.split()[-1] == "1.000"
    assert next(line for line in lines if line.startswith("access")).split()[1:3] == ["8", "100"]
    assert "cost: set-up 0.50 s and simulation 1.25 s of CPU, peak memory 80 MB" in lines
    assert sum(line.startswith("  ") for line in lines) == 29 + 1


def test_without_frames_there_are_no_queues_either() -> None:
    record = one_collective()
    zeros = np.zeros_like(record.columns.channel_frames)
    row = next(line for line in _report(with_columns(record, channel_frames=zeros)) if line.startswith("access"))
    assert row.split()[5] == row.split()[-1] == "-"


def test_a_figure_that_is_none_is_a_dash() -> None:
    assert figure(float("nan")) == "-"
    assert figure(1234567.891, 1) == "1,234,567.9"


def test_a_grid_is_flush_left_then_right() -> None:
    assert grid(["a", "long"], [["name", "1"], ["b", "22"]]) == ["a     long", "----  ----", "name     1", "b       22"]


def test_a_wide_grid_has_its_columns_nearer() -> None:
    columns = [str(i) * 9 for i in range(10)]
    assert max(map(len, grid(columns[:9], []))) == 9 * 9 + 2 * 8
    assert max(map(len, grid(columns, []))) == 10 * 9 + 9
