# SPDX-License-Identifier: GPL-2.0-only
"""The oracle of TCP where nothing is lost: messages on byte streams, windows in slow start, delayed ACKs.

It shares no code with the product; wires, ports and switches are :mod:`reference_fabric`'s.

* A connection is (source, destination, priority) and a socket's index, of one direction, open from the start. Its
  messages are bytes of one stream in order of posting; one without bytes is one byte.
* A host's core does one thing after another, in order of coming: the call that posts a message, the copies of what is
  written and of what is read (64 KiB at a time), a segment on its way down, any packet on its way up, and the call that
  returns a message. What costs nothing is done at once. A connection is on the core of its socket's index at both ends.
* The application copies a segment after the other into a send buffer without end. TCP has of that while fewer than
  ``unsent_limit`` bytes are not past the port, so much that it waits with whole segments, or a message's end.
* A socket that is written to sends one time step of ns-3 later; on an ACK it sends at once.
* A socket sends while a whole segment, or all that is written, fits into the window; segments do not respect messages.
* The receiver acknowledges the first segment, then every ``delayed_ack``, or a while after the first one that it
  did not.
* A sender that has heard nothing knows of a window without scaling (RFC 7323, 2.2); then of all that it needs.
* In slow start, where all of this stays, an ACK is worth a segment of window (ns-3's TcpNewReno).
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from reference_fabric import Fabric
from reference_port import Channel, Frame, Node
from reference_switch import Switch

#: Ethernet, IPv4, TCP with its timestamp option, FCS; the least frame; preamble and gap.
HEADERS, LEAST_FRAME, PREAMBLE_AND_GAP = 14 + 20 + 20 + 12 + 4, 64, 20
#: ns-3's TcpSocketBase::Send waits a time step, so that an application may fill the buffer first.
WRITE_PS = 1
UNSCALED_WINDOW = 65_535
READ_PIECE = 65_536
Route = Callable[[int, int, int], Sequence[int]]


def line_bytes(payload: int) -> int:
    """Return what a segment occupies on the wire."""
    return PREAMBLE_AND_GAP + max(LEAST_FRAME, HEADERS + payload)


@dataclass(frozen=True)
class Message:
    src: int
    dst: int
    size: int
    posted_ps: int = 0
    priority: int = 0


@dataclass(frozen=True)
class Tcp:
    mss: int = 1448
    initial_window: int = 10  # segments
    delayed_ack: int = 2  # segments
    delayed_ack_ps: int = 2_500_000_000
    unsent_limit: int = 65_536
    sockets: int = 1
    send_latency_ps: int = 0
    receive_latency_ps: int = 0


@dataclass(frozen=True)
class Host:
    per_message_ps: int = 0
    per_segment_ps: int = 0
    per_packet_ps: int = 0
    copy_bps: int = 0  # copies are free
    cores: int = 8

    def copy_ps(self, size: int) -> int:
        return -(-8 * size * 10**12 // self.copy_bps) if self.copy_bps else 0


# Both ends of a connection. Positions are bytes of its stream; ``ends`` are those of messages, and whose.
@dataclass(eq=False)
class Connection:
    src: int
    dst: int
    core: int
    priority: int
    route: Sequence[int]
    reverse: Sequence[int]
    window: int
    waiting: int  # segments for their ACK
    ends: list[tuple[int, int]] = field(default_factory=list)
    posted: int = 0
    called: int = 0  # how far messages may be written
    copied: int = 0
    copying: int = 0
    written: int = 0
    sent: int = 0
    past_port: int = 0
    acked: int = 0
    received: int = 0
    read: int = 0
    part: int = 0  # of a segment, acknowledged beside whole ones
    delays: int = 0  # ACKs that were delayed, or not: one that is late is known by its number
    is_writing: bool = False
    is_reading: bool = False

    def within(self, after: int, to: int) -> list[int]:
        """Return the messages that end in (after, to]."""
        return [number for end, number in self.ends if after < end <= to]

    def end_after(self, position: int) -> int:
        return next(end for end, _ in self.ends if end > position)


@dataclass(eq=False, kw_only=True)
class Segment(Frame):
    connection: Connection
    end: int  # of its bytes in the stream, or how far it acknowledges


class TcpSimulator(Fabric):
    """``run()``, then read ``sent``, ``delivered``, ``acked``: picoseconds, a row a message."""

    def __init__(
        self,
        nodes: Sequence[Node],
        channels: Sequence[Channel],
        route: Route,
        messages: Sequence[Message],
        tcp: Tcp = Tcp(),
        switch: Switch = Switch(),  # noqa: B008  (frozen)
        host: Host = Host(),
    ) -> None:
        priorities = {message.priority for message in messages}
        super().__init__(nodes, channels, switch, line_bytes(tcp.mss), priorities, False, 1)
        self.route, self.tcp, self.messages, self.host = route, tcp, messages, host
        self.free_ps: dict[tuple[int, int], int] = defaultdict(int)  # by rank and core
        self.connections: dict[tuple[int, int, int, int], Connection] = {}
        self.posts: dict[tuple[int, int, int], int] = defaultdict(int)
        self.sent: list[int | None] = [None] * len(messages)
        self.delivered, self.acked = self.sent.copy(), self.sent.copy()
        self.segments = self.acks = 0
        for number, message in enumerate(messages):
            self.at(message.posted_ps + tcp.send_latency_ps, lambda n=number: self.post(n))  # type: ignore[misc]

    def run(self) -> TcpSimulator:
        while self.heap:
            self.now, _, _, _, action = heapq.heappop(self.heap)
            action()
        return self

    def offered(self, number: int) -> set[int]:
        return set()  # a port has its FIFOs alone: what a socket sends is in them at once

    def next_packet(self, number: int, q: int) -> Frame:
        raise AssertionError("nothing is offered")

    def work(self, rank: int, c: Connection, time_ps: int, action: Callable[[], None]) -> None:
        """Have the connection's core at a rank do something that takes so long."""
        if time_ps == 0:
            return action()
        self.free_ps[rank, c.core] = max(self.free_ps[rank, c.core], self.now) + time_ps
        return self.at(self.free_ps[rank, c.core], action)

    def post(self, number: int) -> None:
        message = self.messages[number]
        peer = (message.src, message.dst, message.priority)
        index = self.posts[peer] % self.tcp.sockets
        self.posts[peer] += 1
        c = self.connections.get((*peer, index))
        if c is None:
            ways = [self.route(a, b, index) for a, b in ((message.src, message.dst), (message.dst, message.src))]
            window, waiting = self.tcp.initial_window * self.tcp.mss, self.tcp.delayed_ack - 1
            core = index % self.host.cores
            c = self.connections[*peer, index] = Connection(
                message.src, message.dst, core, message.priority, *ways, window, waiting
            )
        c.posted += max(message.size, 1)
        c.ends.append((c.posted, number))
        end = c.posted
        self.work(c.src, c, self.host.per_message_ps, lambda: self.call(c, end))

    def call(self, c: Connection, end: int) -> None:
        c.called = end
        self.write(c)

    def write(self, c: Connection) -> None:
        """Let the application copy into the send buffer, a segment at a time, and TCP have what it may."""
        while c.copying == 0 and c.copied < c.called:
            c.copying = min(self.tcp.mss, c.end_after(c.copied) - c.copied)
            self.work(c.src, c, self.host.copy_ps(c.copying), lambda: self.copied_in(c))
        while c.written < c.copied and c.written - c.past_port < self.tcp.unsent_limit:
            kept, there = c.written - c.sent, c.copied - c.written
            upto = kept + self.tcp.unsent_limit - (c.written - c.past_port)
            size = min(-(-upto // self.tcp.mss) * self.tcp.mss - kept, c.end_after(c.written) - c.written)
            size = size if size <= there else (kept + there) // self.tcp.mss * self.tcp.mss - kept
            if size <= 0:
                break
            c.written += size
            if not c.is_writing:
                c.is_writing = True
                self.at(self.now + WRITE_PS, lambda: self.send_written(c))

    def copied_in(self, c: Connection) -> None:
        c.copied += c.copying
        c.copying = 0
        if self.host.copy_bps:
            self.write(c)

    def send_written(self, c: Connection) -> None:
        c.is_writing = False
        self.send(c)

    def send(self, c: Connection) -> None:
        """Send all that the window lets through."""
        while c.sent < c.written:
            window = c.window if c.acked else min(c.window, UNSCALED_WINDOW)
            room, left = window - (c.sent - c.acked), c.written - c.sent
            if room < min(self.tcp.mss, left):
                break
            size = min(self.tcp.mss, left)
            c.sent += size
            self.segments += 1
            segment = self.frame(c, c.route, size, c.sent)
            self.work(c.src, c, self.host.per_segment_ps, lambda segment=segment: self.enqueue(segment))  # type: ignore[misc]

    def frame(self, c: Connection, route: Sequence[int], payload: int, end: int) -> Segment:
        line = line_bytes(payload)
        return Segment(
            line_bytes=line,
            frame_bytes=line - PREAMBLE_AND_GAP,
            priority=c.priority,
            transit=c.priority,
            route=route,
            payload=payload,
            connection=c,
            end=end,
        )

    def start(self, number: int, frame: Frame) -> None:
        super().start(number, frame)
        if frame.payload and frame.hop == 0:
            self.at(self.ports[number].end_ps, lambda: self.leave(frame))

    def leave(self, frame: Frame) -> None:
        assert isinstance(frame, Segment)
        c = frame.connection
        for number in c.within(c.past_port, frame.end):
            self.sent[number] = self.now
        c.past_port = frame.end
        self.write(c)

    def arrive(self, frame: Frame) -> None:
        assert isinstance(frame, Segment)
        c = frame.connection
        come_up, rank = (self.receive, c.dst) if frame.payload else (self.learn, c.src)
        self.work(rank, c, self.host.per_packet_ps, lambda: come_up(c, frame.end))

    def receive(self, c: Connection, end: int) -> None:
        c.received = end
        c.waiting += 1
        if c.waiting == self.tcp.delayed_ack:
            self.acknowledge(c)
        elif c.waiting == 1:  # the first since an ACK
            late = c.delays
            self.at(self.now + self.tcp.delayed_ack_ps, lambda: self.acknowledge(c) if late == c.delays else None)
        self.read(c)

    def read(self, c: Connection) -> None:
        """Let the application read all that is there, a copy at a time."""
        if not c.is_reading and c.read < c.received:
            c.is_reading = True
            size = min(c.received - c.read, READ_PIECE)
            self.work(c.dst, c, self.host.copy_ps(size), lambda: self.copied_out(c, size))

    def copied_out(self, c: Connection, size: int) -> None:
        c.read += size
        c.is_reading = False
        for number in c.within(c.read - size, c.read):
            self.work(c.dst, c, self.host.per_message_ps, lambda n=number: self.deliver(n))  # type: ignore[misc]
        self.read(c)

    def deliver(self, number: int) -> None:
        self.delivered[number] = self.now + self.tcp.receive_latency_ps

    def acknowledge(self, c: Connection) -> None:
        c.waiting = 0
        c.delays += 1
        self.acks += 1
        self.enqueue(self.frame(c, c.reverse, 0, c.received))

    def learn(self, c: Connection, end: int) -> None:
        for number in c.within(c.acked, end):
            self.acked[number] = self.now
        segments, c.part = divmod(c.part + end - c.acked, self.tcp.mss)
        c.acked = end
        c.window += self.tcp.mss if segments else 0
        self.send(c)
