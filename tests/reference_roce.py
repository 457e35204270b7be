# SPDX-License-Identifier: GPL-2.0-only
"""The oracle's queue pair: what both its ends decide. No time passes here.

* A message is cut into packets, numbered through all messages of the queue pair. A window lets it send while its
  unacknowledged payload is below it. An ACK or NAK names the packet that it was made for and the one that the receiver
  expects then, and so acknowledges all before. An ACK is made when a packet's last byte arrived; under ``every``, for
  each N-th packet since the last one; always for a message's last packet, for one that fills the window, for one that
  has come before, and for one that comes in order while others are kept.
* Go-back-N: the receiver drops what comes after a gap and makes one NAK for the gap. On a NAK, and when the timer runs
  out, the sender goes back to the first unacknowledged packet.
* Selective repeat (IRN, SIGCOMM 2018): the receiver keeps what comes after a gap and makes a NAK for each that is new.
  A NAK or the timer begins a recovery that ends when all sent by then is acknowledged. In it what is missing
  before a packet known to have come is sent again, before anything new and once until the timer runs out; then also the
  oldest, and what was sent before the timer's time began.
* The timer runs while a packet that asked for an ACK is unacknowledged, or as many as the policy answers with one. Its
  time begins when a packet makes that so, when something new is acknowledged, when it runs out, and when the oldest is
  selectively repeated, for which it waits. It doubles with each time it runs out until something new is acknowledged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from reference_pace import Pace

SENT, DELIVERED, ACKED = 0, 1, 2
PER_PACKET, EVERY, PER_MESSAGE, OUT_OF_BAND = "per_packet", "every", "per_message", "out_of_band"
MOST_DOUBLINGS = 16


# Figures of the transport; ``header`` and ``ack`` None are RoCEv2's own; ``window``, ``timeout_ps`` and
# ``cnp_interval_ps`` None are none, and without the last no packet can be marked. ``dcqcn`` has figures of the reaction
# to CNPs, which a queue pair has for itself or shares with the others between its ranks; None is no reaction.
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
    cnp_interval_ps: int | None = None
    dcqcn: dict[str, Any] | None = None
    is_pace_shared: bool = False

    @property
    def largest_line(self) -> int:
        return (self.payload + 3) // 4 * 4 + 98 if self.header is None else self.payload + self.header


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
    pace: Pace | None = None
    packets: list[Packet] = field(default_factory=list)
    bytes_before: list[int] = field(default_factory=lambda: [0])
    # The sender's:
    next: int = 0
    highest: int = 0  # one past the last that was ever sent
    unacked: int = 0
    asked: int = 0  # one past the last that asked for an ACK
    told: set[int] = field(default_factory=set)  # known to have come
    repeated: set[int] = field(default_factory=set)  # since the timer ran out
    given_up: set[int] = field(default_factory=set)  # when the timer ran out
    recovery_end: int = 0
    since_ps: int = 0  # the timer's time runs
    sent_by_then: int = 0  # one past the last that was sent before
    doublings: int = 0
    # The receiver's:
    expected: int = 0
    kept: set[int] = field(default_factory=set)  # what came after a gap
    unacked_packets: int = 0
    is_nak_made: bool = False
    last_cnp_ps: int | None = None

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

    def missing(self) -> list[int]:
        """Return what is to be repeated selectively."""
        if self.unacked >= self.recovery_end:
            return []
        before = set(range(self.unacked, max(self.told, default=0))) | self.given_up
        return sorted(n for n in before - self.told - self.repeated if n >= self.unacked)

    def turn(self) -> int | None:
        """Return the number of the packet that would be sent now."""
        is_new_ready = self.next < len(self.packets) and self.is_open()
        return next(iter(self.missing()), self.next if is_new_ready else None)

    def is_ack_due(self) -> bool:
        is_repeat_awaited = self.unacked in self.missing()
        return not is_repeat_awaited and (self.asked > self.unacked or self.next - self.unacked >= self.every)

    def send(self, now: int) -> tuple[int, bool, bool]:
        """Send a packet: its number, whether it asks for an ACK, and whether it is sent for the first time."""
        number, was_due = self.turn(), self.is_ack_due()
        assert number is not None
        if number == self.next:
            self.next += 1
        else:
            self.repeated.add(number)
        is_new = self.next > self.highest
        self.highest = max(self.highest, self.next)
        asks = self.packets[number].is_last or not self.is_open()
        if asks:
            self.asked = max(self.asked, number + 1)
        if self.is_ack_due() and not was_due:
            self.start_time(now)
        return number, asks, is_new

    def start_time(self, now: int) -> None:
        self.since_ps, self.sent_by_then = now, self.highest

    def receive(self, number: int, asks: bool) -> tuple[str, list[int]]:
        """Take packet ``number``: return "ack", "nak" or "" for what is made, and the messages that are complete."""
        if number < self.expected or number in self.kept:
            return "ack", []
        if number > self.expected:
            is_nak_due = self.t.is_selective or not self.is_nak_made
            self.is_nak_made = True
            if self.t.is_selective:
                self.kept.add(number)
            return "nak" if is_nak_due else "", []
        first, is_asked = self.expected, asks or bool(self.kept)
        self.kept.add(number)
        while self.expected in self.kept:
            self.kept.remove(self.expected)
            self.expected += 1
        self.is_nak_made = False
        self.unacked_packets += self.expected - first
        complete = [packet.op for packet in self.packets[first : self.expected] if packet.is_last]
        return "ack" if is_asked or self.unacked_packets >= self.every else "", complete

    def is_cnp_due(self, now: int) -> bool:
        """A packet has come marked: return whether it makes a CNP."""
        assert self.t.cnp_interval_ps is not None
        if self.last_cnp_ps is not None and now - self.last_cnp_ps < self.t.cnp_interval_ps:
            return False
        self.last_cnp_ps = now
        return True

    def learn(self, reply: str, expected: int, came: int, now: int) -> list[int]:
        """Hear an ACK or NAK made when packet ``came`` did: return the messages that are acknowledged."""
        if not self.unacked <= expected <= self.highest:
            return []
        complete = [packet.op for packet in self.packets[self.unacked : expected] if packet.is_last]
        if expected > self.unacked:
            self.unacked, self.doublings = expected, 0
            self.next = max(self.next, expected)
            self.start_time(now)
        if self.t.is_selective:
            self.told.add(came)
            if reply == "nak" and self.unacked >= self.recovery_end:
                self.recovery_end = self.highest
        elif reply == "nak":
            self.go_back()
        return complete

    def go_back(self) -> None:
        self.next = self.asked = self.unacked

    def deadline(self) -> int | None:
        """Return when the timer runs out, or None."""
        if self.t.timeout_ps is None or not self.is_ack_due():
            return None
        return self.since_ps + (self.t.timeout_ps << self.doublings)

    def time_out(self) -> None:
        """The timer has run out."""
        if self.t.is_selective:
            self.recovery_end = self.highest
            self.given_up = {self.unacked, *range(self.unacked, self.sent_by_then)}
            self.repeated = set()
        else:
            self.go_back()
        self.doublings = min(self.doublings + 1, MOST_DOUBLINGS)
