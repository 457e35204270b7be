# SPDX-License-Identifier: GPL-2.0-only
"""The oracle between the NICs: clock, wires and ports, and the way of a frame through them, with pauses and losses.

* An instant has four stages: releases of what has left, by egress port; last bytes, by channel, those of one channel as
  they were sent; all that is timed, in order of scheduling; picks of free ports, by port.
* A port whose last frame has left, this instant included, and that has nothing to pick starts at once what reaches it.
  It picks PAUSE and RESUME, then by priority, 7 first: its FIFO, then its NIC's packets. What is paused is not there.
* A frame that came by Ethernet and goes on is charged to the node's buffer when its last byte has come, before the
  node's latency, and released when its last bit has left; it may be marked on coming to its port, or on leaving it.
* A PAUSE or RESUME acts on the transmitter a response time after it came. A PAUSE ends by a RESUME or after its quanta;
  it is made again each half of them, until its (channel, priority) resumes.
"""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from reference_switch import LOSS, MARK, PFC_LINE, QUANTUM_BITS, Buffer, Switch, draw

RELEASE, LAST_BYTE, TIMED, PICK = range(4)


# A rank's NIC (``rank`` >= 0) or a switch (-1), and the latency of what it forwards.
@dataclass(frozen=True)
class Node:
    rank: int = -1
    latency_ps: int = 0


# One direction of a link, from node ``tx`` to node ``rx``; where there are pauses, c and c ^ 1 are a link.
@dataclass(frozen=True)
class Channel:
    tx: int
    rx: int
    rate_bps: int
    delay_ps: int
    efficiency_ppm: int = 0  # of a scale-up link; 0 is Ethernet
    loss: float = 0.0


# What goes along ``route``. ``frame_bytes`` is what it takes of a buffer; ``transit`` is its priority wherever it is
# passed on, and for pauses.
@dataclass(eq=False, kw_only=True)
class Frame:
    line_bytes: int
    frame_bytes: int
    priority: int
    transit: int
    route: Sequence[int]
    payload: int = 0
    is_ecn_capable: bool = False
    is_marked: bool = False
    hop: int = 0


# The transmitter of a channel.
@dataclass(eq=False)
class Port:
    end_ps: int = 0  # of its last frame
    sending: Frame | None = None  # that frame; None for PAUSE and RESUME
    queues: list[deque[Frame]] = field(default_factory=lambda: [deque() for _ in range(8)])
    pfc: deque[tuple[int, int]] = field(default_factory=deque)  # priority and quanta, 0 of RESUME
    paused_until_ps: list[int] = field(default_factory=lambda: [0] * 8)
    frames: int = 0
    line_bytes: int = 0
    numbered: int = 0  # of the frames, all but PAUSE and RESUME
    lost: int = 0
    dropped: int = 0  # of what this channel brought, by the buffer at its end
    marked: int = 0
    draws: int = 0  # for marks


class Fabric(ABC):
    """Nodes and channels; whoever derives from it adds the NICs. ``pauses`` are [start, channel, priority, end]."""

    def __init__(
        self,
        nodes: Sequence[Node],
        channels: Sequence[Channel],
        switch: Switch,
        largest_line: int,
        priorities: set[int],
        is_ns_nearest: bool,
        seed: int,
    ) -> None:
        self.nodes, self.channels, self.switch = nodes, channels, switch
        self.is_ns_nearest, self.seed = is_ns_nearest, seed
        self.heap: list[tuple[int, int, int, int, Callable[[], None]]] = []
        self.now = self.scheduled = 0
        self.ports = [Port() for _ in channels]
        headrooms: dict[int, dict[int, int]] = defaultdict(dict)
        for number, c in enumerate(channels):
            if switch.buffer and not c.efficiency_ppm:
                headrooms[c.rx][number] = switch.headroom_of(c.rate_bps, c.delay_ps, largest_line)
        reserve = switch.reserve_of(largest_line)
        self.buffers = {node: Buffer(switch, reserve, rooms, priorities) for node, rooms in headrooms.items()}
        self.pauses: list[list[int]] = []
        self.made: dict[tuple[int, int], int] = defaultdict(int)  # PAUSEs and RESUMEs by (channel, priority)

    @abstractmethod
    def offered(self, number: int) -> int: ...  # the priority of the next packet of the port's NIC, or -1

    @abstractmethod
    def next_packet(self, number: int) -> Frame: ...

    @abstractmethod
    def arrive(self, frame: Frame) -> None: ...  # at the end of its route

    def at(self, time: int, action: Callable[[], None], stage: int = TIMED, order: int = 0) -> None:
        self.scheduled += 1
        heapq.heappush(self.heap, (time, stage, order, self.scheduled, action))

    def quanta_ps(self, number: int, quanta: int) -> int:
        return -(-QUANTUM_BITS * quanta * 10**12 // self.channels[number].rate_bps)

    def is_paused(self, number: int, q: int) -> bool:
        return self.now < self.ports[number].paused_until_ps[q]

    def waiting(self, number: int) -> Frame | None:
        """Return the frame that would leave the port's FIFOs."""
        frames = (frame for queue in reversed(self.ports[number].queues) for frame in queue)
        return next((frame for frame in frames if not self.is_paused(number, frame.transit)), None)

    def depth(self, number: int, q: int) -> int:
        """Return the frame bytes of a priority that the port is sending and has waiting."""
        port = self.ports[number]
        frames = [*port.queues[q], *([port.sending] if port.sending and port.end_ps > self.now else [])]
        return sum(frame.frame_bytes for frame in frames if frame.priority == q)

    def wake(self, number: int) -> None:
        """Let the port pick after all else of this instant, unless a frame is under way."""
        self.at(self.now, lambda: self.pick(number), PICK, number)

    def is_idle(self, number: int) -> bool:
        port = self.ports[number]
        return not (port.end_ps > self.now or port.pfc or self.waiting(number) or self.offered(number) >= 0)

    def pick(self, number: int) -> None:
        port, waiting, offered = self.ports[number], self.waiting(number), self.offered(number)
        if port.end_ps > self.now:  # still, or since an earlier event of this instant
            return
        if port.pfc:
            self.start_pfc(number, *port.pfc.popleft())
        elif waiting and waiting.priority >= offered:
            port.queues[waiting.priority].remove(waiting)
            if self.switch.ecn_mark_at == "dequeue":
                self.mark(waiting, number)
            self.start(number, waiting)
        elif offered >= 0:
            self.start(number, self.next_packet(number))

    def occupy(self, number: int, line: int) -> int:
        """Send ``line`` bytes and return when the last one arrives."""
        port, channel, rate = self.ports[number], self.channels[number], self.channels[number].rate_bps
        nearest = max((16 * line * 10**9 + rate) // (2 * rate), 1) * 1000
        port.end_ps = self.now + (nearest if self.is_ns_nearest else -(-8 * line * 10**12 // rate))
        port.frames += 1
        port.line_bytes += line
        self.at(port.end_ps, lambda: self.pick(number), PICK, number)
        return port.end_ps + channel.delay_ps

    def start(self, number: int, frame: Frame) -> None:
        port, part = self.ports[number], self.channels[number].efficiency_ppm
        arrival = self.occupy(number, -(-max(frame.payload, 16) * 10**6 // part) if part else frame.line_bytes)
        port.sending = frame
        if frame.hop and self.buffer_of(frame):
            q, came_by = frame.priority, frame.route[frame.hop - 1]
            self.at(port.end_ps, lambda: self.release(came_by, q, frame.frame_bytes), RELEASE, number)
        is_lost = draw(self.seed, LOSS, number, port.numbered) < int(self.channels[number].loss * 2**64)
        port.numbered += 1
        port.lost += is_lost
        if not is_lost:
            self.at(arrival, lambda: self.last_byte(frame, number), LAST_BYTE, 2 * number + 1)

    def last_byte(self, frame: Frame, number: int) -> None:
        frame.hop += 1
        if frame.hop == len(frame.route):
            return self.arrive(frame)
        frame.priority = frame.transit
        egress, buffer = frame.route[frame.hop], self.buffer_of(frame)
        if buffer:
            was_paused = (number, frame.priority) in buffer.paused
            is_kept = buffer.charge(number, frame.priority, frame.frame_bytes, self.depth(egress, frame.priority))
            if not was_paused and (number, frame.priority) in buffer.paused:
                self.make_pfc(number, frame.priority, self.switch.pause_quanta)
            if not is_kept:
                self.ports[number].dropped += 1
                return None
        latency = self.nodes[self.channels[number].rx].latency_ps
        return self.at(self.now + latency, lambda: self.enqueue(frame), LAST_BYTE, 2 * number)

    def buffer_of(self, frame: Frame) -> Buffer | None:
        """Return the buffer of the node that ``frame`` has come to, where it counts there."""
        number = frame.route[frame.hop - 1]
        return None if self.channels[number].efficiency_ppm else self.buffers.get(self.channels[number].rx)

    def release(self, came_by: int, q: int, size: int) -> None:
        buffer = self.buffers[self.channels[came_by].rx]
        was_paused = (came_by, q) in buffer.paused
        buffer.release(came_by, q, size)
        if was_paused and (came_by, q) not in buffer.paused:
            self.make_pfc(came_by, q, 0)

    def enqueue(self, frame: Frame) -> None:
        """Put a frame into the queue of the port it goes on by."""
        number = frame.route[frame.hop]
        if self.switch.ecn_mark_at == "enqueue":
            self.mark(frame, number)
        is_idle = self.is_idle(number)
        self.ports[number].queues[frame.priority].append(frame)
        (self.pick if is_idle else self.wake)(number)

    def mark(self, frame: Frame, number: int) -> None:
        port, links = self.ports[number], frame.route[max(frame.hop - 1, 0) : frame.hop + 1]
        is_scale_up = any(self.channels[link].efficiency_ppm for link in links)
        if not (self.switch.ecn and frame.is_ecn_capable and frame.hop) or is_scale_up:
            return
        depth = self.depth(number, frame.priority)
        is_marked = depth > self.switch.ecn_kmax
        if self.switch.ecn_kmin < depth <= self.switch.ecn_kmax:
            is_marked = draw(self.seed, MARK, number, port.draws) < int(self.switch.mark_chance(depth) * 2**64)
            port.draws += 1
        port.marked += is_marked
        frame.is_marked |= is_marked

    def make_pfc(self, number: int, q: int, quanta: int) -> None:
        """Send a PAUSE, or a RESUME of no quanta, to the transmitter of channel ``number``."""
        self.made[number, q] += 1
        made, back = self.made[number, q], number ^ 1
        if quanta:
            again = self.now + self.quanta_ps(number, quanta) // 2
            self.at(again, lambda: self.make_pfc(number, q, quanta) if made == self.made[number, q] else None)
        is_idle = self.is_idle(back)
        self.ports[back].pfc.append((q, quanta))
        (self.pick if is_idle else self.wake)(back)

    def start_pfc(self, back: int, q: int, quanta: int) -> None:
        arrival = self.occupy(back, PFC_LINE)
        self.ports[back].sending = None
        acts = arrival + self.quanta_ps(back, self.switch.response_quanta)
        self.at(acts, lambda: self.act(back ^ 1, q, quanta), LAST_BYTE, 2 * back)

    def act(self, number: int, q: int, quanta: int) -> None:
        """The transmitter of channel ``number`` starts nothing of priority ``q`` for ``quanta`` from now."""
        port, end = self.ports[number], self.now + self.quanta_ps(number, quanta)
        if self.is_paused(number, q):
            next(pause for pause in reversed(self.pauses) if pause[1:3] == [number, q])[3] = end
        elif quanta:
            self.pauses.append([self.now, number, q, end])
        port.paused_until_ps[q] = end
        self.at(end, lambda: self.pick(number), PICK, number)
