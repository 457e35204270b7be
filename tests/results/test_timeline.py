# SPDX-License-Identifier: GPL-2.0-only
"""The drawing of what overlaps what: by hand, and against the run it is drawn from."""

from __future__ import annotations

import re
from typing import Any

import pytest

import astra_py as ap
from astra_py.errors import ConfigError
from astra_py.results.result import Result
from astra_py.results.timeline import draw_timeline
from astra_py.workloads import CollectiveCall, Trace, TraceBuilder, workload


@workload("timeline_by_hand")
def by_hand(scenario: ap.Scenario, ranks: int) -> Trace:
    """4 us of compute, then 2 us of it beside an all-to-all, then as much after it as fills 16 us."""
    build = TraceBuilder(ranks)
    call = CollectiveCall(name="exchange", kind="all_to_all", group=(0, 1), size_bytes=100_000)
    first = build.compute([0, 1], 4_000_000, name="layer_0.forward")
    sent = build.collective(call, after=first)
    beside = build.compute([0, 1], 2_000_000, name="layer_1.forward", after=first)
    done = build.compute([0, 1], 4_000_000, name="update", after=[beside, sent])
    build.compute([0, 1], 1_000_000, name="layer_0.forward", after=done, iteration=1)
    return build.build()


def run(*overrides: str, **workload: Any) -> Result:
    return ap.load({"engine": "analytic", "workload": workload}, *overrides).run()


def test_a_timeline_by_hand() -> None:
    # 50,000 B at 100 Gb/s are 4 us, and two links of 500 ns: the all-to-all ends at 9 us and some
    result = run("platform.ranks=2", kind="timeline_by_hand")
    lines = draw_timeline(result, 1, 0, width=14).splitlines()
    assert re.fullmatch(r"rank 1, iteration 0: 1[3-5]\.\d us, \d\.\d us a cell", lines[0])
    bars = {line[: line.index("|")].strip(): line[line.index("|") + 1 : -1] for line in lines[1:]}
    assert [line.split()[0] for line in bars] == ["layer.forward", "exchange", "update", "nothing"]
    assert set(map(len, bars.values())) == {14}
    forward, exchange, update, idle = bars.values()
    assert forward.startswith("####")
    assert "=" in exchange
    assert exchange.startswith("   "), "it begins when the first compute ends"
    assert update.endswith("###")
    # where nothing is computed, the all-to-all runs alone
    for cell in range(14):
        assert (idle[cell] == "!") <= (exchange[cell] in "=." and forward[cell] != "#" and update[cell] != "#")


@pytest.mark.parametrize("iteration", [0, 1])
def test_a_dlrms_lines_add_up_to_its_iteration(iteration: int) -> None:
    result = run("platform.ranks=4", kind="dlrm", preset="dlrm_s", iterations=2)
    drawing = draw_timeline(result, 0, iteration, width=500)
    head, *lines = drawing.splitlines()
    time_us = float(head.split()[4].replace(",", ""))
    bars = {line[: line.index("|")].split()[0]: line[line.index("|") + 1 : -1] for line in lines}
    table = result.operations
    mine = table[(table["rank"] == 0) & (table["kind"] == "compute")]
    starts = mine.groupby("iteration")["start_us"].min()
    end = starts[1] if iteration == 0 else table[table["rank"] == 0]["end_us"].max()
    assert time_us == pytest.approx(end - starts[iteration], abs=0.06)
    busy = (mine[mine["iteration"] == iteration]["end_us"] - mine[mine["iteration"] == iteration]["start_us"]).sum()
    assert bars["nothing"].count("!") / 500 == pytest.approx(1 - busy / time_us, abs=0.02)


def test_no_such_rank_or_iteration() -> None:
    result = run("platform.ranks=2", kind="timeline_by_hand")
    for rank, iteration in ((2, 0), (0, 2)):
        with pytest.raises(ConfigError, match=f"the run has no compute of rank {rank} in iteration {iteration}"):
            draw_timeline(result, rank, iteration)
