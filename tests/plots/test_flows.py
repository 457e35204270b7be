# SPDX-License-Identifier: GPL-2.0-only
"""Distributions that are drawn are those of the tables of flows and messages."""

from __future__ import annotations

import numpy as np
import pytest

from astra_py.errors import ConfigError
from astra_py.plots import plot_flows
from plot_cases import ENGINES, flows_result, made_up, result_of


@pytest.mark.parametrize("engine", ENGINES)
def test_completion_times_of_flows(engine: str) -> None:
    table = flows_result(engine).flows
    axes = plot_flows(flows_result(engine))
    assert [line.get_label() for line in axes.lines] == ["small: 7 flows", "large: 3 flows"]
    for line, (_, rows) in zip(axes.lines, table.groupby("job", sort=False), strict=True):
        assert list(line.get_xdata()[1:]) == pytest.approx(sorted(rows["time_us"]))
        assert list(line.get_ydata()) == pytest.approx([0, *np.linspace(0, 100, len(rows))])
    assert axes.get_xlabel() == "flow completion time (µs)"


@pytest.mark.parametrize("engine", ENGINES)
def test_completion_times_of_messages_by_kind(engine: str) -> None:
    result = result_of(engine)
    axes = plot_flows(result)
    kinds = result.collectives.set_index("collective")["kind"]
    times = (result.messages["delivered_us"] - result.messages["posted_us"]).groupby(
        result.messages["collective"].map(kinds), sort=False
    )
    assert [line.get_label().partition(":")[0] for line in axes.lines] == list(times.groups)
    for line, (_, each) in zip(axes.lines, times, strict=True):
        assert (line.get_xdata()[0], line.get_xdata()[-1]) == pytest.approx((each.min(), each.max()))
        assert np.interp(50, line.get_ydata(), line.get_xdata()) == pytest.approx(each.median(), rel=1e-2)
    (legend,) = axes.figure.legends
    everything = times.obj
    assert f"longest {everything.max():.3g} µs" in legend.get_title().get_text()
    assert f"p50 {everything.median():.3g}, p99 {everything.quantile(0.99):.3g} µs" in legend.get_title().get_text()


def test_many_messages_are_few_points() -> None:
    tables = {
        "collectives": {"collective": [0], "kind": np.array(["all_to_all"], dtype=object)},
        "messages": {"collective": np.zeros(10**6, dtype=int), "delivered_ps": np.arange(1, 10**6 + 1) ** 2},
    }
    axes = plot_flows(made_up(tables, {"kind": "single_switch", "ranks": 2}))
    (line,) = axes.lines
    assert len(line.get_xdata()) <= 1001
    assert axes.get_xscale() == "log"
    assert line.get_xdata()[-1] == pytest.approx(1000)
    assert axes.get_xlabel() == "message completion time (ms)"


def test_slowdown_by_size() -> None:
    table = flows_result().flows
    axes = plot_flows(flows_result(), of="slowdown")
    # ten flows are one group
    assert {line.get_label(): list(line.get_ydata()) for line in axes.lines if line.get_label()[0] == "p"} == {
        f"p{share}": pytest.approx([np.percentile(table["slowdown"], share)]) for share in (50, 95, 99)
    }
    assert axes.get_ylabel() == "slowdown (time / time alone)"


def test_flows_of_one_size_stay_together() -> None:
    sizes = np.repeat([1000, 2000, 50_000], [35, 15, 50])
    tables = {"flows": {"flow": np.arange(100), "size_bytes": sizes, "slowdown": np.arange(100.0) + 1}}
    axes = plot_flows(made_up(tables, {"kind": "single_switch", "ranks": 2}), of="slowdown")
    line = axes.lines[0]
    assert list(line.get_xdata()) == [1, 2, 50]
    assert list(line.get_ydata()) == [18, 43, 75.5]
    assert axes.get_xlabel() == "flow size (kB)"


def test_what_cannot_be_drawn_is_said() -> None:
    with pytest.raises(ConfigError, match="no flows with a slowdown"):
        plot_flows(result_of("packet"), of="slowdown")
    with pytest.raises(ConfigError, match="allowed: time, slowdown"):
        plot_flows(result_of("packet"), of="rate")
    with pytest.raises(ConfigError, match="no flows and no messages"):
        plot_flows(made_up({}, {"kind": "single_switch", "ranks": 2}))


def test_messages_of_collectives_that_did_not_end_are_unfinished() -> None:
    result = made_up(
        {
            # of a stopped run: collective 1 did not end, 2 did
            "collectives": {"collective": [0, 2], "kind": np.array(["all_reduce", "all_to_all"], dtype=object)},
            "messages": {"collective": [0, 1, 2, 3], "delivered_ps": [10**6, 2 * 10**6, 3 * 10**6, -1]},
        },
        {"ranks": 2},
        exit_reason="interrupted",
    )
    labels = [line.get_label() for line in plot_flows(result).lines]
    assert labels == ["all_reduce: 1 message", "unfinished: 1 message", "all_to_all: 1 message"]


def test_of_more_jobs_than_can_be_told_apart_those_with_most_flows_are_drawn() -> None:
    jobs = np.array([f"job{number}" for number in range(30) for _ in range(1 + number)], dtype=object)
    count = np.arange(len(jobs))
    tables = {"flows": {"flow": count, "job": jobs, "time_ps": 10**6 * (count + 1)}}
    axes = plot_flows(made_up(tables, {"ranks": 2}))
    assert [line.get_label() for line in axes.lines] == [f"job{n}: {n + 1} flows" for n in range(6, 30)]
    (legend,) = axes.figure.legends
    title = legend.get_title().get_text().replace("\n", " ")
    assert title.startswith("the 24 of 30 jobs with most flows; all: p50 233,")
    assert title.endswith("longest 465 µs")
