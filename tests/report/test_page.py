# SPDX-License-Identifier: GPL-2.0-only
"""The HTML report: valid, self-contained, and what a reader takes from it is what the tables have."""

from __future__ import annotations

import base64
import importlib.util
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import astra_py as ap
from astra_py.errors import ConfigError
from astra_py.report import headline, write_report
from astra_py.results import Result, write_trace
from astra_py.results.result import how_far
from astra_py.results.volume import Volume
from html_cases import Page, read_page
from perfetto_cases import read_timeline

JOB = Path(__file__).resolve().parents[2] / "workloads" / "zionex_2x8.toml"


@pytest.fixture(scope="module")
def result() -> Result:
    return ap.load(JOB).run()


@pytest.fixture(scope="module")
def text(result: Result, tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_report(result, tmp_path_factory.mktemp("report") / "run.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return read_page(text)


@pytest.fixture(autouse=True)
def without_pictures(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures are drawn once, for the page that all tests share: they take longer than everything else."""
    monkeypatch.setattr("astra_py.report.pictures.find_spec", lambda name: None)


def changed(result: Result, manifest: dict[str, Any] | None = None, **tables: dict[str, Any]) -> Result:
    """The result with other columns of tables, and other keys of the manifest."""
    columns = {name: result.columns(name) | new for name, new in tables.items()}
    return Result(
        lambda table: columns.get(table, result.columns(table)), result.checks, dict(result.manifest) | (manifest or {})
    )


def test_a_reader_learns_the_most_exposed_collective_its_link_and_the_cause(result: Result, page: Page) -> None:
    table = result.collectives
    row = table.loc[table["exposed_us"].idxmax()]
    assert page.ids["r1-most-exposed"] == row["name"]
    assert page.ids["r1-cause"] == row["bottleneck"] == "link"
    assert page.ids["r1-busiest-link"] == row["bottleneck_at"]
    sentence = (
        f"{row['exposed_us']:,.3f} us of its {row['time_us']:,.3f} us are exposed, bound by the bandwidth of a link"
    )
    assert sentence in page.text
    assert f"for {row['bottleneck_percent']:,.1f} % of its time" in page.text


def test_a_link_that_others_fill_is_not_called_its_own_load(result: Result) -> None:
    table = result.collectives
    row = table.loc[table["exposed_us"].idxmax()]
    end = row["start_us"] + row["time_us"]
    beside = table[(table["start_us"] < end) & (table["start_us"] + table["time_us"] > row["start_us"])]
    found = headline(result)
    assert found is not None
    assert found.beside == len(beside) - 1 > 0
    assert found.own_percent == pytest.approx(100 * row["ideal_time_us"] / row["time_us"])
    assert found.own_percent < row["bottleneck_percent"] / 2
    shared = f"It shares that link with {found.beside} other collectives that are under way meanwhile"
    assert shared in found.sentence
    assert f"its own payload needs {found.own_percent:,.1f} % of its time" in found.sentence

    apart = headline(changed(result, collectives={"start_us": np.arange(len(table)) * 1e9}))
    assert apart is not None
    assert (apart.beside, "shares" in apart.sentence) == (0, False)
    own = headline(changed(result, collectives={"ideal_time_us": table["time_us"].to_numpy() * 0.95}))
    assert own is not None
    assert "shares" not in own.sentence


def test_what_is_no_link_leaves_the_link_that_the_payload_needs_longest(result: Result) -> None:
    count = len(result.columns("collectives")["bottleneck"])
    waits = {"bottleneck": np.full(count, "window", object), "bottleneck_at": np.full(count, "rank3", object)}
    found = headline(changed(result, collectives=waits))
    assert found is not None
    assert (found.cause, found.cause_at) == ("window", "rank3")
    assert found.busiest_link == result.collectives["bottleneck_link"][found.collective]
    assert "it waits for acknowledgements, rank3, for" in found.sentence


def test_without_exposed_communication_it_says_so(result: Result, tmp_path: Path) -> None:
    count = len(result.columns("collectives")["exposed_us"])
    hidden = changed(result, collectives={"exposed_us": np.zeros(count)})
    assert headline(hidden) is None
    page = read_page(write_report(hidden, tmp_path / "run.html").read_text())
    assert "No communication is exposed." in page.text


def numbers(page: Page, section: str, column: str) -> list[float]:
    """A column of a table of the page."""
    head, *rows = page.tables[section]
    at = [" ".join(name.split()) for name in head].index(column)
    return [float(row[at].replace(",", "")) for row in rows]


def test_tables_trace_and_page_agree_with_the_messages(result: Result, page: Page, tmp_path: Path) -> None:
    messages = result.messages
    # phases, inside nodes of eight and between them: from the first message's posting to the last one's delivery
    is_between = (messages["src"] // 8 != messages["dst"] // 8).rename("is_between")
    spans = messages.groupby([messages["collective"], messages["phase"], is_between]).agg(
        begin=("posted_ps", "min"), end=("delivered_ps", "max")
    )
    phase_ps = spans["end"] - spans["begin"]
    assert phase_ps.tolist() == result.phases["time_ps"].tolist()
    longest = phase_ps.sort_values(ascending=False).head(30) / 1e6
    assert numbers(page, "r1-phases", "time µs")[:30] == pytest.approx(longest.tolist(), abs=5.1e-4)
    # bytes by pair
    pairs = messages.groupby(["src", "dst"])["size_bytes"].sum().sort_values(ascending=False)
    assert numbers(page, "r1-pairs", "size B") == pairs.head(30).tolist()
    # payload that leaves each rank
    sent = messages.groupby("src")["size_bytes"].sum()
    links = result.links[result.links["from"].str.startswith("rank")]
    assert links.groupby("from")["payload_bytes"].sum().sort_index().tolist() == (
        sent.rename(lambda rank: f"rank{rank}").sort_index().tolist()
    )
    busiest = result.links.sort_values("utilisation_percent", ascending=False, kind="stable").head(50)
    assert numbers(page, "r1-links", "payload B") == busiest["payload_bytes"].tolist()
    # the trace has the same messages
    timeline = read_timeline(write_trace(result, tmp_path / "run.json").path)
    moved = sum(each.args["bytes"] for each in timeline.slices if each.track.startswith("NIC sends"))
    assert moved == messages["size_bytes"].sum() == sum(pairs)
    # what is exposed
    exposed = result.iterations["exposed_us"]
    assert numbers(page, "r1-iterations", "exposed µs") == [round(each, 3) for each in exposed]
    assert f"{exposed.sum():,.3f} µs, {100 * exposed.sum() / result.iterations['time_us'].sum():.1f} %" in page.text


def test_all_of_the_scenario_and_where_it_comes_from_is_there(result: Result, page: Page) -> None:
    every, other = ({row[0]: row for row in page.tables[f"r1-{name}"][1:]} for name in ("all-settings", "settings"))
    assert {"platform.kind", "transport.dcqcn.gain", "workload.file"} <= set(every)
    assert set(other) == {key for key, (_, value, default, _) in every.items() if value != default}
    assert other["platform.kind"][1] == "zionex"
    assert "transport.kind" not in other
    for told in (result.digest, *result.manifest["versions"].values(), *(check.name for check in result.checks)):
        assert told in page.text


def test_the_same_result_gives_the_same_page(
    result: Result, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("astra_py.report.pictures.find_spec", importlib.util.find_spec)
    result.save(tmp_path / "saved")
    again = write_report(ap.read_result(tmp_path / "saved"), tmp_path / "run.html")
    assert again.read_text(encoding="utf-8") == text
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_hostile_names_are_shown_as_they_are(result: Result, tmp_path: Path) -> None:
    name = '</td><script>alert("&amp;")</script><img src=x onerror=alert(1)>'
    count = len(result.columns("collectives")["name"])
    operations = len(result.columns("operations")["name"])
    hostile = changed(
        result,
        {"title": name, "notes": [name]},
        collectives={"name": np.full(count, name, object), "bottleneck_at": np.full(count, name, object)},
        operations={"name": np.full(operations, name, object)},
    )
    page = read_page(write_report(hostile, tmp_path / "run.html").read_text())
    assert page.ids["r1-most-exposed"] == page.ids["r1-busiest-link"] == page.headings[0][1] == name
    assert len(page.scripts) == 1


def test_a_part_of_a_run_is_marked(result: Result, tmp_path: Path) -> None:
    run = dict(result.manifest["run"]) | {"exit_reason": "time_limit"}
    page = read_page(write_report(changed(result, {"run": run}), tmp_path / "run.html").read_text())
    assert f"A part of a run: it was stopped ({how_far(run)}). What" in page.text


def test_runs_side_by_side(result: Result, tmp_path: Path) -> None:
    other = ap.load(JOB, "engine=analytic").run()
    path = write_report({"packets": result, "formulas": other}, tmp_path / "two.html")
    page = read_page(path.read_text(encoding="utf-8"))
    rows = page.tables["all-summary"][1:]
    assert [row[:3] for row in rows] == [["packets", "packet", "16"], ["formulas", "analytic", "16"]]
    for row, each in zip(rows, (result, other), strict=True):
        assert row[3] == f"{each.manifest['run']['time_ps'] / 1e6:,.3f}"
    assert [text for level, text in page.headings if level == 2] == ["Side by side", "packets", "formulas", "Glossary"]


def test_a_comparison(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    comparison = ap.compare(JOB, "platform.nodes=1", "platform.ranks=8", engines=["packet", "analytic"])
    page = read_page(write_report(comparison, tmp_path / "compared.html").read_text(encoding="utf-8"))
    assert comparison.verdict in page.text
    times = comparison.iterations["packet_us"]
    assert numbers(page, "all-compared-iteration", "packet µs") == [round(each, 3) for each in times]
    assert {row[0] for row in page.tables["all-summary"][1:]} == {"packet", "analytic"}
    assert numbers(page, "all-why", "packet µs") == [round(each, 3) for each in comparison.why["packet_us"]]
    assert "Where the time of packet runs went" in [text for _, text in page.headings]
    # with pictures, that one alone
    monkeypatch.setattr("astra_py.report.pictures.find_spec", importlib.util.find_spec)
    monkeypatch.setattr("astra_py.report.pictures._OF_A_RESULT", ())
    drawn = write_report(comparison, tmp_path / "drawn.html").read_text(encoding="utf-8")
    assert re.findall(r"<h3>([^<]+)</h3>\n<img", drawn) == ["Where the time went"]
    short = write_report(comparison, tmp_path / "short.html", has_why=False).read_text(encoding="utf-8")
    assert "all-why" not in read_page(short).tables


def test_each_colour_of_the_legend_is_of_one_entry(text: str) -> None:
    colours = re.findall(r'<i style="background:([^"]+)"></i>([^<]+)', text)
    assert len({colour for colour, _ in colours}) == len(colours) > 5


def test_what_was_cut_is_said(result: Result, tmp_path: Path) -> None:
    volume = Volume(100, {"operations": 1120, "pairs": 128}, ends_last=5)
    part = Result(result.columns, result.checks, result.manifest, volume)
    page = read_page(write_report(part, tmp_path / "run.html").read_text(encoding="utf-8"))
    assert set(part.cut) == {"operations", "pairs"}
    for table, cut in part.cut.items():
        assert f"{table}: {cut}" in page.text
    assert f"30 of 100 rows of the table pairs; the table keeps {part.cut['pairs']}" in page.text
    # of ranks that have no operations left there is no bar
    assert "Iteration 1, 1 of 16 ranks, evenly apart" in page.text
    assert "rank 5" in page.text


def test_no_result_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="a report of no result"):
        write_report({}, tmp_path / "run.html")


def test_where_it_cannot_be_written_nothing_is_left(result: Result, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the report cannot be written: No such file or directory"):
        write_report(result, tmp_path / "absent" / "run.html")


def test_pictures_are_in_the_page_and_without_matplotlib_it_says_so(result: Result, text: str, tmp_path: Path) -> None:
    pictures = re.findall(r'<img src="data:image/svg\+xml;base64,([^"]+)" alt="([^"]+)">', text)
    titles = set(re.findall(r"<h4>([^<]+)</h4>\n<img", text))
    assert {"Bus bandwidth", "Topology", "Links over time", "Queues over time", "Traffic"} <= titles
    for data, _ in pictures:
        assert ElementTree.fromstring(base64.b64decode(data)).tag == "{http://www.w3.org/2000/svg}svg"
    assert "need matplotlib" not in text
    bare = write_report(result, tmp_path / "run.html").read_text(encoding="utf-8")
    assert "need matplotlib" in read_page(bare).text
    assert "<img" not in bare


def test_a_page_of_sixteen_ranks_stays_small(text: str) -> None:
    assert len(text) < 2_000_000
