# SPDX-License-Identifier: GPL-2.0-only
"""A strict reader of Chrome traces, which takes nothing that Perfetto might drop or show elsewhere."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Iterable
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
#: Metadata, and the type of its one argument of a name that is given.
NAMES = {
    "process_name": ("name", str),
    "process_sort_index": ("sort_index", int),
    "thread_name": ("name", str),
    "thread_sort_index": ("sort_index", int),
}
Key = tuple[int, int]


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
    processes : names of processes in the order in which they are shown, and of the tracks of each.
    slices : in the file's order.
    arrows : the slices that each arrow goes from and to, by its id.
    moments : when each arrow begins and ends, in ps.
    counters : of each (process, counter with its unit), moments in ps and values in order.
    """

    metadata: dict[str, Any]
    processes: dict[str, list[str]] = field(default_factory=dict)
    slices: list[Slice] = field(default_factory=list)
    arrows: dict[int, tuple[Slice, Slice]] = field(default_factory=dict)
    moments: dict[int, tuple[int, int]] = field(default_factory=dict)
    counters: dict[tuple[str, str], list[tuple[int, float]]] = field(default_factory=lambda: defaultdict(list))

    def of(self, process: str, track: str) -> list[Slice]:
        """The slices of tracks of a process whose names begin so."""
        return [each for each in self.slices if each.process == process and each.track.startswith(track)]

    def text(self, width: int = 72) -> str:
        """The timeline as a person sees it: a line a track, and of what a character is the most of its time."""
        end = max((each.end_ps for each in self.slices), default=1) or 1
        on_track: dict[tuple[str, str], list[Slice]] = defaultdict(list)
        for each in self.slices:
            on_track[each.process, each.track].append(each)
        lines = []
        for process, tracks in self.processes.items():
            lines.append(process)
            for track in tracks:
                cells = [" "] * width
                for each in on_track[process, track]:
                    first, last = each.start_ps * width // end, max(each.end_ps - 1, each.start_ps) * width // end
                    for cell in range(first, min(last, width - 1) + 1):
                        cells[cell] = each.name[:1] or "?"
                lines.append(f"  {track:<32.32} |{''.join(cells)}| {len(on_track[process, track])}")
            lines += [
                f"  {counter:<32.32} {len(values)} values up to {max(value for _, value in values):g}"
                for (of, counter), values in self.counters.items()
                if of == process
            ]
        return "\n".join(lines)


def _no_constant(text: str) -> None:
    raise AssertionError(f"{text} is no JSON")


def _no_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    assert len(found) == len(pairs), f"a key is there twice: {pairs}"
    return found


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _ps(value: Any) -> int:
    assert isinstance(value, Decimal) or _is_whole(value), f"{value!r} is no number"
    time = value * 10**6
    assert time == int(time) >= 0, f"{value} us are no whole picoseconds from 0"
    # a reader of doubles finds the same
    assert round(float(value) * 1e6) == time
    return int(time)


def read_timeline(path: Path) -> Timeline:
    """Read a trace and check all of it; an AssertionError says what a viewer would not take."""
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("ascii")
    return parse_timeline(text)


def parse_timeline(text: str) -> Timeline:
    """As :func:`read_timeline`, of a text."""
    whole = json.loads(text, parse_float=Decimal, parse_constant=_no_constant, object_pairs_hook=_no_twice)
    assert isinstance(whole, dict), "a trace is an object"
    assert set(whole) == {"displayTimeUnit", "otherData", "traceEvents"}, f"a trace has not the keys {set(whole)}"
    assert whole["displayTimeUnit"] in ("ms", "ns"), f"displayTimeUnit {whole['displayTimeUnit']!r}"
    return _Reader(whole["otherData"]).read(whole["traceEvents"])


class _Reader:
    """What is read of a trace, event by event, and then looked at as a whole."""

    def __init__(self, metadata: dict[str, Any]) -> None:
        self.found = Timeline(metadata)
        self.names: dict[tuple[str, int], Any] = {}
        self.pid_of_tid: dict[int, int] = {}
        self.by_track: dict[Key, list[Slice]] = defaultdict(list)
        self.of_arrows: dict[str, dict[int, tuple[Key, int]]] = {"s": {}, "f": {}}
        #: Of each track its slices and ends of arrows, in the file's order, by nanoseconds as a viewer reads them.
        self.seen: dict[Key, list[tuple[int, Slice | tuple[str, int]]]] = defaultdict(list)

    def read(self, events: list[dict[str, Any]]) -> Timeline:
        readers = {"M": self._name, "X": self._slice, "s": self._arrow, "f": self._arrow, "C": self._counter}
        for event in events:
            assert event["ph"] in KEYS, f"unknown phase: {event}"
            assert set(event) == KEYS[event["ph"]], event
            assert all(_is_whole(event.get(key, 0)) for key in ("pid", "tid")), event
            assert event["pid"] > 0, event
            assert event.get("tid", 0) >= 0, event
            assert isinstance(event["name"], str), event
            assert event["name"], event
            readers[event["ph"]](event)
        self._check_names()
        for track, slices in self.by_track.items():
            _check_track(track, slices)
        for counter, values in self.found.counters.items():
            moments = [moment for moment, _ in values]
            assert moments == sorted(set(moments)), f"counter {counter} goes back"
        self._check_arrows()
        return self.found

    def _name(self, event: dict[str, Any]) -> None:
        assert event["name"] in NAMES, event
        argument, kind = NAMES[event["name"]]
        assert set(event["args"]) == {argument}, event
        value = event["args"][argument]
        assert isinstance(value, kind), event
        assert not isinstance(value, bool), event
        assert value != "", event
        is_thread = event["name"].startswith("thread")
        assert (event["tid"] > 0) == is_thread, event
        if is_thread:
            assert self.pid_of_tid.setdefault(event["tid"], event["pid"]) == event["pid"], "two processes share a track"
        key = (event["name"], event["tid"] if is_thread else event["pid"])
        assert key not in self.names, f"{key} is named twice"
        self.names[key] = value

    def _slice(self, event: dict[str, Any]) -> None:
        pid, tid = event["pid"], event["tid"]
        assert self.pid_of_tid.get(tid) == pid, f"a track that has no name, or not yet: {event}"
        start = _ps(event["ts"])
        args = {key: float(value) if isinstance(value, Decimal) else value for key, value in event["args"].items()}
        assert all(isinstance(value, str | int | float) for value in args.values()), event
        process, track = self.names["process_name", pid], self.names["thread_name", tid]
        each = Slice(process, track, start, start + _ps(event["dur"]), event["name"], args)
        self.found.slices.append(each)
        self.by_track[pid, tid].append(each)
        self.seen[pid, tid].append((start // 1000, each))

    def _arrow(self, event: dict[str, Any]) -> None:
        ends, number = self.of_arrows[event["ph"]], event["id"]
        assert _is_whole(number), event
        assert event.get("bp", "e") == "e", event
        assert number not in ends, f"arrow {number} has two ends {event['ph']}"
        track, moment = (event["pid"], event["tid"]), _ps(event["ts"])
        ends[number] = (track, moment)
        self.seen[track].append((moment // 1000, (event["ph"], number)))

    def _counter(self, event: dict[str, Any]) -> None:
        ((unit, value),) = event["args"].items()
        assert unit, event
        assert isinstance(value, Decimal) or _is_whole(value), event
        process = self.names["process_name", event["pid"]]
        self.found.counters[process, f"{event['name']} {unit}"].append((_ps(event["ts"]), float(value)))

    def _check_names(self) -> None:
        """Each process and track has a name and a place of its own, and no track the number of a process."""
        kinds: dict[str, dict[int, Any]] = defaultdict(dict)
        for (kind, number), value in self.names.items():
            kinds[kind][number] = value
        for sort in ("process", "thread"):
            named, placed = kinds[f"{sort}_name"], kinds[f"{sort}_sort_index"]
            assert set(named) == set(placed), f"a {sort} has a name or a place only"
            assert len(set(placed.values())) == len(placed), f"two of {sort} have one place"
        processes = kinds["process_name"]
        assert len(set(processes.values())) == len(processes), "two processes have one name"
        assert not set(processes) & set(self.pid_of_tid), "a track has the number of a process"
        for pid in sorted(processes, key=kinds["process_sort_index"].__getitem__):
            tids = [tid for tid, of in self.pid_of_tid.items() if of == pid]
            assert all((pid, tid) in self.by_track for tid in tids), f"a track of {processes[pid]} is empty"
            tids.sort(key=kinds["thread_sort_index"].__getitem__)
            tracks = [kinds["thread_name"][tid] for tid in tids]
            assert len(set(tracks)) == len(tracks), f"two tracks of {processes[pid]} have one name"
            self.found.processes[processes[pid]] = tracks

    def _check_arrows(self) -> None:
        """Each arrow has two ends in slices, forward in time; those that a viewer finds are the same."""
        starts, ends = self.of_arrows["s"], self.of_arrows["f"]
        assert set(starts) == set(ends), "an arrow has one end"
        taken = {track: _last_begun(seen) for track, seen in self.seen.items()}
        for number, (track, moment) in starts.items():
            to, later = ends[number]
            assert moment <= later, f"arrow {number} goes back in time"
            bound = []
            for each, when in ((taken[track]["s", number], moment), (taken[to]["f", number], later)):
                assert each is not None, f"an end of arrow {number} is in no slice"
                assert each.start_ps <= when <= each.end_ps, f"an end of arrow {number} is outside of {each}"
                bound.append(each)
            self.found.arrows[number] = (bound[0], bound[1])
            self.found.moments[number] = (moment, later)


def _last_begun(seen: Iterable[tuple[int, Slice | tuple[str, int]]]) -> dict[tuple[str, int], Slice | None]:
    """The slice that a viewer ties each end of an arrow to: the last one begun, by nanoseconds and the file's order."""
    found: dict[tuple[str, int], Slice | None] = {}
    last: Slice | None = None
    for _, each in sorted(seen, key=lambda event: event[0]):
        if isinstance(each, Slice):
            last = each
        else:
            found[each] = last
    return found


def _check_track(track: Key, slices: list[Slice]) -> None:
    """Slices of a track follow one another; even where a reader cuts moments and durations to nanoseconds."""
    ordered = sorted(slices, key=lambda each: (each.start_ps, each.end_ps))
    for before, after in pairwise(ordered):
        assert before.end_ps <= after.start_ps, f"on track {track} {after} starts within {before}"
        length_ns = (before.end_ps - before.start_ps) // 1000
        assert before.start_ps // 1000 + length_ns <= after.start_ps // 1000
