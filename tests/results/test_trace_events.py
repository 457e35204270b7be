# SPDX-License-Identifier: GPL-2.0-only
"""The timeline of a run: strictly valid, and each slice is a row of a table."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import astra_py as ap
from astra_py.errors import ConfigError
from astra_py.results import Result, trace, write_trace
from astra_py.results.trace_events import microseconds, slice_text
from astra_py.results.trace_limits import Limits
from perfetto_cases import Timeline, read_timeline
from timeline_agreement import queues, require_agreement

JOB = Path(__file__).resolve().parents[2] / "workloads" / "zionex_2x8.toml"


@pytest.fixture(scope="module")
def result() -> Result:
    return ap.load(JOB, "platform.nodes=1", "platform.ranks=8").run()


@pytest.fixture(scope="module")
def timeline(result: Result, tmp_path_factory: pytest.TempPathFactory) -> Timeline:
    path = tmp_path_factory.mktemp("trace") / "run.json.gz"
    write_trace(result, path)
    return read_timeline(path)


def test_what_was_run_is_in_it(result: Result, timeline: Timeline) -> None:
    manifest = result.manifest
    for key in ("engine", "seed", "digest", "versions"):
        assert timeline.metadata[key] == manifest[key]
    assert timeline.metadata["scenario"] == manifest["title"]
    assert timeline.metadata["left_out"] == []


def test_it_says_what_the_tables_say(result: Result, timeline: Timeline) -> None:
    require_agreement(result, timeline)
    iterations = [(each.start_ps, each.end_ps) for each in timeline.of("run", "iterations")]
    assert [end - start for start, end in iterations] == result.iterations["time_ps"].tolist()
    assert iterations[-1][1] == result.manifest["run"]["time_ps"]


def test_exposed_communication_adds_up_to_that_of_the_table(result: Result, timeline: Timeline) -> None:
    rank = int(result.iterations["rank"].iloc[0])
    exposed = sum(each.end_ps - each.start_ps for each in timeline.of(f"rank {rank}", "exposed"))
    assert exposed == round(result.iterations["exposed_us"].sum() * 1e6)


def limited(monkeypatch: pytest.MonkeyPatch, **most: int) -> None:
    monkeypatch.setattr(trace, "Limits", lambda: Limits(**most))


def longest_of(time: pd.Series, count: int) -> list[int]:
    return np.argsort(-time.to_numpy(), kind="stable")[:count].tolist()


def test_of_many_messages_the_longest_are_drawn(
    result: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(monkeypatch, messages=20, arrows=5)
    written = write_trace(result, tmp_path / "few.json")
    timeline = read_timeline(written.path)
    table = result.messages
    longest = table["message"].iloc[longest_of(table["delivered_ps"] - table["posted_ps"], 20)].tolist()
    for track in ("NIC sends", "NIC receives"):
        assert {each.args["message"] for each in timeline.slices if each.track.startswith(track)} == set(longest)
    assert set(timeline.arrows) == set(longest[:5])
    assert timeline.metadata["left_out"] == list(written.left_out)
    assert written.left_out == (
        f"messages: the 20 of {len(table):,} that take longest to be delivered are drawn",
        f"arrows: the 5 of {len(table):,} messages that take longest have one",
    )
    # what waits is counted of all messages
    queues(result, timeline)


def test_of_many_operations_the_longest_are_drawn(
    result: Result, timeline: Timeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(monkeypatch, operations=30, exposed=4, collectives=3, iterations=1)
    written = write_trace(result, tmp_path / "few.json")
    few = read_timeline(written.path)
    table = result.operations
    longest = longest_of(table["end_ps"] - table["start_ps"], 30)
    assert {each.args["operation"] for each in few.slices if "operation" in each.args} == set(longest)
    # a time without compute is one without any, drawn or not
    gaps = [each for each in timeline.slices if each.track == "exposed communication"]
    shown = [each for each in few.slices if each.track == "exposed communication"]
    assert {(each.process, each.start_ps, each.end_ps) for each in shown} <= {
        (each.process, each.start_ps, each.end_ps) for each in gaps
    }
    lengths = sorted((each.end_ps - each.start_ps for each in gaps), reverse=True)
    assert sorted((each.end_ps - each.start_ps for each in shown), reverse=True) == lengths[:4]
    assert len(few.of("run", "collectives")) == 3
    assert len(few.of("run", "iterations")) == 1
    assert written.left_out == (
        "iterations: the 1 of 2 that take longest are drawn",
        f"collectives: the 3 of {len(result.collectives)} that take longest are drawn",
        f"operations: the 30 of {len(table):,} that take longest are drawn",
        f"exposed communication: the 4 of {len(gaps)} times that are longest are drawn",
    )


def test_of_many_ranks_those_that_send_the_most_have_a_counter(
    result: Result, timeline: Timeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = result.messages.groupby("src").size_bytes.sum().sort_values(ascending=False, kind="stable")
    first, second = (len(timeline.counters[f"rank {rank}", "NIC to send B"]) for rank in sent.index[:2])
    limited(monkeypatch, queue_values=first + second)
    written = write_trace(result, tmp_path / "few.json")
    counted = {process for process, name in read_timeline(written.path).counters if name == "NIC to send B"}
    assert counted == {f"rank {rank}" for rank in sent.index[:2]}
    assert written.left_out == ("counters 'NIC to send': the 2 of 8 ranks that send the most have one",)


def test_of_many_links_the_busiest_are_drawn(result: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limited(monkeypatch, link_values=3 * 2 * (int(result.link_bins["bin"].max()) + 2), link_slices=7)
    written = write_trace(result, tmp_path / "few.json")
    timeline = read_timeline(written.path)
    shown = [name for name in timeline.processes if name.startswith("link ")]
    busiest = result.links.sort_values("line_bytes", ascending=False, kind="stable").head(3)
    assert {int(name.rpartition(" ")[2]) for name in shown} == set(busiest.channel)
    assert {process for process, _ in timeline.counters if process.startswith("link ")} == set(shown)
    assert sum(each.track == "busy" for each in timeline.slices) == 7
    links, stretches = written.left_out
    directions = result.link_bins["channel"].nunique()
    assert links == f"links: the 3 of {directions} directions of links that are busiest are drawn"
    assert stretches.startswith("busy links: the 7 of ")


def test_a_timeline_never_has_more_bytes_than_a_viewer_opens(
    result: Result, timeline: Timeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace, "MOST_BYTES", 300_000)
    written = write_trace(result, tmp_path / "few.json")
    assert 100_000 < written.bytes < 300_000
    few = read_timeline(written.path)
    assert 0 < len(few.slices) < len(timeline.slices)
    kinds = {line.split(":")[0] for line in few.metadata["left_out"]}
    assert kinds >= {"messages", "arrows", "links"}
    # where even one of each is too much, there is one of each
    monkeypatch.setattr(trace, "MOST_BYTES", 10)
    least = read_timeline(write_trace(result, tmp_path / "least.json").path)
    assert len(least.arrows) == 1


def test_a_run_without_bins_has_no_links(tmp_path: Path) -> None:
    result = ap.load(JOB, "platform.nodes=1", "platform.ranks=8", "results.link_bins=0").run()
    timeline = read_timeline(write_trace(result, tmp_path / "run.json").path)
    assert not [name for name in timeline.processes if name.startswith("link ")]


def test_tables_that_were_cut_are_named(tmp_path: Path) -> None:
    result = ap.load(JOB, "platform.nodes=1", "platform.ranks=8", "results.max_rows=1000").run()
    written = write_trace(result, tmp_path / "run.json")
    assert result.cut
    for table, cut in result.cut.items():
        is_drawn = table in ("operations", "messages", "link_bins")
        assert (f"{table}: the results have {cut}" in written.left_out) == is_drawn
    # a counter of some of the messages would be wrong
    assert "messages" in result.cut
    assert "counters 'NIC to send': they would need all messages" in "\n".join(written.left_out)
    assert not [name for _, name in read_timeline(written.path).counters if name == "NIC to send B"]


def test_the_same_result_gives_the_same_file(result: Result, tmp_path: Path) -> None:
    result.save(tmp_path / "saved")
    first = write_trace(result, tmp_path / "a.json.gz").path.read_bytes()
    assert write_trace(ap.read_result(tmp_path / "saved"), tmp_path / "b.json.gz").path.read_bytes() == first
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json.gz", "b.json.gz", "saved"]


def test_a_run_that_was_stopped_is_drawn_until_then(result: Result, tmp_path: Path) -> None:
    end = result.manifest["run"]["time_ps"]
    operations, messages = ({k: v.copy() for k, v in result.columns(t).items()} for t in ("operations", "messages"))
    operations["end_ps"][-1] = -1
    messages["sent_ps"][-2:] = [messages["sent_ps"][-2], -1]
    messages["delivered_ps"][-2:] = -1
    changed = {"operations": operations, "messages": messages}
    stopped = Result(lambda table: changed.get(table, result.columns(table)), result.checks, result.manifest)
    timeline = read_timeline(write_trace(stopped, tmp_path / "part.json").path)
    unfinished = [each for each in timeline.slices if each.args.get("unfinished")]
    assert {each.end_ps for each in unfinished} == {end}
    assert {key for each in unfinished for key in each.args if key in ("message", "operation")} == {
        "message",
        "operation",
    }
    assert len(timeline.arrows) == len(messages["message"]) - 2


@pytest.mark.parametrize("name", ["trace.txt", "trace.gz", "json"])
def test_a_name_says_how_it_is_written(result: Result, tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match=r"allowed: \.json, \.json\.gz"):
        write_trace(result, tmp_path / name)


def test_where_it_cannot_be_written_nothing_is_left(result: Result, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the trace cannot be written: No such file or directory"):
        write_trace(result, tmp_path / "absent" / "run.json")


def test_hostile_names_stay_names() -> None:
    name = '"},{"ph":"X\u2028</script>\n'
    assert json.loads(slice_text(1, 2, 3, 5, name, {"a": name}))["name"] == name


@pytest.mark.parametrize(
    ("time_ps", "text"), [(0, "0"), (1, "0.000001"), (10**6, "1"), (1_500_000, "1.5"), (2**53, "9007199254.740992")]
)
def test_moments_have_all_their_digits(time_ps: int, text: str) -> None:
    assert microseconds(time_ps) == text
