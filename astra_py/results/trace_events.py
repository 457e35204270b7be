# SPDX-License-Identifier: GPL-2.0-only
"""Events of a timeline as text of the Chrome trace event format.

The format is that of "Trace Event Format" (Google, 2016), of which Perfetto reads these phases: ``M`` names processes
and threads, ``X`` is a slice, ``s`` and ``f`` are the ends of an arrow, ``C`` is a counter's new value. Moments are in
microseconds; they are written from whole picoseconds in decimal digits, so that none is rounded.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from astra_py.results.columns import Columns

__all__ = ["Tracks", "arrow", "counter_text", "microseconds", "plain", "slice_text"]

#: What an operation has that is part of no collective.
_NONE = ("collective", -1)

_PS_PER_US = 10**6


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def microseconds(time_ps: int) -> str:
    """Picoseconds in microseconds, as a JSON number with all its digits."""
    whole, rest = divmod(time_ps, _PS_PER_US)
    return f"{whole}.{rest:06d}".rstrip("0") if rest else str(whole)


def plain(table: Columns, row: int, *names: str) -> dict[str, Any]:
    """Fields of a row as plain values; those that are empty are left out, as is a collective of no number."""
    given = {name: table[name][row] for name in names}
    values = {name: value.item() if isinstance(value, np.generic) else value for name, value in given.items()}
    return {name: value for name, value in values.items() if value == value and value != "" and (name, value) != _NONE}


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


def counter_text(pid: int, time_ps: int, name: str, unit: str, value: float) -> str:
    """A counter of a process has a value from a moment on; viewers show its name and unit side by side."""
    return (
        f'{{"ph":"C","pid":{pid},"ts":{microseconds(time_ps)},"name":{_text(name)},'
        f'"args":{{{_text(unit)}:{_text(value)}}}}}'
    )


class Tracks:
    """Processes and their tracks, named and shown in the order in which they are asked for.

    No two of them have the same number, whether process or track: a viewer takes the track of a process's own number
    for its main thread, and shows it elsewhere.

    Attributes
    ----------
    events : texts of the events that name them.
    """

    def __init__(self) -> None:
        self.events: list[str] = []
        self._pids: dict[str, int] = {}
        self._tids: dict[tuple[int, str, int], int] = {}

    def process(self, name: str) -> int:
        """The number of a process."""
        if name not in self._pids:
            pid = self._pids[name] = self._next()
            self._name(pid, 0, "process_name", {"name": name})
            self._name(pid, 0, "process_sort_index", {"sort_index": pid})
        return self._pids[name]

    def track(self, pid: int, name: str, lane: int = 0) -> int:
        """The number of a track of a process; each lane but the first has its number in its name."""
        key = (pid, name, lane)
        if key not in self._tids:
            tid = self._tids[key] = self._next()
            self._name(pid, tid, "thread_name", {"name": f"{name} ({lane + 1})" if lane else name})
            self._name(pid, tid, "thread_sort_index", {"sort_index": tid})
        return self._tids[key]

    def _next(self) -> int:
        return len(self._pids) + len(self._tids) + 1

    def _name(self, pid: int, tid: int, what: str, args: Mapping[str, Any]) -> None:
        self.events.append(f'{{"ph":"M","pid":{pid},"tid":{tid},"name":"{what}","args":{_text(args)}}}')
