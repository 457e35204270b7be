# SPDX-License-Identifier: GPL-2.0-only
"""The log of a watched run, to be asked: what was on a wire, what held a queue pair, whether a port was paused."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from astra_py.engines.watch import FrameKind, Hold

if TYPE_CHECKING:
    from astra_py.engines.base import EngineColumns
    from astra_py.engines.watch import WatchLog
    from astra_py.results.record import RunRecord

__all__ = ["FrameIndex", "Span"]

#: A pause that had not ended when the run did.
_FOREVER = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Span:
    """Some time, and what was then."""

    start_ps: int
    end_ps: int
    hold: Hold = Hold.NOTHING


@dataclass(frozen=True, slots=True)
class _Wire:
    """Frames of one channel in order: rows of the log, and their times."""

    row: list[int]
    start: list[int]
    end: list[int]


class FrameIndex:
    """Look-ups in the log of a watched run.

    Parameters
    ----------
    record : the run; its engine wrote a log.
    """

    def __init__(self, record: RunRecord) -> None:
        columns: EngineColumns = record.columns
        if columns.log is None:
            raise ValueError("the run was not watched")
        self.log: WatchLog = columns.log
        self._columns = columns
        self._wires: dict[int, _Wire] = {}
        order = np.argsort(self.log.frame_channel, kind="stable")
        channels = len(columns.channel_frames)
        self._order = order
        self._begin = np.searchsorted(self.log.frame_channel[order], np.arange(channels + 1))
        self._pauses: dict[tuple[int, int], list[Span]] = {}
        for channel, priority, start, end in zip(
            columns.pause_channel.tolist(),
            columns.pause_priority.tolist(),
            columns.pause_start_ps.tolist(),
            columns.pause_end_ps.tolist(),
            strict=True,
        ):
            span = Span(start, _FOREVER if end < 0 else end)
            self._pauses.setdefault((channel, priority), []).append(span)

    def wire(self, channel: int) -> _Wire:
        """The frames of a channel."""
        if channel not in self._wires:
            row = self._order[self._begin[channel] : self._begin[channel + 1]]
            log = self.log
            self._wires[channel] = _Wire(row.tolist(), log.frame_start_ps[row].tolist(), log.frame_end_ps[row].tolist())
        return self._wires[channel]

    def ending(self, channel: int, at: int) -> int:
        """The frame whose last bit leaves at ``at``, or -1."""
        wire = self.wire(channel)
        i = bisect_left(wire.end, at)
        return wire.row[i] if i < len(wire.end) and wire.end[i] == at else -1

    def before(self, channel: int, at: int) -> int:
        """The frame that was on the wire last before ``at``, or is then, having begun before; -1 where none was."""
        wire = self.wire(channel)
        i = bisect_left(wire.start, at)
        return wire.row[i - 1] if i else -1

    def are_same(self, one: int, other: int) -> bool:
        """Whether two rows are of one packet on two channels."""
        log = self.log
        return bool(
            log.frame_flow[one] == log.frame_flow[other]
            and log.frame_psn[one] == log.frame_psn[other]
            and log.frame_kind[one] == log.frame_kind[other]
            and log.frame_src[one] == log.frame_src[other]
        )

    @cached_property
    def _first_sendings(self) -> dict[tuple[int, int], int]:
        """By queue pair and sequence number: the first frame that a NIC sent of it.

        A log is far too short for numbers to come again, and a connection that may repeat packets keeps its index.
        """
        log = self.log
        found: dict[tuple[int, int], int] = {}
        is_sent = (log.frame_kind == FrameKind.DATA) & (log.frame_ingress < 0)
        for row in np.flatnonzero(is_sent).tolist():
            found.setdefault((int(log.frame_flow[row]), int(log.frame_psn[row])), row)
        return found

    def first_sending(self, row: int) -> int:
        """The first time that a packet was sent, as far as the log has it."""
        return self._first_sendings[int(self.log.frame_flow[row]), int(self.log.frame_psn[row])]

    @cached_property
    def _flow_starts(self) -> dict[int, tuple[list[int], list[int]]]:
        log = self.log
        found: dict[int, tuple[list[int], list[int]]] = {}
        is_sent = (log.frame_kind == FrameKind.DATA) & (log.frame_ingress < 0)
        for row in np.flatnonzero(is_sent).tolist():
            rows, starts = found.setdefault(int(log.frame_flow[row]), ([], []))
            rows.append(row)
            starts.append(int(log.frame_start_ps[row]))
        return found

    def sent_before(self, flow: int, at: int) -> int:
        """The packet of a queue pair that any of its ports began to send last before ``at``, or -1."""
        rows, starts = self._flow_starts.get(flow, ([], []))
        i = bisect_left(starts, at)
        return rows[i - 1] if i else -1

    @cached_property
    def _holds(self) -> dict[int, tuple[list[int], list[int]]]:
        log = self.log
        found: dict[int, tuple[list[int], list[int]]] = {}
        for flow, hold, at in zip(log.hold_flow.tolist(), log.hold.tolist(), log.hold_ps.tolist(), strict=True):
            times, holds = found.setdefault(flow, ([], []))
            times.append(at)
            holds.append(hold)
        return found

    def hold_before(self, flow: int, at: int) -> Span:
        """What held a queue pair back just before ``at``, and from when on; it ends at ``at`` or later."""
        times, holds = self._holds.get(flow, ([], []))
        i = bisect_left(times, at)
        end = times[i] if i < len(times) else _FOREVER
        return Span(times[i - 1], end, Hold(holds[i - 1])) if i else Span(0, end)

    def pause_before(self, channel: int, priority: int, at: int) -> Span | None:
        """The pause that held a priority of a port just before ``at``, or None."""
        spans = self._pauses.get((channel, priority), [])
        i = bisect_left(spans, at, key=lambda span: span.start_ps)
        return spans[i - 1] if i and spans[i - 1].end_ps >= at else None

    def last_release(self, channel: int, priority: int, at: int) -> int:
        """When the last pause of a priority of a port that was over before ``at`` ended, or -1."""
        spans = self._pauses.get((channel, priority), [])
        i = bisect_left(spans, at, key=lambda span: span.end_ps)
        return spans[i - 1].end_ps if i else -1
