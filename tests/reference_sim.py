# SPDX-License-Identifier: GPL-2.0-only
"""The oracle of the packet engine: a naive simulator, written to be read, that shares no code with the product.

This file has operations, queue pairs and NICs; :mod:`reference_fabric` what is between them, and the order of what
happens in one instant; :mod:`reference_switch` what switches decide.

* A message is posted when its operation starts, available to its NIC ``send_latency`` later, *sent* when its last
  packet has first left the first channel, *delivered* ``receive_latency`` after it and all before it have arrived, and
  *acked* when an ACK that covers its last packet is back. What follows after no time follows at once.
* Dependants learn of *delivered* and *acked* one endpoint delay late, of *sent* and of ends of local work at once. A
  rank's operations start no earlier than one endpoint delay after it joined; its part ends when its local work is done,
  its messages are sent and those to it are notified (at ``notify_on`` + the endpoint delay).
"""

from __future__ import annotations

import dataclasses
import heapq
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from congestion.reference_dcqcn import ReferenceDcqcn
from reference_fabric import LEFT, Fabric
from reference_pace import Pace
from reference_port import Channel, Frame, Node
from reference_roce import ACKED, DELIVERED, OUT_OF_BAND, SENT, QueuePair, Transport
from reference_switch import ACK_PRIORITY, PREAMBLE_AND_GAP, Switch

ACK_LINE, CNP_LINE = 86, 98
Route = Callable[[int, int, int], Sequence[int]]


# A message (``dst`` given) or local work of ``duration_ps``; ``deps`` are (operation, moment).
@dataclass(frozen=True)
class Op:
    owner: int
    dst: int | None = None
    size: int = 0
    duration_ps: int = 0
    deps: tuple[tuple[int, int], ...] = ()
    priority: int = 0


# A packet on its way, or what is made of it when it came: an ACK or NAK that tells what the receiver ``expects`` then,
# or a CNP, of which nothing follows here.
@dataclass(eq=False, kw_only=True)
class RoceFrame(Frame):
    qp: QueuePair
    number: int
    kind: str = "data"
    asks: bool = False
    is_first_end: bool = False  # a message's last packet, the first time
    expects: int = 0


class Simulator(Fabric):
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
        switch: Switch = Switch(),  # noqa: B008  (frozen)
        seed: int = 1,
    ) -> None:
        priorities = {ACK_PRIORITY, *(op.priority for op in ops)}
        super().__init__(nodes, channels, switch, transport.largest_line, priorities, transport.is_ns_nearest, seed)
        self.route, self.t = route, transport
        self.ops, self.ranks, self.endpoint_delay_ps = ops, len(join_ps), endpoint_delay_ps
        self.qps: dict[tuple[int, int, int, int], QueuePair] = {}
        self.nics: dict[int, list[QueuePair]] = defaultdict(list)  # by port
        self.served: dict[tuple[int, int], tuple[int, int]] = defaultdict(lambda: (-1, -1))  # by port and priority
        self.paces: dict[tuple[int, ...], Pace] = {}  # by ranks and port, and where it is not shared queue pair
        self.timers: dict[QueuePair, set[int]] = defaultdict(set)  # the deadlines that are looked after
        self.timeouts = self.naks = self.repeats = 0
        self.posts: dict[tuple[int, int, int], int] = defaultdict(int)
        self.order: dict[int, int] = {}  # of the posts of messages
        self.dependants: dict[tuple[int, int], list[int]] = defaultdict(list)
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

    def come(self, i: int, moment: int) -> None:
        """Message ``i`` is delivered or acked; its dependants learn of it one endpoint delay later."""
        (self.delivered if moment == DELIVERED else self.acked)[i] = self.now
        self.after(self.endpoint_delay_ps, lambda: self.notify(i, moment))

    def post(self, i: int) -> None:
        op = self.ops[i]
        assert op.dst is not None
        peer = (op.owner, op.dst, op.priority)
        number = self.posts[peer]
        self.posts[peer] += 1
        self.order[i] = len(self.order)
        flow = (*peer, number % self.t.qps_per_peer if self.t.qps_per_peer else number)
        if flow not in self.qps:
            key = ((op.dst - op.owner - 1) % self.ranks, flow[3])
            route, reverse = self.route(op.owner, op.dst, flow[3]), self.route(op.dst, op.owner, flow[3])
            is_scale_up = all(self.channels[c].efficiency_ppm for c in route)
            t = self.t
            if is_scale_up:
                t = dataclasses.replace(
                    t, payload=4096, window=None, ack_policy=OUT_OF_BAND, timeout_ps=None, dcqcn=None
                )
            self.qps[flow] = QueuePair(key, op.priority, route, reverse, t, self.pace_of(flow, route[0], t))
            self.nics[route[0]].append(self.qps[flow])
        self.at(self.now + self.t.send_latency_ps, lambda: self.make_available(i, self.qps[flow]))

    def pace_of(self, flow: tuple[int, ...], port: int, t: Transport) -> Pace | None:
        if t.dcqcn is None:
            return None
        rate, key = self.channels[port].rate_bps, (*flow[:2], port, *(() if t.is_pace_shared else flow[2:]))
        return self.paces.setdefault(key, Pace(ReferenceDcqcn(rate, **t.dcqcn), rate))

    def let_go(self, pace: Pace, port: int) -> None:
        """The next packet of a flow may leave."""
        pace.is_held = False
        self.wake(port)

    def make_available(self, i: int, qp: QueuePair) -> None:
        qp.add(i, self.ops[i].size)
        self.wake(qp.route[0])

    def ready(self, port: int) -> list[QueuePair]:
        free = [qp for qp in self.nics[port] if not (qp.pace and qp.pace.is_held)]
        return [qp for qp in free if not self.is_paused(port, qp.priority) and qp.turn() is not None]

    def offered(self, number: int) -> set[int]:
        return {qp.priority for qp in self.ready(number)}

    def next_packet(self, number: int, q: int) -> Frame:
        served = self.served[number, q]
        qp = min((qp for qp in self.ready(number) if qp.priority == q), key=lambda qp: (qp.key <= served, qp.key))
        self.served[number, q] = qp.key
        turn, asks, is_new = qp.send(self.now)
        self.repeats += not is_new
        self.set_timer(qp)
        packet, pace = qp.packets[turn], qp.pace
        if pace and (again := pace.send(self.now, packet.line_bytes)):
            self.at(again, lambda: self.let_go(pace, number))
        return RoceFrame(
            line_bytes=packet.line_bytes,
            frame_bytes=packet.line_bytes - (PREAMBLE_AND_GAP if qp.t.header is None else 0),
            priority=q,
            transit=q,
            route=qp.route,
            payload=packet.payload,
            is_data=True,
            is_ecn_capable=qp.t.cnp_interval_ps is not None,
            qp=qp,
            number=turn,
            asks=asks,
            is_first_end=is_new and packet.is_last,
        )

    def start(self, number: int, frame: Frame) -> None:
        super().start(number, frame)
        if isinstance(frame, RoceFrame) and frame.is_first_end and frame.hop == 0:
            op = frame.qp.packets[frame.number].op
            self.at(self.ports[number].end_ps, lambda: self.notify(op, SENT), LEFT, self.order[op])

    def set_timer(self, qp: QueuePair) -> None:
        """See to the queue pair at its deadline, if that is still its deadline then."""
        deadline = qp.deadline()
        if deadline is not None and deadline not in self.timers[qp]:
            self.timers[qp].add(deadline)
            self.at(deadline, lambda: self.time_out(qp, deadline))

    def time_out(self, qp: QueuePair, deadline: int) -> None:
        self.timers[qp].discard(deadline)
        if qp.deadline() == self.now:
            qp.time_out()
            self.timeouts += 1
            self.wake(qp.route[0])

    def arrive(self, frame: Frame) -> None:
        assert isinstance(frame, RoceFrame)
        qp = frame.qp
        if frame.kind == "cnp":
            return qp.pace.control.cnp(self.now) if qp.pace else None
        if frame.kind != "data":
            return self.learn(frame)
        reply, complete = qp.receive(frame.number, frame.asks)
        if reply:
            self.reply(qp, reply, frame.number)
        if frame.is_marked and qp.is_cnp_due(self.now):
            self.enqueue(self.control_frame(qp, "cnp", frame.number, CNP_LINE, CNP_LINE - PREAMBLE_AND_GAP))
        for i in complete:
            self.after(qp.t.receive_latency_ps, lambda i=i: self.come(i, DELIVERED))  # type: ignore[misc]
        return None

    def reply(self, qp: QueuePair, kind: str, number: int) -> None:
        """Make an ACK or a NAK of a packet; out of band an ACK is no frame and takes the way's latency."""
        qp.unacked_packets = 0
        self.naks += kind == "nak"
        line, extra = (ACK_LINE, PREAMBLE_AND_GAP) if qp.t.ack is None else (qp.t.ack, 0)
        reply = self.control_frame(qp, kind, number, line, line - extra)
        if qp.t.ack_policy != OUT_OF_BAND or kind == "nak":
            return self.enqueue(reply)
        links = [self.channels[c] for c in qp.reverse]
        way = sum(c.delay_ps for c in links) + sum(self.nodes[c.tx].latency_ps for c in links[1:])
        return self.at(self.now + way, lambda: self.learn(reply))

    def control_frame(self, qp: QueuePair, kind: str, number: int, line_bytes: int, frame_bytes: int) -> RoceFrame:
        is_shared = self.t.is_ack_class_shared and kind != "cnp"
        return RoceFrame(
            line_bytes=line_bytes,
            frame_bytes=frame_bytes,
            priority=ACK_PRIORITY,
            transit=qp.priority if is_shared else ACK_PRIORITY,
            route=qp.reverse,
            qp=qp,
            number=number,
            kind=kind,
            expects=qp.expected,
        )

    def learn(self, reply: RoceFrame) -> None:
        complete = reply.qp.learn(reply.kind, reply.expects, reply.number, self.now)
        self.set_timer(reply.qp)
        self.wake(reply.qp.route[0])
        for i in complete:
            self.come(i, ACKED)
