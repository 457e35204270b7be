# SPDX-License-Identifier: GPL-2.0-only
"""Large tables keep no more rows than allowed, evenly, say so, and nothing that a run is judged by changes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import astra_py as ap
from astra_py.api import one_collective
from astra_py.batch.row import point_row
from astra_py.config import load_scenario
from astra_py.results.columns import TABLES
from astra_py.results.rows import collective_rows, iteration_rows, phase_rows
from astra_py.results.volume import Cut, Volume, evenly

RANKS = 40
CUT = {"messages", "pairs", "link_bins"}


def _all_to_all(most_rows: str) -> ap.Result:
    keys = [f"platform.ranks={RANKS}", "engine=packet", f"results.max_rows={most_rows}"]
    return one_collective(load_scenario({}, keys), "all_to_all", 200_000).run()


@pytest.fixture(scope="module")
def whole() -> ap.Result:
    return _all_to_all("none")


@pytest.fixture(scope="module")
def cut() -> ap.Result:
    return _all_to_all("1000")


def test_what_is_cut_is_said_with_how_much_there_was(whole: ap.Result, cut: ap.Result) -> None:
    assert not whole.cut
    assert set(cut.cut) == CUT
    messages = RANKS * (RANKS - 1)
    assert cut.cut["messages"] == Cut(1000, messages, "rows")
    assert f"table messages: 1,000 of {messages:,} rows (evenly spaced rows), by results.max_rows" in cut.report()
    assert all(len(cut.table(name)) <= 1000 for name in CUT)


def test_what_a_run_is_judged_by_is_not_from_a_sample(whole: ap.Result, cut: ap.Result) -> None:
    for name in set(TABLES) - CUT:
        assert cut.table(name).equals(whole.table(name)), name
    for rows in (iteration_rows, collective_rows, phase_rows, point_row):
        assert rows(cut) == rows(whole)  # type: ignore[operator]
    assert cut.digest == whole.digest
    assert [check.measured for check in cut.checks] == [check.measured for check in whole.checks]


def test_kept_rows_are_rows_of_the_whole_and_evenly_spaced(whole: ap.Result, cut: ap.Result) -> None:
    for name in ("messages", "pairs"):
        part, of = cut.table(name), whole.table(name)
        assert part.equals(of.iloc[evenly(len(part), len(of))].reset_index(drop=True))
    assert np.diff(cut.messages.message).max() <= 2


def test_bins_are_added_up(whole: ap.Result, cut: ap.Result) -> None:
    fine, coarse = (run.link_bins.groupby("channel") for run in (whole, cut))
    assert coarse.line_bytes.sum().equals(fine.line_bytes.sum())
    assert coarse.max_queue_bytes.max().equals(fine.max_queue_bytes.max())
    assert np.allclose(coarse.time_us.sum(), fine.time_us.sum())
    bins = cut.link_bins
    rate = cut.links.rate_Gbps.loc[bins.channel].to_numpy()
    assert np.allclose(bins.utilisation_percent, 100 * bins.line_bytes / (rate * 1e9 / 8 * bins.time_us / 1e6))


def test_a_reader_is_told(cut: ap.Result, tmp_path: Path) -> None:
    cut.save(tmp_path)
    again = ap.read_result(tmp_path)
    assert again.cut == cut.cut
    kept = json.loads((tmp_path / "manifest.json").read_text())["tables"]["pairs"]
    assert kept == {"rows": 1000, "of": RANKS * (RANKS - 1), "kept": "rows"}
    assert "`messages` has 1,000 of 1,560 rows (evenly spaced rows)" in (tmp_path / "TABLES.md").read_text()
    assert again.messages.equals(cut.messages)


@given(ranks=st.lists(st.integers(1, 30), min_size=1, max_size=40), most=st.integers(5, 200), last=st.integers(0, 39))
def test_operations_are_kept_by_whole_ranks(ranks: list[int], most: int, last: int) -> None:
    rank = np.repeat(np.arange(len(ranks)), ranks)
    rank = np.random.default_rng(len(rank)).permutation(rank)
    last = min(last, len(ranks) - 1)
    volume = Volume(most, {"operations": len(rank)}, last)
    kept = volume.limit("operations", {"rank": rank, "operation": np.arange(len(rank))})
    sizes = dict(zip(*np.unique(kept["rank"], return_counts=True), strict=True))
    assert all(size == ranks[each] for each, size in sizes.items())
    assert last in sizes
    assert len(kept["rank"]) <= max(most, ranks[last])
    assert (np.diff(kept["operation"]) > 0).all()
    if len(rank) > most:
        assert volume.cut["operations"] == Cut(len(kept["rank"]), len(rank), "ranks")


@given(of=st.integers(1, 10_000), share=st.floats(0.001, 1))
def test_a_systematic_sample_leaves_no_gap(of: int, share: float) -> None:
    kept = max(1, int(of * share))
    chosen = evenly(kept, of)
    assert len(np.unique(chosen)) == kept
    assert chosen[0] == 0
    assert chosen[-1] < of
    assert np.diff(np.append(chosen, of)).max() - np.diff(np.append(chosen, of)).min() <= 1
