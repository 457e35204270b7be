# SPDX-License-Identifier: GPL-2.0-only
"""A strict reader of Chrome traces, which takes nothing that Perfetto might drop or show elsewhere."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

#: What each phase must have, and nothing else.
KEYS = {
    "M": {"ph", "pid", "tid", "name", "args"},
    "X": {"ph", "pid", "tid", "ts", "dur", "name", "args"},
    "s": {"ph", "id", "pid", "tid", "ts", "name", "cat"},
    "f": {"ph", "bp", "id", "pid", "tid", "ts", "name", "cat"},
    "C": {"ph", "pid", "ts", "name", "args"},
}
NAMES = {"process_name", "process_sort_index", "thread_name", "thread_sort_index"}


@dataclass(frozen=True)
class Slice:
    """A slice with its moments in whole picoseconds."""

    process: str
    track: str
    start_ps: int
    end_ps: int
    name: str
    args: dict[str, Any]


@dataclass
class Timeline:
    """What a trace shows.

    Attributes
    ----------
    metadata : ``otherData``.
    slices : in the file's order.
    arrows : the args of the slices that each arrow goes from and to, by its id.
    counters : of each (process, counter), moments in ps and values in order.
    """

    metadata: dict[str, Any]
    slices: list[Slice] = field(default_factory=list)
    arrows: dict[int, tuple[dict[str, Any], dict[str, Any]]] = field(default_factory=dict)
    counters: dict[tuple[str, str], list[tuple[int, float]]] = field(default_factory=lambda: defaultdict(list))

    def of(self, process: str, track: str) -> list[Slice]:
        """The slices of tracks of a process whose names begin so."""
        return [each for each in self.slices if each.process == process and each.track.startswith(track)]


def _no_constant(text: str) -> None:
    raise AssertionError(f"{text} is no JSON")


def _no_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len({key for key, _ in pairs}) == len(pairs), f"a key is there twice: {pairs}"
    return dict(pairs)


def _ps(value: Any) -> int:
    time = Decimal(value) * 10**6
    assert time == int(time) >= 0, f"{value} us are no whole picoseconds"
    # a reader of doubles finds the same
    assert round(float(value) * 1e6) == time
    return int(time)


def read_timeline(path: Path) -> Timeline:
    """Read a trace and check all of it; an AssertionError says what a viewer would not take."""
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
    whole = json.loads(text, parse_float=Decimal, parse_constant=_no_constant, object_pairs_hook=_no_twice)
    assert set(whole) == {"displayTimeUnit", "otherData", "traceEvents"}
    assert whole["displayTimeUnit"] in ("ms", "ns")
    names: dict[tuple[str, int], str] = {}
    found = Timeline(whole["otherData"])
    by_track: dict[tuple[int, int], list[Slice]] = defaultdict(list)
    ends: dict[str, dict[int, tuple[tuple[int, int], int]]] = {"s": {}, "f": {}}
    for event in whole["traceEvents"]:
        phase = event["ph"]
        assert set(event) == KEYS[phase], event
        pid, tid = event["pid"], event.get("tid", 0)
        assert isinstance(pid, int)
        assert isinstance(tid, int)
        assert pid > 0 <= tid
        if phase == "M":
            assert event["name"] in NAMES
            (value,) = event["args"].values()
            assert isinstance(value, str if event["name"].endswith("_name") else int)
            key = (event["name"], tid if event["name"].startswith("thread") else pid)
            assert key not in names, f"{key} is named twice"
            names[key] = value
            continue
        process = names["process_name", pid]
        assert isinstance(event["name"], str)
        assert event["name"]
        if phase == "C":
            (value,) = event["args"].values()
            found.counters[process, event["name"]].append((_ps(event["ts"]), float(value)))
        elif phase == "X":
            start = _ps(event["ts"])
            args = json.loads(json.dumps(event["args"], default=float))
            each = Slice(process, names["thread_name", tid], start, start + _ps(event["dur"]), event["name"], args)
            found.slices.append(each)
            by_track[pid, tid].append(each)
        else:
            assert event["id"] not in ends[phase], f"arrow {event['id']} has two ends {phase}"
            ends[phase][event["id"]] = ((pid, tid), _ps(event["ts"]))
    assert len({tid for _, tid in by_track}) == len(by_track), "two processes share a track's number"
    for track, slices in by_track.items():
        _check_track(track, slices)
    for counter, values in found.counters.items():
        moments = [moment for moment, _ in values]
        assert moments == sorted(set(moments)), f"counter {counter} goes back"
    assert set(ends["s"]) == set(ends["f"]), "an arrow has one end"
    for number in ends["s"]:
        start, end = (_bound(by_track, *ends[phase][number]) for phase in "sf")
        assert ends["s"][number][1] <= ends["f"][number][1], f"arrow {number} goes back in time"
        found.arrows[number] = (start.args, end.args)
    return found


def _check_track(track: tuple[int, int], slices: list[Slice]) -> None:
    """Slices of a track follow one another; even where a reader cuts moments and durations to nanoseconds."""
    ordered = sorted(slices, key=lambda each: (each.start_ps, each.end_ps))
    for before, after in pairwise(ordered):
        assert before.end_ps <= after.start_ps, f"on track {track} {after} starts within {before}"
        length_ns = (before.end_ps - before.start_ps) // 1000
        assert before.start_ps // 1000 + length_ns <= after.start_ps // 1000


def _bound(by_track: dict[tuple[int, int], list[Slice]], track: tuple[int, int], moment: int) -> Slice:
    """The slice of a track that an end of an arrow is in: the last one that has begun."""
    found = [each for each in by_track[track] if each.start_ps <= moment <= each.end_ps]
    assert found, f"an arrow's end at {moment} ps of track {track} is in no slice"
    return max(found, key=lambda each: (each.start_ps, each.end_ps))
