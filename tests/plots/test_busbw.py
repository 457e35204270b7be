# SPDX-License-Identifier: GPL-2.0-only
"""Bus bandwidths that are drawn are those of the tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from astra_py.analysis.collective_times import collective_times
from astra_py.errors import ConfigError
from astra_py.formats import Kind, read
from astra_py.plots import plot_busbw, read_rows
from plot_cases import ENGINES, flows_result, result_of

LOG = Path(__file__).parents[2] / "examples" / "all_reduce_a100_8.log"
SIZES = [2**10, 2**14, 2**18]


def lines(axes: Any) -> dict[str, tuple[list[float], list[float]]]:
    """Sizes and bandwidths of each line of the legend."""
    return {
        line.get_label(): (list(line.get_xdata()), list(line.get_ydata()))
        for line in axes.lines
        if not line.get_label().startswith("_")
    }


def rows_of(engine: str) -> list[dict[str, Any]]:
    rows = collective_times({}, "platform.ranks=4", f"engine={engine}", kind="all_reduce", sizes=SIZES)
    return list(rows)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_run_has_a_line_a_kind_through_medians(engine: str) -> None:
    table = result_of(engine).collectives
    drawn = lines(plot_busbw(result_of(engine)))
    assert set(drawn) == {"all_reduce, ring", "all_to_all, direct"}
    for kind, rows in table.groupby("kind"):
        medians = rows.groupby("size_bytes")["busbw_GBps"].median()
        (line,) = (line for label, line in drawn.items() if label.startswith(str(kind)))
        assert line == (list(medians.index), pytest.approx(list(medians)))


def test_rows_of_two_engines_and_a_log_stand_side_by_side(tmp_path: Path) -> None:
    paths = []
    for engine in ("packet", "analytic"):
        paths.append(tmp_path / f"{engine}.json")
        paths[-1].write_text("".join(json.dumps(row) + "\n" for row in rows_of(engine)))
    log = read(LOG, kinds=(Kind.MEASUREMENTS,)).content
    axes = plot_busbw(*map(read_rows, paths), log=log, log_name=LOG.name)
    drawn = lines(axes)
    assert list(drawn) == ["engine packet", "engine analytic", "measured"]
    for engine in ("packet", "analytic"):
        assert drawn[f"engine {engine}"] == (SIZES, [row["busbw_GBps"] for row in rows_of(engine)])
    measured = log[log["busbw_GBps"] > 0]
    assert drawn["measured"] == (list(measured["size_bytes"]), list(measured["busbw_GBps"]))
    (legend,) = axes.figure.legends
    assert legend.get_title().get_text() == "all_reduce, ring, 4 ranks"
    said = axes.figure.get_supxlabel().replace("\n", " ")
    assert said.startswith("all_reduce alone, single_switch of 4 ranks, engine packet/analytic, seed 1, digest ")
    assert said.endswith(" more, measured: all_reduce_a100_8.log")


def test_rows_say_the_file_of_their_scenario(tmp_path: Path) -> None:
    scenario = tmp_path / "two.toml"
    scenario.write_text('engine = "analytic"\nseed = 9\n[platform]\nranks = 2\n')
    table = pd.DataFrame(collective_times(scenario, kind="all_gather", sizes=SIZES))
    said = plot_busbw(table).figure.get_supxlabel().replace("\n", " ")
    assert said.startswith("two.toml, single_switch of 2 ranks, engine analytic, seed 9, digest ")
    said = plot_busbw(table.drop(columns=["scenario", "seed", "platform"])).figure.get_supxlabel().replace("\n", " ")
    assert said.startswith("scenario unknown, engine analytic, seed unknown, digest ")


def test_a_log_alone_is_named() -> None:
    axes = plot_busbw(log=read(LOG, kinds=(Kind.MEASUREMENTS,)).content, log_name=LOG.name)
    assert axes.figure.get_supxlabel() == "measured: all_reduce_a100_8.log"


def test_more_lines_than_can_be_told_apart_are_not_drawn() -> None:
    table = pd.DataFrame(rows_of("analytic"))
    looks = {
        (line.get_color(), line.get_marker(), str(line._dash_pattern))
        for line in plot_busbw(*[table] * 24, names=[str(n) for n in range(24)]).lines
    }
    assert len(looks) == 24
    with pytest.raises(ConfigError, match="busbw of 25 lines; allowed: 24"):
        plot_busbw(*[table] * 25, names=[str(n) for n in range(25)])


def test_runs_that_differ_in_nothing_else_are_told_apart_by_their_names() -> None:
    table = pd.DataFrame(rows_of("analytic"))
    assert list(lines(plot_busbw(table, table, names=["before", "after"]))) == ["before", "after"]


def test_a_size_that_stands_twice_is_two_points() -> None:
    table = pd.DataFrame(rows_of("analytic"))
    axes = plot_busbw(pd.concat([table, table.assign(busbw_GBps=2 * table["busbw_GBps"])]))
    points, line = axes.lines
    assert len(points.get_xdata()) == 2 * len(SIZES)
    np.testing.assert_allclose(line.get_ydata(), 1.5 * table["busbw_GBps"])


def test_sizes_are_powers_of_two_with_their_unit() -> None:
    axes = plot_busbw(pd.DataFrame(rows_of("analytic")))
    assert [label.get_text() for label in axes.get_xticklabels()] == [f"{2**n}KiB" for n in range(9)]
    assert axes.get_ylabel() == "bus bandwidth (GB/s)"
    assert axes.get_ylim()[0] == 0


def test_flows_have_no_bus_bandwidth() -> None:
    with pytest.raises(ConfigError, match="no collective has a bus bandwidth"):
        plot_busbw(flows_result())


@pytest.mark.parametrize("text", ["{}\n", "[1]\n", "no JSON\n"])
def test_a_line_that_is_no_row_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "rows.json"
    path.write_text(f"\n{text}")
    with pytest.raises(ConfigError, match="line 2: no row of astra-py collective --json"):
        read_rows(path)
    path.write_text("\n")
    with pytest.raises(ConfigError, match="has no rows"):
        read_rows(path)
    with pytest.raises(ConfigError, match="cannot be read"):
        read_rows(tmp_path / "absent.json")
