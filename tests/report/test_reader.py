# SPDX-License-Identifier: GPL-2.0-only
"""Whoever has nothing but the words of a report learns what the tables say, whatever engine and transport ran."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

import astra_py as ap
from astra_py.report import write_report
from html_cases import read_page

ROOT = Path(__file__).resolve().parents[2]
FLAT, NODES = ROOT / "workloads" / "astra2020_16.toml", ROOT / "workloads" / "zionex_2x8.toml"
RUNS = {
    "packet": (NODES, ["platform.nodes=1", "platform.ranks=8"]),
    "packets of several iterations": (FLAT, ["workload.iterations=3"]),
    "latency": (FLAT, ["platform.link_delay=100us"]),
    "tcp": (FLAT, ["transport.kind=tcp"]),
    "host": (FLAT, ["transport.kind=tcp", "host.preset=kernel_tcp"]),
    "flow": (NODES, ["engine=flow"]),
    "analytic": (NODES, ["engine=analytic"]),
}


@pytest.fixture(autouse=True)
def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("astra_py.report.pictures.find_spec", lambda name: None)


def words_of(text: str) -> str:
    """What a page shows, without any of its marks."""
    return " ".join(read_page(text).text.split())


def answers(words: str) -> tuple[str, int, int, str, str, str]:
    """Read the answers out of the words: collective, iteration, row, busiest link and its column, cause."""
    found = re.search(
        r"Most exposed collective\s*(\S+), of iteration (\d+): collective (\d+) of the table below "
        r"Its busiest link\s*(.+?) \(column bottleneck (at|link)\)"
        r"(?: Link that its own payload alone needs longest\s*.+? \(column bottleneck link\))? Cause\s*(\w+):",
        words,
    )
    assert found is not None, words[:1500]
    name, iteration, row, link, column, cause = found.groups()
    return name, int(iteration), int(row), link, f"bottleneck_{column}", cause


@pytest.mark.parametrize(("path", "overrides"), RUNS.values(), ids=RUNS)
def test_the_words_name_collective_link_and_cause(path: Path, overrides: Sequence[str], tmp_path: Path) -> None:
    result = ap.load(path, *overrides).run()
    words = words_of(write_report(result, tmp_path / "run.html").read_text(encoding="utf-8"))
    name, iteration, number, link, column, cause = answers(words)
    table = result.collectives.set_index("collective")
    row = table.loc[number]
    assert row["exposed_us"] == table["exposed_us"].max() > 0
    assert (name, iteration, cause) == (row["name"], row["iteration"], row["bottleneck"])
    assert column == ("bottleneck_at" if cause == "link" else "bottleneck_link")
    assert link == row[column]
    if row["bottleneck_link"] != link:
        assert f"alone needs longest{row['bottleneck_link']} (column bottleneck link)" in words
    assert f"for {row['bottleneck_percent']:,.1f} % of its time" in words


def test_the_runs_have_different_causes(tmp_path: Path) -> None:
    """So that the cases above ask for more than one answer."""
    causes = {
        answers(words_of(write_report(ap.load(path, *overrides).run(), tmp_path / "run.html").read_text()))[-1]
        for path, overrides in (RUNS["packet"], RUNS["latency"], RUNS["host"])
    }
    assert len(causes) >= 2
