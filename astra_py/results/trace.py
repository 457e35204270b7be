# SPDX-License-Identifier: GPL-2.0-only
"""A run as a timeline that Perfetto (ui.perfetto.dev) and Chrome's own viewer open: Chrome's trace event format.

A process is the run as a whole, then each rank, then each direction of a link. ``docs/trace.md`` says what is in it.
"""

from __future__ import annotations

import gzip
import io
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from astra_py.errors import ConfigError
from astra_py.results.result import how_far
from astra_py.results.trace_events import Tracks
from astra_py.results.trace_limits import MOST_BYTES, Limits, Section
from astra_py.results.trace_links import links_section
from astra_py.results.trace_messages import messages_section, queues_section
from astra_py.results.trace_operations import operations_section, run_section

if TYPE_CHECKING:
    from astra_py.results.result import Result

__all__ = ["WrittenTrace", "write_trace"]

#: Tables that a timeline is drawn from, and that may have been cut.
_DRAWN = ("operations", "messages", "link_bins", "pauses")


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
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    limits = Limits()
    try:
        try:
            written = _write(result, aside, limits, is_zipped=path.suffix == ".gz")
            # what there is less of than its limit gets no less by a lower one: several times may be needed
            while written.text_bytes >= MOST_BYTES and limits != (
                limits := limits.scaled(0.9 * MOST_BYTES / written.text_bytes)
            ):
                written = _write(result, aside, limits, is_zipped=path.suffix == ".gz")
            os.replace(aside, path)
        finally:
            aside.unlink(missing_ok=True)
        return WrittenTrace(path, path.stat().st_size, written.events, written.left_out)
    except OSError as error:
        raise ConfigError(f"{path}: the trace cannot be written: {error.strerror or error}") from error


@dataclass(frozen=True)
class _Text:
    """What was written: how many bytes before compression, how many events, and what was left out."""

    text_bytes: int
    events: int
    left_out: tuple[str, ...]


def _write(result: Result, path: Path, limits: Limits, *, is_zipped: bool) -> _Text:
    tracks = Tracks()
    sections = _sections(result, tracks, limits)
    cut = result.cut
    left_out = tuple(f"{table}: the results have {cut[table]}" for table in _DRAWN if table in cut)
    left_out += tuple(line for section in sections for line in section.left_out)
    with path.open("wb") as raw:
        # without the moment at which it is written
        packed = gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) if is_zipped else raw
        with io.TextIOWrapper(packed, encoding="ascii", newline="\n") as file:
            head = {"displayTimeUnit": "ns", "otherData": _metadata(result, left_out)}
            size = file.write(json.dumps(head, allow_nan=False)[:-1] + ',"traceEvents":[\n')
            count = 0
            for text in _events(sections, tracks):
                size += file.write((",\n" if count else "") + text)
                count += 1
            size += file.write("\n]}\n")
    return _Text(size, count, left_out)


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


def _sections(result: Result, tracks: Tracks, limits: Limits) -> list[Section]:
    """The parts of a timeline, in the order in which they are shown."""

    def pid_of_rank(rank: int) -> int:
        return tracks.process(f"rank {rank}")

    run = tracks.process("run")
    for rank in range(int(result.manifest["platform"]["ranks"])):
        pid_of_rank(rank)
    return [
        run_section(result, tracks, run, limits),
        operations_section(result, tracks, pid_of_rank, limits),
        messages_section(result, tracks, pid_of_rank, limits),
        queues_section(result, pid_of_rank, limits),
        links_section(result, tracks, limits),
    ]


def _events(sections: Iterable[Section], tracks: Tracks) -> Iterator[str]:
    """All events, each after those that name its track."""
    told = 0
    for section in sections:
        for event in section.events():
            yield from tracks.events[told:]
            told = len(tracks.events)
            yield event
    yield from tracks.events[told:]
