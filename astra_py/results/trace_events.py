# SPDX-License-Identifier: GPL-2.0-only
"""Events of a timeline as text of the Chrome trace event format.

The format is that of "Trace Event Format" (Google, 2016), of which Perfetto reads these phases: ``M`` names processes
and threads, ``X`` is a slice, ``s`` and ``f`` are the ends of an arrow, ``C`` is a counter's new value. Moments are in
microseconds; they are written from whole picoseconds in decimal digits, so that none is rounded.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["Tracks", "arrow", "counter_text", "microseconds", "slice_text"]

_PS_PER_US = 10**6


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def microseconds(time_ps: int) -> str:
    """Picoseconds in microseconds, as a JSON number with all its digits."""
    whole, rest = divmod(time_ps, _PS_PER_US)
    return f"{whole}.{rest:06d}".rstrip("0") if rest else str(whole)


def slice_text(pid: int, tid: int, start_ps: int, end_ps: int, name: str, args: Mapping[str, Any]) -> str:
    """A slice: something that goes on from one moment to another, on a track of its own process."""
    return (
        f'{{"ph":"X","pid":{pid},"tid":{tid},"ts":{microseconds(start_ps)},"dur":{microseconds(end_ps - start_ps)},'
        f'"name":{_text(name)},"args":{_text(args)}}}'
    )


def arrow(pids: tuple[int, int], tids: tuple[int, int], times_ps: tuple[int, int], number: int) -> Iterable[str]:
    """The two ends of an arrow, each at a moment of the slice on its track that it belongs to."""
    for phase, pid, tid, time in zip(('"s"', '"f","bp":"e"'), pids, tids, times_ps, strict=True):
        yield (
            f'{{"ph":{phase},"id":{number},"pid":{pid},"tid":{tid},"ts":{microseconds(time)},"name":"message",'
            f'"cat":"message"}}'
        )


def counter_text(pid: int, time_ps: int, name: str, value: float) -> str:
    """A counter of a process has a value from a moment on."""
    return (
        f'{{"ph":"C","pid":{pid},"ts":{microseconds(time_ps)},"name":{_text(name)},"args":{{"value":{_text(value)}}}}}'
    )


class Tracks:
    """Processes and their tracks, numbered and named in the order in which they are asked for.

    Attributes
    ----------
    events : texts of the events that name them.
    """

    def __init__(self) -> None:
        self.events: list[str] = []
        self._pids: dict[str, int] = {}
        self._tids: dict[tuple[int, str], int] = {}

    def process(self, name: str) -> int:
        """The number of a process, from 1 in order."""
        if name not in self._pids:
            pid = self._pids[name] = len(self._pids) + 1
            self._name(pid, 0, "process_name", {"name": name})
            self._name(pid, 0, "process_sort_index", {"sort_index": pid})
        return self._pids[name]

    def track(self, pid: int, name: str) -> int:
        """The number of a track of a process; no two tracks of a trace have the same."""
        key = (pid, name)
        if key not in self._tids:
            tid = self._tids[key] = len(self._tids) + 1
            self._name(pid, tid, "thread_name", {"name": name})
            self._name(pid, tid, "thread_sort_index", {"sort_index": tid})
        return self._tids[key]

    def _name(self, pid: int, tid: int, what: str, args: Mapping[str, Any]) -> None:
        self.events.append(f'{{"ph":"M","pid":{pid},"tid":{tid},"name":"{what}","args":{_text(args)}}}')
