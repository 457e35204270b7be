# SPDX-License-Identifier: GPL-2.0-only
"""Sizes, captions, legends, and files that are the same twice."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pytest

import astra_py as ap
from astra_py import plots
from astra_py.errors import ConfigError
from astra_py.plots import style
from astra_py.plots.units import byte_unit, time_unit
from astra_py.results.result import Result
from plot_cases import flows_result, links_of, made_up, many_ranks, result_of

RESULT_PLOTS: dict[str, Callable[..., Any]] = {
    "timeline": plots.plot_timeline,
    "busbw": plots.plot_busbw,
    "topology": plots.plot_topology,
    "flows": plots.plot_flows,
    "traffic": plots.plot_traffic,
}
each_plot = pytest.mark.parametrize("kind", RESULT_PLOTS)


@each_plot
@pytest.mark.parametrize("size", style.SIZES)
def test_a_figure_has_its_width_and_a_caption_and_nothing_is_cut(kind: str, size: str) -> None:
    axes = RESULT_PLOTS[kind](result_of("packet"), size=size)
    figure = axes.figure
    assert figure.get_figwidth() == style.SIZES[size].width_in
    said = plots.caption(result_of("packet"))
    assert figure.get_supxlabel().replace("\n", " ") == said
    assert said == f"job.toml, zionex of 8 ranks, engine packet, seed 1, digest {result_of('packet').digest[:12]}"
    figure.canvas.draw()
    drawn = figure.get_tightbbox()
    assert (drawn.x0, drawn.y0) >= (0, 0)
    assert drawn.x1 <= figure.get_figwidth()
    assert drawn.y1 <= figure.get_figheight()


@each_plot
def test_the_same_figure_is_the_same_file(kind: str, tmp_path: Path) -> None:
    for form in ("svg", "pdf", "png"):
        files = [
            plots.save_figure(RESULT_PLOTS[kind](result_of("flow")), tmp_path / f"{number}.{form}").read_bytes()
            for number in range(2)
        ]
        assert files[0] == files[1]
    assert not plt.get_fignums()


@each_plot
def test_on_axes_of_ones_own_nothing_else_is_touched(kind: str) -> None:
    figure, (left, right) = plt.subplots(1, 2)
    before = dict(plt.rcParams)
    assert RESULT_PLOTS[kind](result_of("packet"), ax=right) is right
    assert not left.has_data()
    assert figure.get_supxlabel() == ""
    assert not figure.legends
    assert right.get_legend() is not None
    assert dict(plt.rcParams) == before


@pytest.mark.parametrize(
    "draw",
    [
        lambda result: plots.plot_timeline(result, 5),
        lambda result: plots.plot_timeline(result, "all"),
        plots.plot_topology,
        plots.plot_traffic,
    ],
)
def test_a_thousand_ranks_are_a_small_file(draw: Callable[..., Any], tmp_path: Path) -> None:
    path = plots.save_figure(draw(many_ranks()), tmp_path / "many.svg")
    assert path.stat().st_size < 1_000_000


def test_a_saved_result_gives_the_same_picture(tmp_path: Path) -> None:
    result = result_of("packet")
    again = ap.read_result(result.save(tmp_path / "saved"))
    for kind, function in RESULT_PLOTS.items():
        files = [
            plots.save_figure(function(each), tmp_path / f"{kind}{number}.svg").read_bytes()
            for number, each in enumerate((result, again))
        ]
        assert files[0] == files[1], kind
    plots.plot_flows(ap.read_result(flows_result("flow").save(tmp_path / "flows")), "slowdown")


def test_a_caption_says_that_a_run_was_stopped() -> None:
    keys = {"kind": "ring", "ranks": 4}
    stopped = made_up({"links": links_of(keys)}, keys, exit_reason="time_limit")
    assert plots.caption(stopped) == (
        "made_up.toml, ring of 4 ranks, engine packet, seed 7, digest 0123456789ab, a part of the run, which ended by "
        "time limit"
    )


def test_a_caption_says_what_a_table_keeps(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = {"pairs": "100 of 1,000 rows (evenly spaced rows)", "messages": "1 of 2 rows"}
    monkeypatch.setattr(Result, "cut", kept, raising=False)
    axes = plots.plot_traffic(result_of("packet"))
    said = axes.figure.get_supxlabel().replace("\n", " ")
    assert said.endswith(f"digest {result_of('packet').digest[:12]}, pairs: {kept['pairs']}")
    assert axes.figure.legends[0].get_title().get_text().endswith("by the pairs that are kept")
    assert "rows" not in plots.plot_timeline(result_of("packet")).figure.get_supxlabel()


def test_a_caption_of_several_runs_lists_what_differs() -> None:
    packet, flow = result_of("packet"), result_of("flow")
    digests = f"{packet.digest[:12]}/{flow.digest[:12]}"
    assert plots.caption(packet, flow) == f"job.toml, zionex of 8 ranks, engine packet/flow, seed 1, digest {digests}"


@each_plot
def test_without_matplotlib_it_says_what_to_install(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ConfigError, match=r"pip install 'astra-py\[plot\]'"):
        RESULT_PLOTS[kind](result_of("packet"))


def test_what_cannot_be_drawn_leaves_no_figure() -> None:
    with pytest.raises(ConfigError):
        plots.plot_topology(made_up({}, {"kind": "ring", "ranks": 3}))
    assert not plt.get_fignums()


@pytest.mark.parametrize("name", ["figure.gif", "figure", "svg"])
def test_the_ending_says_the_format(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"allowed: \.svg, \.pdf, \.png"):
        plots.save_figure(plots.plot_busbw(result_of("flow")), tmp_path / name)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"absent/figure\.svg: the figure cannot be written: No such file"):
        plots.save_figure(plots.plot_busbw(result_of("flow")), tmp_path / "absent" / "figure.svg")


def test_units_keep_numbers_short() -> None:
    assert [time_unit(largest)[0] for largest in (0, 10**6, 5 * 10**6, 10**11, 10**13, 10**17)] == [
        *("ns", "ns", "µs", "ms", "s", "s")
    ]
    assert [byte_unit(largest)[0] for largest in (0, 1500, 10**5, 10**8, 10**13)] == ["B", "B", "kB", "MB", "TB"]
