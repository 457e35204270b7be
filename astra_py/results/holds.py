# SPDX-License-Identifier: GPL-2.0-only
"""What held senders back: how long a port had messages to send and did not send, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.engines.base import WindowPolicy
from astra_py.results.intervals import IntervalSet
from astra_py.results.traffic import integer_sums
from astra_py.results.work import PS_PER_BYTE, Work

if TYPE_CHECKING:
    from astra_py.results.record import RunRecord

__all__ = ["Hold", "Holds"]


@dataclass(frozen=True)
class Hold:
    """Why, how long and where a sender was held back, the time in which it sent all the same included.

    ``kind`` is ``window``, ``congestion`` or ``pause``.
    """

    kind: str
    time_ps: int
    where: str


class Holds:
    """What held back the senders of a run's messages.

    TCP says so itself, of each message while it was the first unsent of its socket. A RoCE NIC sends whenever it has
    something to send, unless its port is paused or a window or the congestion control holds its queue pairs: what its
    port's messages waited beyond their own time on it is one of these. What is left of a message after its last byte
    was sent, while losses are repaired, is congestion.
    """

    def __init__(self, record: RunRecord) -> None:
        self._record = record
        traffic, columns = record.traffic, record.columns
        #: Of each message, the time after its last byte was first sent in which what was lost of it was sent again.
        self._repairs = np.where(
            columns.message_retransmitted_packets > 0, columns.message_delivered_ps - columns.message_sent_ps, 0
        )
        line_bytes = traffic.line_bytes(record.transport, record.channel_efficiency)
        every = np.arange(len(traffic.size_bytes))
        port = traffic.there[traffic.there_ptr[:-1]][traffic.flow] if len(every) else np.zeros(0, dtype=np.int32)
        rate = np.repeat(record.arrays.link_rate_bps, 2)[port]
        #: Of each message on the wire: its first port, and the time that it needs of it.
        self._port = port.astype(np.int64)
        self._needs = line_bytes.of(every, port) * (PS_PER_BYTE / rate)
        self._begin = columns.message_posted_ps[traffic.whole] + record.transport.send_latency_ps
        self._end = np.where(self._repairs > 0, columns.message_delivered_ps, columns.message_sent_ps)[traffic.whole]
        self._by_port = np.argsort(self._port, kind="stable")
        self._ports = self._port[self._by_port]
        self._work: dict[int, Work] = {}
        self._pauses: dict[int, IntervalSet] = {}

    def longest(self, messages: NDArray[np.int64]) -> Hold | None:
        """What held back the sender of ``messages`` that was held longest; None where none was or nobody can tell."""
        if len(self._record.columns.message_cwnd_limited_ps):
            return self._of_sockets(messages)
        return self._of_ports(messages)

    def _of_sockets(self, messages: NDArray[np.int64]) -> Hold | None:
        columns, traffic = self._record.columns, self._record.traffic
        # the parts of a message on several sockets are held together, and told of once
        flow = traffic.flow[np.searchsorted(traffic.whole, messages)]
        flows, of_flow = np.unique(flow, return_inverse=True)
        repairs = self._repairs[messages]
        window = columns.message_rwnd_limited_ps[messages] + columns.message_sndbuf_limited_ps[messages]
        holds = []
        for kind, held in (("window", window), ("congestion", columns.message_cwnd_limited_ps[messages] + repairs)):
            total = integer_sums(of_flow, held, len(flows))
            worst = int(np.argmax(total))
            src, dst = traffic.flow_src[flows[worst]], traffic.flow_dst[flows[worst]]
            holds.append(Hold(kind, int(total[worst]), f"rank {src} to rank {dst}"))
        return max((hold for hold in holds if hold.time_ps > 0), key=lambda hold: hold.time_ps, default=None)

    def _of_ports(self, messages: NDArray[np.int64]) -> Hold | None:
        record = self._record
        on_wire = record.traffic.of_whole(messages)
        on_wire = on_wire[~record.traffic.is_message_scale_up[on_wire]]
        on_wire = on_wire[np.argsort(self._port[on_wire], kind="stable")]
        longest: Hold | None = None
        for mine in np.split(on_wire, np.flatnonzero(np.diff(self._port[on_wire])) + 1) if len(on_wire) else []:
            port = int(self._port[mine[0]])
            waiting = IntervalSet(self._begin[mine], self._end[mine])
            held = waiting.length - self._work_of(port).during(waiting.start, waiting.end)
            paused = self._pauses_of(port).covered(waiting.start, waiting.end).sum()
            kind = "pause" if 2 * paused > held else self._reason
            took = int(held + self._needs[mine].sum())
            if kind and held > 0 and (longest is None or took > longest.time_ps):
                longest = Hold(kind, took, record.channel_name(port))
        return longest

    @property
    def _reason(self) -> str:
        """What may hold queue pairs: the control where it acted, else the window."""
        transport, counters = self._record.transport, self._record.columns.counters
        has_window = transport.window_policy != WindowPolicy.NONE
        if counters.get("flows_slowed", 0) or self._record.has_repetitions:
            return "congestion"
        return "window" if has_window else "congestion" if transport.congestion_control else ""

    def _work_of(self, port: int) -> Work:
        if port not in self._work:
            rows = slice(np.searchsorted(self._ports, port), np.searchsorted(self._ports, port, side="right"))
            mine = self._by_port[rows]
            self._work[port] = Work(self._begin[mine], self._end[mine], self._needs[mine])
        return self._work[port]

    def _pauses_of(self, port: int) -> IntervalSet:
        if port not in self._pauses:
            columns = self._record.columns
            mine = columns.pause_channel == port
            self._pauses[port] = IntervalSet(columns.pause_start_ps[mine], columns.pause_end_ps[mine])
        return self._pauses[port]
