# SPDX-License-Identifier: GPL-2.0-only
"""The oracle between the NICs: clock, wires and ports, and the way of a frame through them, with pauses and losses.

* An instant has five stages: releases of what has left, by egress port; last bytes, by channel, those of one channel as
  they were sent; last bits of messages that leave, in order of their posts; all that is timed, in order of scheduling;
  picks of free ports, by port.
* A port whose last frame has left, this instant included, and that has nothing to pick starts at once what reaches it.
  It picks PAUSE and RESUME, then by priority, 7 first, or by the priorities' shares: its FIFO, then its NIC's packets.
  What is paused is not there.
* A frame that came by Ethernet and goes on is charged to the node's buffer when its last byte has come, before the
  node's latency, and released when its last bit has left; it may be marked on coming to its port, or on leaving it.
* A PAUSE or RESUME acts on the transmitter a response time after it came. A PAUSE ends by a RESUME or after its quanta;
  it is made again each half of them, until its (channel, priority) resumes.
* Where frames cut through, one that is longer than a header and not lost leaves a node's latency after its header came,
  if its port is Ethernet, no faster than its link, has nothing else to send and may; else it is stored and forwarded.
  It is charged only if its last byte came before.
"""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

from reference_port import Channel, Frame, Node, Port
from reference_switch import ACK_PRIORITY, LOSS, MARK, PFC_LINE, QUANTUM_BITS, Buffer, Shares, Switch, draw

RELEASE, LAST_BYTE, LEFT, TIMED, PICK = range(5)


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
        for port, channel in zip(self.ports, channels, strict=True):
            is_at_switch = min(nodes[channel.tx].rank, nodes[channel.rx].rank) < 0
            if switch.weights and is_at_switch and not channel.efficiency_ppm:
                port.shares = Shares(switch.weights)
        headrooms: dict[int, dict[int, int]] = defaultdict(dict)
        for number, c in enumerate(channels):
            if switch.buffer and not c.efficiency_ppm:
                headrooms[c.rx][number] = switch.headroom_of(c.rate_bps, c.delay_ps, largest_line)
        reserve = switch.reserve_of(largest_line)
        self.buffers = {node: Buffer(switch, reserve, rooms, priorities) for node, rooms in headrooms.items()}
        self.pauses: list[list[int]] = []
        self.made: dict[tuple[int, int], int] = defaultdict(int)  # PAUSEs and RESUMEs by (channel, priority)

    @abstractmethod
    def offered(self, number: int) -> set[int]: ...  # the priorities of which the port's NIC has packets to send

    @abstractmethod
    def next_packet(self, number: int, q: int) -> Frame: ...

    @abstractmethod
    def arrive(self, frame: Frame) -> None: ...  # at the end of its route

    def at(self, time: int, action: Callable[[], None], stage: int = TIMED, order: int = 0) -> None:
        self.scheduled += 1
        heapq.heappush(self.heap, (time, stage, order, self.scheduled, action))

    def quanta_ps(self, number: int, quanta: int) -> int:
        return -(-QUANTUM_BITS * quanta * 10**12 // self.channels[number].rate_bps)

    def is_paused(self, number: int, q: int) -> bool:
        return self.now < self.ports[number].paused_until_ps[q]

    def waiting(self, number: int) -> dict[int, Frame]:
        """Return the frames that would leave the port's FIFOs, by priority."""
        frames = [frame for queue in self.ports[number].queues for frame in reversed(queue)]
        return {frame.priority: frame for frame in frames if not self.is_paused(number, frame.transit)}

    def wire_ps(self, number: int, line: int) -> int:
        rate = self.channels[number].rate_bps
        nearest = max((16 * line * 10**9 + rate) // (2 * rate), 1) * 1000
        return nearest if self.is_ns_nearest else max(-(-8 * line * 10**12 // rate), 1)

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
        return not (port.end_ps > self.now or port.pfc or self.waiting(number) or self.offered(number))

    def pick(self, number: int) -> None:
        port, waiting = self.ports[number], self.waiting(number)
        ready = waiting.keys() | self.offered(number)
        if port.end_ps > self.now:  # still, or since an earlier event of this instant
            return
        if port.pfc:
            return self.start_pfc(number, *port.pfc.popleft())
        if not ready:
            return
        q = max(ready) if ACK_PRIORITY in ready or not port.shares else port.shares.choose(ready)
        if q in waiting:
            port.queues[q].remove(waiting[q])
            if self.switch.ecn_mark_at == "dequeue":
                self.mark(waiting[q], number)
        self.start(number, waiting[q] if q in waiting else self.next_packet(number, q))

    def occupy(self, number: int, line: int) -> int:
        """Send ``line`` bytes and return when the last one arrives."""
        port, wire_ps = self.ports[number], self.wire_ps(number, line)
        port.end_ps = self.now + wire_ps
        port.busy_ps += wire_ps
        port.frames += 1
        port.line_bytes += line
        self.at(port.end_ps, lambda: self.pick(number), PICK, number)
        return port.end_ps + self.channels[number].delay_ps

    def start(self, number: int, frame: Frame) -> None:
        port, part = self.ports[number], self.channels[number].efficiency_ppm
        line = -(-max(frame.payload, 16) * 10**6 // part) if part else frame.line_bytes
        arrival = self.occupy(number, line)
        port.sending = frame
        port.data_frames += frame.is_data
        port.payload_bytes += frame.payload
        if port.shares:
            port.shares.pay(frame.priority, line)
        if frame.is_charged:
            frame.is_charged = False
            q, came_by = frame.priority, frame.route[frame.hop - 1]
            self.at(port.end_ps, lambda: self.release(came_by, q, frame.frame_bytes), RELEASE, number)
        is_lost = draw(self.seed, LOSS, number, port.numbered) < int(self.channels[number].loss * 2**64)
        port.numbered += 1
        port.lost += is_lost
        if is_lost:
            return
        self.at(arrival, lambda: self.last_byte(frame, number), LAST_BYTE, 2 * number + 1)
        header_ps = self.wire_ps(number, self.switch.cut_through)
        is_passed_on = frame.hop + 1 < len(frame.route)
        if self.switch.cut_through and is_passed_on and not part and header_ps < self.wire_ps(number, line):
            comes = self.now + header_ps + self.channels[number].delay_ps
            latency = self.nodes[self.channels[number].rx].latency_ps
            self.at(comes + latency, lambda: self.cut_through(frame, number), LAST_BYTE, 2 * number)

    def cut_through(self, frame: Frame, number: int) -> None:
        """Let a frame of which the header has come by channel ``number`` go on at once, if it may."""
        hop = frame.route.index(number) + 1
        egress = frame.route[hop]
        is_slow_enough = self.channels[egress].rate_bps <= self.channels[number].rate_bps
        may_leave = is_slow_enough and self.is_idle(egress) and not self.is_paused(egress, frame.transit)
        if may_leave and not frame.is_gone and not self.channels[egress].efficiency_ppm:
            ahead = replace(frame, hop=hop, priority=frame.transit)
            frame.is_gone = True
            self.start(egress, ahead)

    def last_byte(self, frame: Frame, number: int) -> None:
        if frame.is_gone:
            return None
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
            frame.is_charged, frame.is_gone = is_kept, not is_kept
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
        if frame.is_gone:
            return None
        number = frame.route[frame.hop]
        self.note_queue(number, frame.frame_bytes)
        if self.switch.ecn_mark_at == "enqueue":
            self.mark(frame, number)
        if self.is_idle(number) and not self.is_paused(number, frame.transit):
            return self.start(number, frame)
        self.ports[number].queues[frame.priority].append(frame)
        return self.wake(number)

    def note_queue(self, number: int, more: int) -> None:
        """Something comes to a port, with so many frame bytes of its own."""
        queued = sum(self.depth(number, q) for q in range(8)) + more
        self.ports[number].most_queued = max(self.ports[number].most_queued, queued)

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
        self.note_queue(back, 0)
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
