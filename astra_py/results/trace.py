# SPDX-License-Identifier: GPL-2.0-only
"""A run as a timeline that Perfetto (ui.perfetto.dev) and Chrome's own viewer open: Chrome's trace event format.

A process is the run as a whole, then each rank, then the links. ``docs/trace.md`` says what is in it.
"""

from __future__ import annotations

import gzip
import io
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from astra_py.errors import ConfigError
from astra_py.results.intervals import IntervalSet
from astra_py.results.result import how_far
from astra_py.results.trace_events import Tracks, slice_text
from astra_py.results.trace_lanes import gaps, lanes
from astra_py.results.trace_links import MOST_VALUES, link_events, shown_channels
from astra_py.results.trace_messages import MOST_ARROWS, MOST_MESSAGES, message_events

if TYPE_CHECKING:
    from astra_py.results.columns import Columns
    from astra_py.results.result import Result

__all__ = ["WrittenTrace", "write_trace"]

#: Tracks of a rank, in the order in which they are shown.
_KINDS = {"compute": "compute", "collective": "collectives", "memory": "memory"}
_EXPOSED = "exposed communication"
_RUN, _LINKS = "run", "links"
#: Tables that a timeline is drawn from, and that may have been cut.
_DRAWN = ("operations", "messages", "link_bins")
_OF_A_COLLECTIVE = (
    *("collective", "kind", "algorithm", "iteration", "ranks", "size_bytes", "busbw_GBps", "exposed_us"),
    *("bottleneck", "bottleneck_percent", "bottleneck_at"),
)
#: What an operation has that is part of no collective.
_NONE = ("collective", -1)


@dataclass(frozen=True)
class WrittenTrace:
    """What was written.

    Attributes
    ----------
    path : the file.
    bytes : its size.
    events : in it.
    left_out : what the trace does not show, a line each; empty where it shows everything.
    """

    path: Path
    bytes: int
    events: int
    left_out: tuple[str, ...]


def write_trace(result: Result, path: str | Path) -> WrittenTrace:
    """Write the timeline of a run as Chrome trace JSON, gzipped where the name ends in ``.gz``.

    The same result gives the same file. One that is there is replaced, once the new one is whole.

    Parameters
    ----------
    result : of a run, whole or stopped.
    path : of the file, which ends in ``.json`` or ``.json.gz``.

    Raises
    ------
    ConfigError : the name ends neither in ``.json`` nor in ``.json.gz``, or the file cannot be written.
    """
    path = Path(path)
    if not path.name.endswith((".json", ".json.gz")):
        raise ConfigError(f"{path}: a trace is written by its name's ending; allowed: .json, .json.gz")
    left_out = _left_out(result)
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        try:
            with aside.open("wb") as raw:
                events = _write(result, raw, left_out, is_zipped=path.suffix == ".gz")
            os.replace(aside, path)
        finally:
            aside.unlink(missing_ok=True)
        return WrittenTrace(path, path.stat().st_size, events, left_out)
    except OSError as error:
        raise ConfigError(f"{path}: the trace cannot be written: {error.strerror or error}") from error


def _write(result: Result, raw: BinaryIO, left_out: tuple[str, ...], *, is_zipped: bool) -> int:
    # without the moment at which it is written
    packed = gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) if is_zipped else raw
    with io.TextIOWrapper(packed, encoding="utf-8", newline="\n") as file:
        head = {"displayTimeUnit": "ns", "otherData": _metadata(result, left_out)}
        file.write(json.dumps(head, allow_nan=False)[:-1] + ',"traceEvents":[\n')
        count = 0
        for text in _events(result):
            file.write((",\n" if count else "") + text)
            count += 1
        file.write("\n]}\n")
    return count


def _metadata(result: Result, left_out: tuple[str, ...]) -> dict[str, Any]:
    manifest = result.manifest
    return {
        "scenario": manifest["title"],
        "platform": f"{manifest['platform']['name']} of {manifest['platform']['ranks']} ranks",
        "engine": manifest["engine"],
        "seed": manifest["seed"],
        "digest": result.digest,
        "versions": manifest["versions"],
        "time_ps": manifest["run"]["time_ps"],
        "stopped": how_far(manifest["run"]) if result.is_partial else "",
        "left_out": list(left_out),
    }


def _left_out(result: Result) -> tuple[str, ...]:
    count = len(result.columns("messages")["message"])
    cut = result.cut
    lines = [f"{table}: the results have {cut[table]}" for table in _DRAWN if table in cut]
    if count > MOST_MESSAGES:
        lines.append(f"messages: the {MOST_MESSAGES:,} of {count:,} that take longest to be delivered are drawn")
    if count > MOST_ARROWS:
        lines.append(f"arrows: the {MOST_ARROWS:,} of {count:,} messages that take longest have one")
    links = len(np.unique(result.columns("link_bins")["channel"]))
    shown = len(shown_channels(result, MOST_VALUES))
    if links > shown:
        lines.append(f"links: the {shown:,} of {links:,} directions of links that are busiest have counters")
    return tuple(lines)


def _events(result: Result) -> Iterator[str]:
    tracks = Tracks()
    told = 0

    def named(events: Iterator[str]) -> Iterator[str]:
        """The events, each after those that name its track."""
        nonlocal told
        for event in events:
            yield from tracks.events[told:]
            told = len(tracks.events)
            yield event

    def pid_of_rank(rank: int) -> int:
        return tracks.process(f"rank {rank}")

    tracks.process(_RUN)
    for rank in range(int(result.manifest["platform"]["ranks"])):
        pid_of_rank(rank)
    yield from named(_run(result, tracks))
    yield from named(_operations(result, tracks))
    yield from named(message_events(result, tracks, pid_of_rank))
    if len(result.columns("link_bins")["channel"]):
        yield from named(link_events(result, tracks.process(_LINKS)))


def _run(result: Result, tracks: Tracks) -> Iterator[str]:
    """Iterations, and each collective from its first rank's joining to its last rank's end."""
    pid = tracks.process(_RUN)
    table = result.columns("iterations")
    for i, iteration in enumerate(table["iteration"].tolist()):
        job = table["job"][i]
        tid = tracks.track(pid, f"iterations of {job}" if job else "iterations")
        start = _picoseconds(table["start_us"][i])
        args = _args(table, i, "rank", "compute_us", "communication_us", "exposed_us")
        yield slice_text(pid, tid, start, start + int(table["time_ps"][i]), f"iteration {iteration}", args)
    table = result.columns("collectives")
    starts = np.array([_picoseconds(start) for start in table["start_us"]], dtype=np.int64)
    ends = starts + table["time_ps"]
    for i, lane in enumerate(lanes(starts, ends).tolist()):
        tid = tracks.track(pid, f"collectives {lane}" if lane else "collectives")
        args = _args(table, i, *_OF_A_COLLECTIVE)
        yield slice_text(pid, tid, int(starts[i]), int(ends[i]), table["name"][i], args)


def _operations(result: Result, tracks: Tracks) -> Iterator[str]:
    """What each rank does, a track a kind, in lanes where it does several at once; and when it does not compute."""
    table = result.columns("operations")
    run_end = int(result.manifest["run"]["time_ps"])
    starts, ends = table["start_ps"], np.where(table["end_ps"] < 0, run_end, table["end_ps"])
    begins = _starts_of_jobs(result)
    began = np.flatnonzero(starts >= 0)
    for rank in np.unique(table["rank"][began]).tolist():
        rows = began[table["rank"][began] == rank]
        pid = tracks.process(f"rank {rank}")
        for kind, title in _KINDS.items():
            mine = rows[table["kind"][rows] == kind]
            for i, lane in zip(mine.tolist(), lanes(starts[mine], ends[mine]).tolist(), strict=True):
                tid = tracks.track(pid, f"{title} {lane}" if lane else title)
                args = _args(table, i, "operation", "iteration", "phase", "collective")
                args |= {} if table["end_ps"][i] >= 0 else {"unfinished": True}
                yield slice_text(pid, tid, int(starts[i]), int(ends[i]), table["name"][i], args)
            if kind == "compute":
                computed = IntervalSet(starts[mine], ends[mine])
                begin = begins.get(table["job"][rows[0]], 0)
                for low, high in gaps(computed, begin, int(ends[rows].max())):
                    yield slice_text(pid, tracks.track(pid, _EXPOSED), low, high, _EXPOSED, {})


def _starts_of_jobs(result: Result) -> dict[str, int]:
    """When the first iteration of each job begins."""
    table = result.columns("iterations")
    starts: dict[str, int] = {}
    for job, start in zip(table["job"], table["start_us"], strict=True):
        starts.setdefault(job, _picoseconds(start))
    return starts


def _picoseconds(time_us: float) -> int:
    """Microseconds as the whole picoseconds that they were: exact up to some hours (2^53 of a thousandth of one)."""
    return round(float(time_us) * 1e6)


def _args(table: Columns, row: int, *names: str) -> dict[str, Any]:
    """Fields of a row as plain values; those that are empty are left out, as is a collective of no number."""
    values = {name: table[name][row] for name in names}
    plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in values.items()}
    return {name: value for name, value in plain.items() if value == value and value != "" and (name, value) != _NONE}
