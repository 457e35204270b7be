# SPDX-License-Identifier: GPL-2.0-only
"""The oracle of the packet engine: a naive simulator, written to be read, that shares no code with the product.

* A channel sends one frame at a time: serialisation, then a propagation delay. Whoever is between the ends of a route
  stores and forwards: a frame whose last byte arrived at t takes its place at the egress at t + the node's latency.
* A message is posted when its operation starts, available to its NIC ``send_latency`` later, *sent* when its last
  packet has left the first channel, *delivered* ``receive_latency`` after its last byte arrived, and *acked* when the
  ACK that covers its last packet is back. An ACK is made when a packet's last byte arrived; under ``every``, for each
  N-th packet since the queue pair's last ACK; always for a message's last packet and for one that fills the window.
* Dependants learn of *delivered* and *acked* one endpoint delay late, of *sent* and of ends of local work at once. A
  rank's operations start no earlier than one endpoint delay after it joined; its part ends when its local work is done,
  its messages are sent and those to it are notified (at ``notify_on`` + the endpoint delay).
* A window lets a queue pair send while its unacknowledged payload is below it. A way of scale-up links has no window,
  packets of 4,096 B and out-of-band ACKs; a packet's line bytes there are max(payload, 16) over the link's efficiency.
* At one instant: (0) last bytes, by channel, those of one channel as they arrived. A port whose last frame has left,
  this instant included, and that has nothing queued starts at once an ACK made here or a frame to be passed on. (1) All
  that is timed, in order of scheduling; but what follows an arrival or a timer after no time follows at once. (2) Picks
  of all other free ports, by port: ACKs (where they share the data's class, only those made here), then what is passed
  on, then packets of ready queue pairs in turn, by ((destination - own - 1) mod ranks, queue pair), after the last.
"""

from __future__ import annotations

import dataclasses
import heapq
import math
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

SENT, DELIVERED, ACKED, LAST_BYTE, TIMED, PICK = 0, 1, 2, 0, 1, 2
PER_PACKET, EVERY, PER_MESSAGE, OUT_OF_BAND = "per_packet", "every", "per_message", "out_of_band"
Route = Callable[[int, int, int], Sequence[int]]


# A rank's NIC (``rank`` >= 0) or a switch (-1), and the latency of what it forwards.
@dataclass(frozen=True)
class Node:
    rank: int = -1
    latency_ps: int = 0


# One direction of a link, from node ``tx`` to node ``rx``.
@dataclass(frozen=True)
class Channel:
    tx: int
    rx: int
    rate_bps: int
    delay_ps: int
    efficiency_ppm: int = 0  # of a scale-up link; 0 is Ethernet


# Figures of the transport; ``header`` and ``ack`` None are RoCEv2's own, ``window`` None is no window.
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


# A message (``dst`` given) or local work of ``duration_ps``; ``deps`` are (operation, moment).
@dataclass(frozen=True)
class Op:
    owner: int
    dst: int | None = None
    size: int = 0
    duration_ps: int = 0
    deps: tuple[tuple[int, int], ...] = ()


# Both ends' state of one queue pair; ``route`` starts with its NIC port, ``messages`` are unsent, ``t`` its rules.
@dataclass(eq=False)
class QueuePair:
    key: tuple[int, int]
    route: Sequence[int]
    reverse: Sequence[int]
    t: Transport
    messages: deque[int] = field(default_factory=deque)
    sent_bytes: int = 0
    acked_bytes: int = 0
    packets_since_ack: int = 0

    def is_open(self) -> bool:
        return self.t.window is None or self.sent_bytes - self.acked_bytes < self.t.window


# A packet of message ``op``, or its ACK; ``upto`` is the queue pair's payload up to and with this packet.
@dataclass(eq=False)
class Frame:
    op: int
    qp: QueuePair
    is_ack: bool
    is_last: bool
    wants_ack: bool
    upto: int
    payload: int
    line_bytes: int
    route: Sequence[int]
    hop: int = 0


# The transmitter of a channel: FIFOs of ACKs and of forwarded data, and the queue pairs of a NIC.
@dataclass(eq=False)
class Port:
    end_ps: int = 0  # of its last frame
    fifos: tuple[deque[Frame], deque[Frame]] = field(default_factory=lambda: (deque(), deque()))
    qps: list[QueuePair] = field(default_factory=list)
    served: tuple[int, int] = (-1, -1)
    frames: int = 0
    line_bytes: int = 0


class Simulator:
    """One collective instance on one platform; ``run()``, then read the columns (None where nothing happened).

    ``posted, sent, delivered, acked`` have a row per operation (of local work: start and end in the first two),
    ``ports`` a row per channel, ``end_ps`` a row per rank.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        channels: Sequence[Channel],
        route: Route,
        transport: Transport,
        ops: Sequence[Op],
        join_ps: Sequence[int],
        endpoint_delay_ps: int = 0,
    ) -> None:
        self.nodes, self.channels, self.route, self.t = nodes, channels, route, transport
        self.ops, self.ranks, self.endpoint_delay_ps = ops, len(join_ps), endpoint_delay_ps
        self.heap: list[tuple[int, int, int, int, Callable[[], None]]] = []
        self.now = self.scheduled = 0
        self.ports = [Port() for _ in channels]
        self.qps: dict[tuple[int, int, int], QueuePair] = {}
        self.posts: dict[tuple[int, int], int] = defaultdict(int)
        self.dependants: dict[tuple[int, int], list[int]] = defaultdict(list)
        self.left = [op.size for op in ops]  # bytes not yet sent
        self.waits = [len(op.deps) + 1 for op in ops]  # + 1: its owner's joining
        for i, op in enumerate(ops):
            for dep, moment in op.deps:
                self.dependants[dep, SENT if ops[dep].dst is None else moment].append(i)
        self.posted: list[int | None] = [None] * len(ops)
        self.sent, self.delivered, self.acked = self.posted.copy(), self.posted.copy(), self.posted.copy()
        self.end_ps = [time + endpoint_delay_ps for time in join_ps]
        for rank, time in enumerate(self.end_ps):
            self.at(time, lambda rank=rank: self.join(rank))  # type: ignore[misc]

    def run(self) -> Simulator:
        while self.heap:
            self.now, _, _, _, action = heapq.heappop(self.heap)
            action()
        return self

    def at(self, time: int, action: Callable[[], None], stage: int = TIMED, order: int = 0) -> None:
        self.scheduled += 1
        heapq.heappush(self.heap, (time, stage, order, self.scheduled, action))

    def after(self, delay: int, action: Callable[[], None]) -> None:
        """What follows after no time follows at once."""
        self.at(self.now + delay, action) if delay else action()

    def join(self, rank: int) -> None:
        for i, op in enumerate(self.ops):
            if op.owner == rank:
                self.meet(i)

    def meet(self, i: int) -> None:
        """One of the things that operation ``i`` waits for has come."""
        self.waits[i] -= 1
        if self.waits[i] == 0:
            self.posted[i] = self.now
            if self.ops[i].dst is None:
                self.at(self.now + self.ops[i].duration_ps, lambda: self.notify(i, SENT))
            else:
                self.post(i)

    def notify(self, i: int, moment: int) -> None:
        """Tell everyone concerned that operation ``i`` has come to ``moment``; an end of local work counts as SENT."""
        op = self.ops[i]
        if moment == SENT:
            self.sent[i] = self.now
            self.end_ps[op.owner] = max(self.end_ps[op.owner], self.now)
        if op.dst is not None and moment == self.t.notify_on:
            self.end_ps[op.dst] = max(self.end_ps[op.dst], self.now)
        for dependant in self.dependants[i, moment]:
            self.meet(dependant)

    def post(self, i: int) -> None:
        op = self.ops[i]
        assert op.dst is not None
        number = self.posts[op.owner, op.dst]
        self.posts[op.owner, op.dst] += 1
        flow = (op.owner, op.dst, number % self.t.qps_per_peer if self.t.qps_per_peer else number)
        if flow not in self.qps:
            key = ((op.dst - op.owner - 1) % self.ranks, flow[2])
            route, reverse = self.route(*flow), self.route(op.dst, op.owner, flow[2])
            is_scale_up = all(self.channels[c].efficiency_ppm for c in route)
            own = dataclasses.replace(self.t, payload=4096, window=None, ack_policy=OUT_OF_BAND)
            self.qps[flow] = QueuePair(key, route, reverse, own if is_scale_up else self.t)
            self.ports[self.qps[flow].route[0]].qps.append(self.qps[flow])
        self.at(self.now + self.t.send_latency_ps, lambda: self.make_available(i, self.qps[flow]))

    def make_available(self, i: int, qp: QueuePair) -> None:
        qp.messages.append(i)
        self.wake(qp.route[0])

    def next_packet(self, qp: QueuePair) -> Frame:
        i = qp.messages[0]
        payload = min(self.left[i], qp.t.payload)
        roce = (payload + 3) // 4 * 4 + 82 + 16 * (self.left[i] == self.ops[i].size)
        line = roce if qp.t.header is None else payload + qp.t.header
        self.left[i] -= payload
        qp.sent_bytes += payload
        if self.left[i] == 0:
            qp.messages.popleft()
        asks = self.left[i] == 0 or not qp.is_open()
        return Frame(i, qp, False, self.left[i] == 0, asks, qp.sent_bytes, payload, line, qp.route)

    def wake(self, port: int) -> None:
        """A NIC port has work: it picks after all else of this instant, unless a frame is under way."""
        self.at(self.now, lambda: self.pick(port), PICK, port)

    def pick(self, number: int) -> None:
        port = self.ports[number]
        if port.end_ps > self.now:  # still, or since an earlier event of this instant
            return
        ready = [qp for qp in port.qps if qp.messages and qp.is_open()]
        if port.fifos[0] or port.fifos[1]:
            self.start(number, (port.fifos[0] or port.fifos[1]).popleft())
        elif ready:
            qp = min(ready, key=lambda qp: (qp.key <= port.served, qp.key))
            port.served = qp.key
            self.start(number, self.next_packet(qp))

    def start(self, number: int, frame: Frame) -> None:
        port, channel = self.ports[number], self.channels[number]
        part, rate = channel.efficiency_ppm, channel.rate_bps
        line = -(-max(frame.payload, 16) * 10**6 // part) if part else frame.line_bytes
        nearest = max((16 * line * 10**9 + rate) // (2 * rate), 1) * 1000
        port.end_ps = end = self.now + (nearest if self.t.is_ns_nearest else -(-8 * line * 10**12 // rate))
        port.frames += 1
        port.line_bytes += line
        if frame.hop == 0 and frame.is_last and not frame.is_ack:
            self.at(end, lambda: self.notify(frame.op, SENT))
        self.at(end, lambda: self.pick(number), PICK, number)
        self.at(end + channel.delay_ps, lambda: self.last_byte(frame, number), LAST_BYTE, 2 * number + 1)

    def last_byte(self, frame: Frame, number: int) -> None:
        frame.hop += 1
        if frame.hop < len(frame.route):
            latency = self.nodes[self.channels[number].rx].latency_ps
            self.at(self.now + latency, lambda: self.enqueue(frame), LAST_BYTE, 2 * number)
        else:
            (self.receive_ack if frame.is_ack else self.receive_packet)(frame)

    def enqueue(self, frame: Frame) -> None:
        """Put a frame into the queue of the port it goes on by; an idle port starts it at once."""
        number = frame.route[frame.hop]
        port = self.ports[number]
        is_idle = port.end_ps <= self.now and not any(port.fifos)
        port.fifos[0 if frame.is_ack and (frame.hop == 0 or not self.t.is_ack_class_shared) else 1].append(frame)
        (self.pick if is_idle else self.wake)(number)

    def receive_packet(self, frame: Frame) -> None:
        qp, t = frame.qp, frame.qp.t
        qp.packets_since_ack += 1
        every = {PER_MESSAGE: math.inf, EVERY: t.ack_every}.get(t.ack_policy, 1)
        if frame.wants_ack or qp.packets_since_ack >= every:
            qp.packets_since_ack = 0
            self.send_ack(Frame(frame.op, qp, True, frame.is_last, False, frame.upto, 0, t.ack or 86, qp.reverse))
        if frame.is_last:
            self.after(t.receive_latency_ps, lambda: self.come(frame.op, DELIVERED))

    def send_ack(self, ack: Frame) -> None:
        if ack.qp.t.ack_policy != OUT_OF_BAND:
            return self.enqueue(ack)
        links = [self.channels[c] for c in ack.route]
        way = sum(c.delay_ps for c in links) + sum(self.nodes[c.tx].latency_ps for c in links[1:])
        self.at(self.now + way, lambda: self.receive_ack(ack))

    def receive_ack(self, ack: Frame) -> None:
        ack.qp.acked_bytes = ack.upto
        self.wake(ack.qp.route[0])
        if ack.is_last:
            self.come(ack.op, ACKED)

    def come(self, i: int, moment: int) -> None:
        """Message ``i`` is delivered or acked; its dependants learn of it one endpoint delay later."""
        (self.delivered if moment == DELIVERED else self.acked)[i] = self.now
        self.after(self.endpoint_delay_ps, lambda: self.notify(i, moment))
