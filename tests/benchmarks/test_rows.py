# SPDX-License-Identifier: GPL-2.0-only
"""The set of benchmarks: its commands are allowed, and its page says what was measured."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import run
from astra_py import load
from astra_py.api import one_collective
from astra_py.config import load_scenario
from cost_plot import draw_cost
from measure import Measured
from page import page
from rows import ROWS, Bar, Figure, Row, named

ROOT = Path(__file__).parents[2]
SOME = Measured(
    cpu_s=1.7,
    empty_cpu_s=1.5,
    time_ps=10**8,
    messages=7,
    events=1_000_000,
    packets=200_000,
    packet_hops=800_000,
    peak_rss_bytes=160_000_000,
    pending=1_000,
    bare_event_s=1e-7,
    peer_cpu_s=1.0,
    repeat=5,
    commit="0123456789",
)


def test_names_are_told_apart() -> None:
    names = [row.name for row in ROWS]
    assert len(set(names)) == len(names)
    assert named(names) == list(ROWS)
    with pytest.raises(ValueError, match="there is no row 'ring_9'"):
        named(["ring_9"])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_command_is_allowed_and_at_one_byte_too(row: Row, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert row.command != row.empty_command
    for verb, first, *rest in (row.command, row.empty_command):
        if verb == "run":
            load(first, *rest)
        else:
            keys = [word for word in rest if "=" in word]
            one_collective(load_scenario({}, keys), first, 1)


def test_the_dlrm_sends_what_it_is_compared_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (row,) = named(["dlrm_communication"])
    estimate = load(*row.command[1:]).estimate()
    # seven all-reduces of 254 steps and two all-to-alls of 127 messages, on 128 ranks
    assert estimate.messages == 128 * (7 * 254 + 2 * 127) == 260_096
    # of 13,312, 524,288 (five), 16,384 and 1,064,960 B: 1, 5, 1 and 9 packets a message
    assert estimate.packets == 128 * (254 * (1 + 4 * 5 + 1 + 9) + 2 * 127) == 1_040_384


@given(st.sampled_from(list(Figure)), st.floats(1e-3, 1e9), st.floats(1.0, 1e3))
def test_a_better_figure_meets_what_a_worse_one_does(figure: Figure, limit: float, factor: float) -> None:
    bar = Bar(figure, limit)
    better, worse = (limit * factor, limit / factor) if bar.is_least else (limit / factor, limit * factor)
    assert bar.is_met(limit)
    assert bar.is_met(better)
    assert bar.is_met(worse) == (worse == limit)


def test_figures_are_of_what_bytes_cost() -> None:
    (row,) = named(["ring_8"])
    figures = {figure: SOME.figure(figure, row) for figure in Figure}
    assert figures[Figure.NET_CPU_S] == pytest.approx(0.2)
    assert figures[Figure.WHOLE_CPU_S] == 1.7
    assert figures[Figure.TIMES_LESS] == pytest.approx(8.35 / 0.2)
    assert figures[Figure.HOPS_PER_S] == pytest.approx(4e6)
    assert figures[Figure.EVENTS_PER_HOP] == 1.25
    assert figures[Figure.TIMES_BARE] == pytest.approx(2)
    assert replace(SOME, bare_event_s=0.0).figure(Figure.TIMES_BARE, row) is None
    assert replace(SOME, cpu_s=1.5).figure(Figure.HOPS_PER_S, row) is None, "noise, and no figure"


def test_the_page_has_each_row_each_bar_and_each_peer() -> None:
    text = page({row.name: SOME for row in ROWS}, "a machine")
    for row in ROWS:
        assert f"| {row.name} | 0.200 |" in text
    assert "| ring_8 | at least 20 times less CPU than ASTRA-sim ns-3 (goal 40) | 41.8 | yes, and the goal |" in text
    assert "| all_to_all_128 | ASTRA-sim ns-3 | 10.20 | 0.200 | 51.0 |" in text
    assert "100.000 us alone and 100.000 us beside one background flow" in text
    worse = page({"ring_8": replace(SOME, events=2_000_000)}, "a machine")
    assert "0 of 1 rows of RoCE packets; above it ring_8 2.50." in worse


@pytest.mark.parametrize("names", [[], ["ring_8_ranks"], [row.name for row in ROWS]], ids=["none", "one", "all"])
def test_what_was_measured_is_drawn(names: list[str], tmp_path: Path) -> None:
    results = dict.fromkeys(names, SOME)
    draw_cost(results, tmp_path / "cost.svg")
    draw_cost(results, tmp_path / "again.svg")
    assert (tmp_path / "cost.svg").read_bytes() == (tmp_path / "again.svg").read_bytes()


def test_the_page_is_that_of_the_figures_beside_it() -> None:
    kept = json.loads(run.RESULTS.read_text(encoding="utf-8"))
    results = {name: Measured(**figures) for name, figures in kept["rows"].items()}
    assert run.PAGE.read_text(encoding="utf-8") == page(results, kept["machine"])
