# SPDX-License-Identifier: GPL-2.0-only
"""The oracle's queue pair: what both its ends decide. No time passes here.

* A message is cut into packets, numbered through all messages of the queue pair. A window lets it send while its
  unacknowledged payload is below it. An ACK or NAK names the packet that the receiver expects, and so acknowledges all
  before. An ACK is made when a packet's last byte arrived; under ``every``, for each N-th packet since the last one;
  always for a message's last packet, for one that fills the window, and for one that has come before.
* Go-back-N: the receiver drops what comes after a gap and makes one NAK for the gap. On a NAK, and when the timer runs
  out, the sender goes back to the first unacknowledged packet.
* Selective repeat (IRN, SIGCOMM 2018): the receiver keeps what comes after a gap and makes a NAK for each, which names
  it too. The first NAK begins a recovery that ends when all sent by then is acknowledged: what is missing before a
  packet known to have come is sent again, once, before anything new; when the timer runs out, all that is missing.
* The timer runs while a packet that has an ACK due is unacknowledged; from when the first such was sent, something new
  was acknowledged, or it ran out. It doubles with each time it runs out in a row. Once set it is not moved: when it
  fires too early, it is set again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

SENT, DELIVERED, ACKED = 0, 1, 2
PER_PACKET, EVERY, PER_MESSAGE, OUT_OF_BAND = "per_packet", "every", "per_message", "out_of_band"
MOST_DOUBLINGS = 16


# Figures of the transport; ``header`` and ``ack`` None are RoCEv2's own, ``window`` and ``timeout_ps`` None are none.
@dataclass(frozen=True)
class Transport:
    payload: int = 4096
    header: int | None = None
    ack: int | None = None
    ack_policy: str = PER_PACKET
    ack_every: int = 1
    is_ack_class_shared: bool = False
    window: int | None = None
    qps_per_peer: int = 1
    send_latency_ps: int = 0
    receive_latency_ps: int = 0
    is_ns_nearest: bool = False
    notify_on: int = DELIVERED
    timeout_ps: int | None = None
    is_selective: bool = False

    @property
    def largest_line(self) -> int:
        return self.payload + (98 if self.header is None else self.header)


# A packet, whenever and however often it is sent.
@dataclass(frozen=True)
class Packet:
    op: int
    payload: int
    line_bytes: int
    is_last: bool


@dataclass(eq=False)
class QueuePair:
    """Both ends of one; ``route`` starts with its NIC port, ``t`` has its rules."""

    key: tuple[int, int]
    priority: int
    route: Sequence[int]
    reverse: Sequence[int]
    t: Transport
    packets: list[Packet] = field(default_factory=list)
    bytes_before: list[int] = field(default_factory=lambda: [0])
    # The sender's:
    next: int = 0
    highest: int = 0  # one past the last that was ever sent
    unacked: int = 0
    told: set[int] = field(default_factory=set)  # of those after a gap, what is known to have come
    lost_before: int = 0  # what is before, and neither acknowledged nor told, is missing
    repeat: int = 0  # the first that this recovery has not been at
    recovery_end: int = 0
    due: int = 0  # one past the last that has an ACK due
    since_ps: int = 0  # the timer's time runs
    doublings: int = 0
    is_timer_set: bool = False
    # The receiver's:
    expected: int = 0
    kept: dict[int, bool] = field(default_factory=dict)  # after a gap, and whether they ask for an ACK
    unacked_packets: int = 0
    is_nak_made: bool = False

    def add(self, op: int, size: int) -> None:
        for start in range(0, max(size, 1), self.t.payload):
            payload = min(size - start, self.t.payload)
            roce = (payload + 3) // 4 * 4 + 82 + 16 * (start == 0)
            line = roce if self.t.header is None else payload + self.t.header
            self.packets.append(Packet(op, payload, line, start + payload == size))
            self.bytes_before.append(self.bytes_before[-1] + payload)

    @property
    def every(self) -> float:
        return {PER_MESSAGE: math.inf, EVERY: self.t.ack_every}.get(self.t.ack_policy, 1)

    def is_open(self) -> bool:
        in_flight = self.bytes_before[self.next] - self.bytes_before[self.unacked]
        return self.t.window is None or in_flight < self.t.window

    def turn(self) -> int | None:
        """Return the number of the packet that would be sent now."""
        missing = (n for n in range(max(self.repeat, self.unacked), self.lost_before) if n not in self.told)
        is_new_ready = self.next < len(self.packets) and self.is_open()
        return next(missing, self.next if is_new_ready else None)

    def send(self, now: int) -> tuple[int, bool, bool]:
        """Send a packet: its number, whether it asks for an ACK, and whether it is sent for the first time."""
        number = self.turn()
        assert number is not None
        if number == self.next:
            self.next += 1
        else:
            self.repeat = number + 1
        is_new = self.next > self.highest
        self.highest = max(self.highest, self.next)
        asks = self.packets[number].is_last or not self.is_open()
        if asks or number + 1 - self.unacked >= self.every:
            if self.due <= self.unacked:
                self.since_ps = now
            self.due = max(self.due, number + 1)
        return number, asks, is_new

    def receive(self, number: int, asks: bool) -> tuple[str, list[int]]:
        """Take packet ``number``: return "ack", "nak" or "" for what is made, and the messages that are complete."""
        if number < self.expected or number in self.kept:
            return "ack", []
        if number > self.expected:
            is_nak_due = self.t.is_selective or not self.is_nak_made
            self.is_nak_made = True
            if self.t.is_selective:
                self.kept[number] = asks
            return "nak" if is_nak_due else "", []
        first = self.expected
        self.kept[number] = asks
        is_asked = False
        while self.expected in self.kept:
            is_asked |= self.kept.pop(self.expected)
            self.expected += 1
        self.is_nak_made = False
        self.unacked_packets += self.expected - first
        complete = [packet.op for packet in self.packets[first : self.expected] if packet.is_last]
        return "ack" if is_asked or self.unacked_packets >= self.every else "", complete

    def learn(self, expected: int, told: int | None, now: int) -> list[int]:
        """Hear an ACK, or a NAK made for packet ``told``: return the messages that are acknowledged."""
        if not self.unacked <= expected <= self.highest:
            return []
        complete = [packet.op for packet in self.packets[self.unacked : expected] if packet.is_last]
        if expected > self.unacked:
            self.unacked, self.since_ps, self.doublings = expected, now, 0
            self.next = max(self.next, expected)
        if told is not None and self.t.is_selective:
            self.told.add(told)
            self.lost_before = max(self.lost_before, told)
            self.recover()
        elif told is not None:
            self.next = self.unacked
        return complete

    def recover(self) -> None:
        if self.unacked >= self.recovery_end:
            self.recovery_end, self.repeat = self.highest, self.unacked

    def deadline(self) -> int:
        return self.since_ps + ((self.t.timeout_ps or 0) << self.doublings)

    def time_out(self, now: int) -> bool:
        """The timer fires: return whether it has run out."""
        if self.due <= self.unacked or now < self.deadline():
            return False
        self.doublings = min(self.doublings + 1, MOST_DOUBLINGS)
        self.since_ps = now
        if self.t.is_selective:
            self.lost_before, self.recovery_end, self.repeat = self.highest, self.highest, self.unacked
        else:
            self.next = self.unacked
        return True
