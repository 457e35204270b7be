# SPDX-License-Identifier: GPL-2.0-only
"""The reader that holds timelines refuses each thing that a viewer would drop, or show elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from astra_py.results.trace_events import Tracks, arrow, counter_text, slice_text
from perfetto_cases import parse_timeline

Events = list[dict[str, Any]]


def good() -> Events:
    """Two processes with a track each and a slice before another, an arrow between them, and a counter."""
    tracks = Tracks()
    pids = tracks.process("one"), tracks.process("other")
    tids = tracks.track(pids[0], "sends"), tracks.track(pids[1], "receives")
    texts = [
        *tracks.events,
        slice_text(pids[0], tids[0], 1_000, 5_000, "first", {}),
        slice_text(pids[0], tids[0], 5_000, 9_000, "second", {"a": 1.5}),
        slice_text(pids[1], tids[1], 9_000, 9_500, "there", {}),
        *arrow(pids, tids, (5_000, 9_000), 7),
        counter_text(pids[0], 0, "waits", "B", 3),
        counter_text(pids[0], 4_000, "waits", "B", 0),
    ]
    return [json.loads(text) for text in texts]


def whole(events: Events) -> str:
    return json.dumps({"displayTimeUnit": "ns", "otherData": {}, "traceEvents": events})


def of(events: Events, phase: str, number: int = 0) -> dict[str, Any]:
    return [event for event in events if event["ph"] == phase][number]


def test_a_good_one_is_read() -> None:
    found = parse_timeline(whole(good()))
    assert found.processes == {"one": ["sends"], "other": ["receives"]}
    assert [each.name for each in found.arrows[7]] == ["second", "there"]
    assert found.counters["one", "waits B"] == [(0, 3.0), (4_000, 0.0)]
    assert "sends" in found.text()


def change(phase: str, number: int = 0, **values: Any) -> Callable[[Events], None]:
    return lambda events: of(events, phase, number).update(values)


def drop(phase: str, number: int = 0) -> Callable[[Events], None]:
    return lambda events: events.remove(of(events, phase, number))


def twice(phase: str, number: int = 0, **values: Any) -> Callable[[Events], None]:
    return lambda events: events.append({**of(events, phase, number), **values})


# names come in fours: a process's name and place, twice, then a track's, twice
@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (change("X", ph="Z"), "unknown phase"),
        (change("X", more=1), "more"),
        (change("X", ts=-1), "no whole picoseconds from 0"),
        (change("X", dur=-1), "no whole picoseconds from 0"),
        (change("X", ts=0.0010000001), "no whole picoseconds"),
        (change("X", ts="0.001"), "is no number"),
        (change("X", ts=True), "is no number"),
        (change("X", name=""), "name"),
        (change("X", pid=0), "pid"),
        (change("X", tid=77), "a track that has no name"),
        (change("X", pid=2), "a track that has no name"),
        (change("X", 1, ts=0.004), "starts within"),
        (change("X", 0, dur=0.0041), "starts within"),
        (change("X", args={"a": [1]}), "args"),
        (change("f", bp="x"), "bp"),
        (change("f", id=8), "one end"),
        (change("s", id="7"), "id"),
        (change("s", ts=0.012), "goes back in time|outside"),
        (change("f", ts=0.004), "goes back in time"),
        (change("s", ts=0.0095), "goes back in time|outside"),
        (change("s", ts=0.0002), "in no slice"),
        (change("f", ts=0.0099), "outside"),
        (drop("s"), "one end"),
        (drop("f"), "one end"),
        (twice("s"), "two ends"),
        (change("C", args={"B": "3"}), "C"),
        (change("C", args={"B": 1, "C": 2}), "unpack"),
        (change("C", 1, ts=0), "goes back"),
        (change("C", 0, ts=0.005), "goes back"),
        (drop("M", 0), "process_name|one"),
        (drop("M", 1), "a name or a place only"),
        (drop("M", 4), "a track that has no name|thread_name|4"),
        (drop("M", 5), "a name or a place only"),
        (twice("M", 0), "named twice"),
        (twice("M", 4), "named twice"),
        (twice("M", 4, pid=2), "two processes share a track"),
        (change("M", 1, args={"sort_index": 2}), "two of process have one place"),
        (change("M", 5, args={"sort_index": 4}), "two of thread have one place"),
        (change("M", 2, args={"name": "one"}), "two processes have one name"),
        (change("M", 0, args={"name": 5}), "process_name"),
        (change("M", 0, args={"name": ""}), "process_name"),
        (change("M", 0, name="process_labels"), "process_labels"),
        (drop("X", 2), "in no slice|is empty"),
    ],
)
def test_what_is_spoilt_is_refused(spoil: Callable[[Events], None], why: str) -> None:
    events = good()
    spoil(events)
    with pytest.raises((AssertionError, KeyError, ValueError), match=why):
        parse_timeline(whole(events))


def test_a_track_of_a_process_s_number_is_refused() -> None:
    events = good()
    for event in events:
        if event.get("tid") == 3:
            event["tid"] = 2
    with pytest.raises(AssertionError, match="a track has the number of a process"):
        parse_timeline(whole(events))


def test_two_tracks_of_one_name_are_refused() -> None:
    events = good()
    of(events, "M", 6)["pid"] = of(events, "M", 7)["pid"] = of(events, "X", 2)["pid"] = 1
    of(events, "f")["pid"] = 1
    of(events, "M", 6)["args"] = {"name": "sends"}
    with pytest.raises(AssertionError, match="two tracks of one have one name"):
        parse_timeline(whole(events))


def test_an_arrow_that_a_viewer_ties_to_another_slice_is_refused() -> None:
    # both begin in the same nanosecond, and what is later in the file counts there
    events = good()
    later = {**of(events, "X", 1), "ts": 0.0059, "dur": 0.0001, "name": "between"}
    of(events, "X", 1).update(ts=0.005, dur=0.0009)
    events.insert(events.index(of(events, "X", 1)) + 1, later)
    with pytest.raises(AssertionError, match="an end of arrow 7 is outside of"):
        parse_timeline(whole(events))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (whole(good())[:-1], "delimiter"),
        (whole(good()).replace('"displayTimeUnit": "ns"', '"displayTimeUnit": "us"'), "displayTimeUnit 'us'"),
        (whole(good()).replace("1.5", "NaN"), "NaN is no JSON"),
        (whole(good()).replace('"ph": "X",', '"ph": "X", "ph": "X",'), "there twice"),
        ("[]", "a trace is an object"),
        ('{"traceEvents": []}', "has not the keys"),
    ],
)
def test_what_is_no_such_file_is_refused(text: str, why: str) -> None:
    with pytest.raises((AssertionError, ValueError), match=why):
        parse_timeline(text)
