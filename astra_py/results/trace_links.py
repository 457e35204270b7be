# SPDX-License-Identifier: GPL-2.0-only
"""Links of a timeline: when each direction is busy, how busy, how much waits there, and when it is paused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.results.trace_events import Tracks, counter_text, slice_text
from astra_py.results.trace_lanes import lanes
from astra_py.results.trace_limits import Limits, Section, longest, said

if TYPE_CHECKING:
    from astra_py.results.result import Result

__all__ = ["FULL_PERCENT", "links_section"]

#: Counters of a channel, name and unit, each of a column of ``link_bins``.
_COUNTERS = {("utilisation", "%"): "utilisation_percent", ("longest queue", "B"): "max_queue_bytes"}
#: Digits after the point that are written of a utilisation.
_DIGITS = 3
#: A bin in which a link is used that much, or more, is named full.
FULL_PERCENT = 90.0


def links_section(result: Result, tracks: Tracks, limits: Limits) -> Section:
    """A process a direction of a link: a track of when it is busy, counters, and a track a priority that is paused.

    Of the links with bins the busiest are drawn, as many as have ``limits.link_values`` values of counters, and one at
    least; of equals the first ones. A slice is a row of neighbouring bins in which the link carried anything, named
    full where it was used to :data:`FULL_PERCENT` or more in each, and busy where it was not in any.
    """
    bins = _Bins(result)
    shown = bins.shown(limits.link_values)
    busy = bins.stretches(shown)
    long = longest(busy[:, 3] - busy[:, 2], limits.link_slices)
    pauses = result.columns("pauses")
    run_end = int(result.manifest["run"]["time_ps"])
    ends = np.where(pauses["end_ps"] < 0, run_end, pauses["end_ps"])
    held = longest(ends - pauses["start_ps"], limits.pauses)

    def events() -> Iterator[str]:
        for channel in sorted({*bins.channel[shown].tolist(), *pauses["channel"][held].tolist()}):
            pid = tracks.process(_title(result, channel))
            for row in np.flatnonzero(bins.channel[shown] == channel).tolist():
                yield from bins.slices(busy[long][busy[long][:, 0] == shown[row]], pid, tracks.track(pid, "busy"))
            mine = held[pauses["channel"][held] == channel]
            for priority in np.unique(pauses["priority"][mine]).tolist():
                rows = mine[pauses["priority"][mine] == priority]
                for i, lane in zip(rows.tolist(), lanes(pauses["start_ps"][rows], ends[rows]).tolist(), strict=True):
                    tid = tracks.track(pid, f"paused, priority {priority}", lane)
                    args = {"priority": priority, "by": str(pauses["by"][i])}
                    args |= {} if pauses["end_ps"][i] >= 0 else {"unfinished": True}
                    name = f"paused by {args['by']}"
                    yield slice_text(pid, tid, int(pauses["start_ps"][i]), int(ends[i]), name, args)
            for row in np.flatnonzero(bins.channel[shown] == channel).tolist():
                yield from bins.counters(int(shown[row]), pid)

    left_out = (
        *said("links", len(shown), len(bins.channel), "directions of links that are busiest are drawn"),
        *said("busy links", limits.link_slices, len(busy), "stretches that are longest are drawn"),
        *said("pauses", limits.pauses, len(ends)),
    )
    return Section(left_out, events)


def _title(result: Result, channel: int) -> str:
    links = result.columns("links")
    rate = float(links["rate_Gbps"][channel])
    return f"link {links['from'][channel]} to {links['to'][channel]}, {rate:g} Gb/s, channel {channel}"


@dataclass(frozen=True)
class _Bins:
    """``link_bins``, which has all bins of a channel before those of the next, by channel and bin."""

    result: Result

    @cached_property
    def count(self) -> int:
        """How many bins each channel has."""
        return int(self.result.columns("link_bins")["bin"].max(initial=-1)) + 1

    @cached_property
    def channel(self) -> NDArray[np.int64]:
        """The channels that have bins."""
        return self.result.columns("link_bins")["channel"][:: max(self.count, 1)].astype(np.int64)

    @cached_property
    def moments(self) -> NDArray[np.int64]:
        """Where bins begin, and the end of the last, in ps."""
        if not self.count:
            return np.zeros(1, dtype=np.int64)
        start_us, time_us = self.matrix("start_us")[0], self.matrix("time_us")[0]
        return np.round(np.append(start_us, start_us[-1] + time_us[-1]) * 1e6).astype(np.int64)

    def matrix(self, column: str) -> NDArray[np.float64]:
        """A column by channel and bin."""
        return self.result.columns("link_bins")[column].reshape(len(self.channel), self.count)

    def shown(self, most: int) -> NDArray[np.int64]:
        """The rows of the busiest channels, in order, as many as have ``most`` values of counters, and one at least."""
        if not self.count:
            return np.zeros(0, dtype=np.int64)
        # so far that what was carried in other bins counts as the same
        carried = np.round((self.matrix("utilisation_percent") * self.matrix("time_us")).sum(axis=1), 3)
        # a counter has a value a bin, and one at the end
        fit = max(most // (len(_COUNTERS) * (self.count + 1)), 1)
        return np.sort(np.argsort(-carried, kind="stable")[:fit])

    def stretches(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Bins in a row, all busy or all full; i64[n, 6]: row, is full, start, end, first bin, the bin after."""
        found = []
        for row in rows.tolist():
            state = np.where(self.matrix("line_bytes")[row] > 0, 1, 0)
            state += (state > 0) & (self.matrix("utilisation_percent")[row] >= FULL_PERCENT)
            first = np.flatnonzero(np.diff(state, prepend=-1))
            last = np.append(first[1:], self.count)
            is_used = state[first] > 0
            first, last = first[is_used], last[is_used]
            of_row = np.full(len(first), row)
            found.append([of_row, state[first] == 2, self.moments[first], self.moments[last], first, last])
        if not found:
            return np.zeros((0, 6), dtype=np.int64)
        return np.concatenate([np.column_stack(each) for each in found]).astype(np.int64)

    def slices(self, stretches: NDArray[np.int64], pid: int, tid: int) -> Iterator[str]:
        """The slices of :meth:`stretches` of one row."""
        for row, is_full, start, end, first, last in stretches.tolist():
            used, time_us = self.matrix("utilisation_percent")[row, first:last], self.matrix("time_us")[row, first:last]
            args = {
                "line_bytes": int(self.matrix("line_bytes")[row, first:last].sum()),
                "utilisation_percent": round(float((used * time_us).sum() / time_us.sum()), _DIGITS),
                "max_queue_bytes": int(self.matrix("max_queue_bytes")[row, first:last].max()),
            }
            yield slice_text(pid, tid, start, end, "full" if is_full else "busy", args)

    def counters(self, row: int, pid: int) -> Iterator[str]:
        """The counters of a row, from the begin of each bin; both end at 0. A value is written where it changes."""
        moments = self.moments.tolist()
        for counter, column in _COUNTERS.items():
            before = None
            for moment, value in zip(moments, [*np.round(self.matrix(column)[row], _DIGITS).tolist(), 0], strict=True):
                if value != before:
                    yield counter_text(pid, moment, *counter, value)
                before = value
