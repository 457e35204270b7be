# SPDX-License-Identifier: GPL-2.0-only
"""The timeline is the table of operations, and its figures are those of the table of iterations."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.patches import Rectangle

from astra_py.errors import ConfigError
from astra_py.plots import plot_timeline
from astra_py.plots.iteration import find_iteration
from astra_py.plots.rank_map import STATES, rank_states
from plot_cases import ENGINES, flows_result, made_up, many_ranks, result_of


def bars(axes: Any) -> list[tuple[float, float]]:
    """Start and end of each bar that is drawn, in us, in order."""
    boxes = [
        path.get_extents()
        for drawn in axes.collections
        if isinstance(drawn, PolyCollection)
        for path in drawn.get_paths()
    ]
    return sorted((box.x0, box.x1) for box in boxes)


def legend(axes: Any) -> tuple[str, list[str]]:
    """Title and entries."""
    (drawn,) = axes.figure.legends
    return drawn.get_title().get_text(), [text.get_text() for text in drawn.get_texts()]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("iteration", [0, 1])
def test_each_operation_of_the_rank_is_a_bar(engine: str, iteration: int) -> None:
    result = result_of(engine)
    row = result.iterations.set_index("iteration").loc[iteration]
    axes = plot_timeline(result, iteration=iteration)
    begin, end = row["start_us"], row["start_us"] + row["time_us"]
    table = result.operations[result.operations["rank"] == row["rank"]]
    seen = table[(table["end_us"] > begin) & (table["start_us"] < end)]
    np.testing.assert_allclose(bars(axes), sorted(zip(seen["start_us"], seen["end_us"], strict=True)))
    assert axes.get_xlim() == pytest.approx((begin, end))
    assert axes.get_xlabel() == "time since the start (µs)"
    title, entries = legend(axes)
    assert title.startswith(f"rank {row['rank']}, iteration {iteration}: ")
    assert f"({row['exposed_percent']:.1f}%)" in title
    assert {"compute", "all_reduce", "all_to_all"} <= set(entries)


def shaded(axes: Any) -> float:
    """How much of the time is shaded, in the unit of the axis."""
    return float(sum(patch.get_width() for patch in axes.patches if isinstance(patch, Rectangle)))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("iteration", [0, 1])
def test_what_is_shaded_is_the_exposed_time_of_the_table(engine: str, iteration: int) -> None:
    result = result_of(engine)
    row = result.iterations.set_index("iteration").loc[iteration]
    axes = plot_timeline(result, iteration=iteration)
    own = result.operations.query("kind == 'compute' and iteration == @iteration and rank == @row['rank']")
    early = np.clip(row["start_us"] - own["start_us"], 0, own["end_us"] - own["start_us"]).sum()
    assert shaded(axes) - early == pytest.approx(row["exposed_us"], abs=1e-6)
    title, entries = legend(axes)
    assert entries[-1] == "no compute of this iteration"
    figures = re.findall(r"([\d.,]+) (ns|µs)", title)
    said = [float(number.replace(",", "")) * {"ns": 1e-3, "µs": 1}[unit] for number, unit in figures]
    more = [shaded(axes), early] if early > 1e-6 else []
    assert said == pytest.approx([row["time_us"], row["exposed_us"], *more], rel=1e-3)
    # the second iteration computes while all-reduces of the first are under way
    assert title.endswith(" of its compute ran earlier") == (iteration == 1)


def test_no_bar_covers_another_and_each_collective_has_its_lane() -> None:
    axes = plot_timeline(result_of("packet"))
    assert axes.get_yticklabels()[0].get_text() == "compute"
    boxes = [path.get_extents() for drawn in axes.collections for path in drawn.get_paths()]
    for number, one in enumerate(boxes):
        for other in boxes[:number]:
            is_apart = one.x1 <= other.x0 + 1e-9 or other.x1 <= one.x0 + 1e-9
            assert is_apart or one.y1 <= other.y0 + 1e-9 or other.y1 <= one.y0 + 1e-9


@pytest.mark.parametrize("engine", ENGINES)
def test_all_ranks_are_a_map_of_what_they_do(engine: str) -> None:
    result = result_of(engine)
    shown = find_iteration(result, 0, None)
    states, edges, together = rank_states(shown)
    assert (states.shape, together) == ((8, len(edges) - 1), 1)
    axes = plot_timeline(result, "all", 0)
    np.testing.assert_array_equal(axes.images[0].get_array(), states)
    table = result.operations
    for rank in range(8):
        own = table[table["rank"] == rank]
        for column in range(0, len(edges) - 1, 97):
            spent = np.zeros(len(STATES))
            # between two moments at which something begins or ends, all stays as it is
            inside = own[(own["end_ps"] > edges[column]) & (own["start_ps"] < edges[column + 1])]
            cuts = np.clip([*inside["start_ps"], *inside["end_ps"]], edges[column], edges[column + 1])
            for low, high in pairwise(np.unique([*edges[column : column + 2], *cuts])):
                kinds = set(inside[(inside["start_ps"] <= low) & (inside["end_ps"] >= high)]["kind"])
                computes = "compute" in kinds
                spent[3 - computes if "collective" in kinds else int(computes)] += high - low
            assert spent[states[rank, column]] == spent.max()


def test_a_thousand_ranks_share_rows() -> None:
    states, _, together = rank_states(find_iteration(many_ranks(), 1, None))
    assert (together, len(states)) == (4, 256)
    axes = plot_timeline(many_ranks(), "all", 1)
    assert axes.get_ylim() == (1023.5, -0.5)
    assert axes.get_ylabel() == "rank (4 a row)"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rank": 8}, "rank 8: there is none; allowed: 0 to 7"),
        ({"rank": -1}, "rank -1: there is none"),
        ({"rank": "al"}, "rank 'al'; allowed: a number, or all"),
        ({"iteration": 2}, "no iteration 2; allowed: 0, 1"),
        ({"job": "other"}, "no job 'other'"),
        ({"size": "papr"}, "did you mean 'paper'"),
    ],
)
def test_what_is_not_there_is_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        plot_timeline(result_of("analytic"), **options)


def test_flows_alone_have_no_timeline() -> None:
    with pytest.raises(ConfigError, match="no iterations"):
        plot_timeline(flows_result())


def test_a_run_that_was_stopped_in_its_first_iteration_has_no_timeline() -> None:
    with pytest.raises(ConfigError, match="no iterations, it was stopped in its first"):
        plot_timeline(made_up({}, {"ranks": 2}, exit_reason="interrupted"))


def test_parts_in_collectives_that_did_not_end_are_unfinished() -> None:
    tables = {
        "iterations": {"iteration": [0], "time_ps": [40], "job": np.array([""], dtype=object)},
        # of a stopped run: collective 0 did not end everywhere, 1 did
        "collectives": {"collective": [1], "kind": np.array(["all_reduce"], dtype=object)},
        "operations": {
            "job": np.array([""] * 3, dtype=object),
            "kind": np.array(["compute", "collective", "collective"], dtype=object),
            "collective": [-1, 0, 1],
            "start_ps": [0, 10, 10],
            "end_ps": [10, 30, 40],
        },
    }
    result = made_up(tables, {"ranks": 2}, exit_reason="interrupted")
    assert find_iteration(result, 0, "").operations["collective_kind"].tolist() == ["", "unfinished", "all_reduce"]


def test_a_rank_without_work_has_nothing_to_draw() -> None:
    tables = {
        "iterations": {"job": np.array([""], dtype=object), "iteration": [0], "rank": [0], "time_ps": [10]},
        "operations": {
            **{
                name: np.array([text], dtype=object) for name, text in (("job", ""), ("kind", "compute"), ("name", "x"))
            },
            **{"operation": [0], "rank": [0], "collective": [-1], "start_ps": [0], "end_ps": [10]},
        },
    }
    result = made_up(tables, {"kind": "single_switch", "ranks": 2})
    plot_timeline(result, 0)
    with pytest.raises(
        ConfigError,
        match="rank 1 has no operations in iteration 0; allowed: one of the 1 ranks that have some, such as 0",
    ):
        plot_timeline(result, 1)


def test_a_map_of_some_ranks_has_their_numbers() -> None:
    whole = many_ranks(64)
    kept = np.isin(whole.columns("operations")["rank"], [0, 20, 40, 63])
    some = {name: column[kept] for name, column in whole.columns("operations").items()}
    tables = {name: whole.columns(name) for name in ("iterations", "collectives", "links")} | {"operations": some}
    axes = plot_timeline(made_up(tables, {"kind": "zionex", "nodes": 8}), "all", 1)
    assert axes.images[0].get_array().shape[0] == 4
    assert axes.yaxis.get_major_formatter()(1, 0) == "20"
    assert legend(axes)[0].startswith("iteration 1 of 4 ranks: ")
    all_states, _, _ = rank_states(find_iteration(whole, 1, None))
    # ranks 0 to 63 begin and end at other times than these four
    assert (axes.images[0].get_array()[[0, 3]] == all_states[[0, 63]]).all()
