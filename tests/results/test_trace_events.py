# SPDX-License-Identifier: GPL-2.0-only
"""The timeline of a run: strictly valid, and each slice is a row of a table."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import astra_py as ap
from astra_py.errors import ConfigError
from astra_py.results import Result, trace_links, trace_messages, write_trace
from astra_py.results.trace_events import microseconds, slice_text
from perfetto_cases import Timeline, read_timeline

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


def test_each_operation_is_a_slice_of_its_rank(result: Result, timeline: Timeline) -> None:
    table = result.operations
    found = {
        each.args["operation"]: (each.process, each.track.split()[0], each.name, each.start_ps, each.end_ps)
        for each in timeline.slices
        if "operation" in each.args
    }
    tracks = {"compute": "compute", "memory": "memory", "collective": "collectives"}
    assert found == {
        row.operation: (f"rank {row.rank}", tracks[row.kind], row.name, row.start_ps, row.end_ps)
        for row in table.itertuples()
    }


def test_each_message_is_a_slice_at_both_ends_and_an_arrow(result: Result, timeline: Timeline) -> None:
    sent = {each.args["message"]: each for each in timeline.slices if each.track.startswith("NIC sends")}
    received = {each.args["message"]: each for each in timeline.slices if each.track.startswith("NIC receives")}
    assert len(sent) == len(received) == len(timeline.arrows) == len(result.messages)
    for row in result.messages.itertuples():
        one, other = sent[row.message], received[row.message]
        assert (one.process, one.start_ps, one.end_ps) == (f"rank {row.src}", row.posted_ps, row.sent_ps)
        assert (other.process, other.start_ps, other.end_ps) == (f"rank {row.dst}", row.sent_ps, row.delivered_ps)
        assert one.args["bytes"] == row.size_bytes
        start, end = timeline.arrows[row.message]
        assert start["message"] == end["message"] == row.message


def test_collectives_and_iterations_are_slices_of_the_run(result: Result, timeline: Timeline) -> None:
    found = {each.args["collective"]: each for each in timeline.of("run", "collectives")}
    assert len(found) == len(result.collectives)
    for row in result.collectives.itertuples():
        each = found[row.collective]
        assert (each.name, each.start_ps, each.end_ps - each.start_ps) == (
            row.name,
            round(row.start_us * 1e6),
            row.time_ps,
        )
        assert each.args.get("bottleneck_at", "") == row.bottleneck_at
    iterations = [(each.start_ps, each.end_ps) for each in timeline.of("run", "iterations")]
    assert [end - start for start, end in iterations] == result.iterations["time_ps"].tolist()
    assert iterations[-1][1] == result.manifest["run"]["time_ps"]


def test_exposed_communication_adds_up_to_that_of_the_table(result: Result, timeline: Timeline) -> None:
    rank = int(result.iterations["rank"].iloc[0])
    exposed = sum(each.end_ps - each.start_ps for each in timeline.of(f"rank {rank}", "exposed"))
    assert exposed == round(result.iterations["exposed_us"].sum() * 1e6)


def test_what_does_not_fit_is_left_out_and_said(
    result: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from astra_py.results import trace

    for module in (trace, trace_messages):
        monkeypatch.setattr(module, "MOST_MESSAGES", 20)
        monkeypatch.setattr(module, "MOST_ARROWS", 5)
    written = write_trace(result, tmp_path / "few.json")
    timeline = read_timeline(written.path)
    table = result.messages
    time = table["delivered_ps"] - table["posted_ps"]
    longest = table["message"][np.argsort(-time, kind="stable")].tolist()
    shown = {each.args["message"] for each in timeline.slices if each.track.startswith("NIC sends")}
    assert shown == set(longest[:20])
    assert set(timeline.arrows) == set(longest[:5])
    assert timeline.metadata["left_out"] == list(written.left_out)
    assert written.left_out[0].startswith(f"messages: the 20 of {len(table):,} ")
    assert len(written.left_out) == 2


def values_at(values: list[tuple[int, float]], moments: np.ndarray) -> np.ndarray:
    """What a counter says at moments: the last value from before or then."""
    times, found = (np.array(each) for each in zip(*values, strict=True))
    return found[np.searchsorted(times, moments, side="right") - 1]


def test_each_link_has_counters_of_its_bins(result: Result, timeline: Timeline) -> None:
    bins, links = result.link_bins, result.links.set_index("channel")
    assert len(timeline.counters) == 2 * bins["channel"].nunique() > 0
    # what is still on its way when the last operation ends is in the last bin, too
    end_ps = round((bins["start_us"] + bins["time_us"]).max() * 1e6)
    for channel, mine in bins.groupby("channel"):
        link = f"{links['from'][channel]} to {links['to'][channel]}, channel {channel}"
        starts = np.round(mine["start_us"].to_numpy() * 1e6).astype(np.int64)
        for counter, column in (("utilisation (%)", "utilisation_percent"), ("longest queue (B)", "max_queue_bytes")):
            values = timeline.counters["links", f"{link}: {counter}"]
            np.testing.assert_allclose(values_at(values, starts), mine[column], atol=5e-4)
            assert values[-1] == (end_ps, 0) or (values[-1][1] == 0 and values[-1][0] in starts)


def test_of_many_links_the_busiest_have_counters(
    result: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from astra_py.results import trace

    for module in (trace, trace_links):
        monkeypatch.setattr(module, "MOST_VALUES", 3 * 2 * (int(result.link_bins["bin"].max()) + 2))
    written = write_trace(result, tmp_path / "few.json")
    names = {name.split(":")[0] for _, name in read_timeline(written.path).counters}
    busiest = result.links.sort_values("line_bytes", ascending=False, kind="stable").head(3)
    assert {name.split(", channel ")[0] for name in names} == set(busiest["from"] + " to " + busiest["to"])
    (line,) = written.left_out
    assert line.startswith(f"links: the 3 of {result.link_bins['channel'].nunique()} ")


def test_a_run_without_bins_has_no_counters(tmp_path: Path) -> None:
    result = ap.load(JOB, "platform.nodes=1", "platform.ranks=8", "engine=analytic").run()
    assert not read_timeline(write_trace(result, tmp_path / "run.json").path).counters


def test_tables_that_were_cut_are_named(tmp_path: Path) -> None:
    result = ap.load(JOB, "platform.nodes=1", "platform.ranks=8", "results.max_rows=1000").run()
    written = write_trace(result, tmp_path / "run.json")
    assert result.cut
    for table, cut in result.cut.items():
        is_drawn = table in ("operations", "messages", "link_bins")
        assert (f"{table}: the results have {cut}" in written.left_out) == is_drawn


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
