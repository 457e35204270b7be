# SPDX-License-Identifier: GPL-2.0-only
"""Random small cases for the oracle and the engines: platform, figures of the transport, operations."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from reference_port import Channel, Node
from reference_roce import ACKED, DELIVERED, EVERY, OUT_OF_BAND, PER_MESSAGE, PER_PACKET, SENT, Transport
from reference_sim import Op, Route, Simulator
from reference_switch import ACK_PRIORITY, Switch

GBPS = 10**9
RATES = (10 * GBPS, 25 * GBPS, 100 * GBPS, 400 * GBPS, 97_000_000_001)
DELAYS = (1_000, 5_000, 33_333, 500_000, 1_000_000)


@dataclass(frozen=True)
class Case:
    """A platform (ranks are the first nodes; links run from the lower node to the higher), figures and operations.

    ``group`` is the order of the ranks in the collective's group: it numbers members, and must not change any result.
    """

    name: str
    nodes: tuple[Node, ...]
    links: tuple[tuple[int, int, int, int], ...]  # lower node, higher node, rate_bps, delay_ps
    transport: Transport
    ops: tuple[Op, ...]
    join_ps: tuple[int, ...]
    group: tuple[int, ...]
    endpoint_delay_ps: int = 0
    does_rank_forward: bool = False
    efficiency_ppm: tuple[int, ...] = ()  # of the links; 0, and of those not told, is Ethernet
    losses: tuple[float, ...] = ()  # of the links, both ways; 0 of those not told
    switch: Switch = Switch()  # noqa: RUF009  (frozen)

    @property
    def channels(self) -> list[Channel]:
        """Two a link: up from its lower node, and down."""
        both = [
            (Channel(a, b, rate, delay, part or 0, loss or 0.0), Channel(b, a, rate, delay, part or 0, loss or 0.0))
            for (a, b, rate, delay), part, loss in zip_longest(self.links, self.efficiency_ppm, self.losses)
        ]
        return [channel for pair in both for channel in pair]

    def simulate(self, route: Route, seed: int = 1) -> Simulator:
        """Run the oracle, with the ways that ``route`` gives."""
        args = (self.transport, self.ops, self.join_ps, self.endpoint_delay_ps, self.switch, seed)
        return Simulator(self.nodes, self.channels, route, *args).run()

    def shortest(self, src: int, dst: int, qp: int) -> list[int]:
        """The shortest way, and the one of the lowest channels where there are several."""
        ways: deque[tuple[int, list[int]]] = deque([(src, [])])
        seen = {src}
        while ways:
            node, way = ways.popleft()
            if node == dst:
                return way
            if node == src or self.does_rank_forward or self.nodes[node].rank < 0:
                for number, channel in enumerate(self.channels):
                    if channel.tx == node and channel.rx not in seen:
                        seen.add(channel.rx)
                        ways.append((channel.rx, [*way, number]))
        raise AssertionError(f"no way from {src} to {dst}")


def random_case(seed: int) -> Case:
    """Make the case of this seed; a third runs in step, in whole nanoseconds on equal links, for the sake of ties."""
    rng = random.Random(seed)
    is_in_step = rng.random() < 0.33
    shape = rng.choice([star, leaf_spine, chain, rails, ring_of_ranks])
    ranks, wires, forwards = shape(rng)
    latency = rng.choice([0, 300_000, None])
    switches = 1 + max(max(wire) for wire in wires) - ranks
    nodes = [Node(r, 1_000 if forwards else 0) for r in range(ranks)]
    nodes += [Node(-1, rng.choice([0, 7, 300_000]) if latency is None else latency) for _ in range(switches)]
    figures = (rng.choice(RATES), rng.choice(DELAYS)) if is_in_step or rng.random() < 0.3 else None
    links = [(*wire, *(figures or (rng.choice(RATES), rng.choice(DELAYS)))) for wire in wires]
    kinds = rng.choice([[0], [0], [940_000], [0, 666_667, 1_000_000]])
    transport = random_transport(rng)
    if is_in_step:
        transport = replace(transport, is_ns_nearest=True, send_latency_ps=0, receive_latency_ps=rng.choice([0, 2_000]))
    pattern = rng.choice([random_dag, ring, direct, incast, permutations])
    ops = pattern(rng, ranks, transport.payload)
    group = rng.sample(range(ranks), ranks)
    late = rng.random() < 0.5
    return Case(
        name=f"{seed}: {pattern.__name__} on {shape.__name__} of {ranks}, ack {transport.ack_policy}",
        nodes=tuple(nodes),
        links=tuple(links),
        transport=transport,
        ops=tuple(ops),
        join_ps=tuple(rng.randrange(0, 3_000_000, 1_000 if is_in_step else 1) if late else 0 for _ in range(ranks)),
        group=tuple(group),
        endpoint_delay_ps=rng.choice([0, 0, 10_000] if is_in_step else [0, 0, 10_000, 123_457]),
        does_rank_forward=forwards,
        efficiency_ppm=one_scale_up_way(shape, [rng.choice(kinds) for _ in links]),
    )


def one_scale_up_way(shape: Callable[[random.Random], Shape], parts: list[int]) -> tuple[int, ...]:
    """Leave each pair one way of scale-up links: packets take several at once, which the oracle does not."""
    if shape is rails:
        parts[1::2] = [0] * len(parts[1::2])
    elif shape is ring_of_ranks:
        parts[0] = 0
    return tuple(parts)


def random_switch_case(seed: int) -> Case:
    """Make the case of this seed with small buffers, pauses, marks, losses, priorities, any of them or all."""
    rng = random.Random(f"switch {seed}")
    case = random_case(rng.randrange(10**9))
    if rng.random() < 0.5:
        kinds = rng.sample(range(7), rng.randint(2, 3))
        ops = [replace(op, priority=rng.choice(kinds)) for op in case.ops]
        ops = [replace(op, deps=tuple(d for d in op.deps if ops[d[0]].priority == op.priority)) for op in ops]
        case = replace(case, ops=tuple(ops))
    if rng.random() < 0.4:
        losses = [0.0 if part else rng.choice([0.0, 0.0, 0.01, 0.1]) for part in case.efficiency_ppm]
        case = replace(case, losses=tuple(losses))
    if rng.random() < 0.8:
        case = replace(case, switch=random_switch(rng, case))
    timeout = rng.choice([20, 100, 400]) * 1_000_000 + rng.randrange(10) * 1_000
    figures: dict[str, Any] = {
        "timeout_ps": timeout,
        "is_selective": rng.random() < 0.3,
        "cnp_interval_ps": rng.choice([0, 10**6, 10**8]),
        "dcqcn": random_dcqcn(rng) if rng.random() < 0.5 else None,
        "is_pace_shared": rng.random() < 0.3,
    }
    return replace(case, transport=replace(case.transport, **figures))


def held_port_case(seed: int) -> Case:
    """Make the case of this seed in which the port between two switches is held while others' ACKs pass it.

    Three ranks send to one behind the far switch, which pauses its neighbour long before that one has to pause anybody;
    data that come there wait, and small frames that come after them go first.
    """
    rng = random.Random(f"held {seed}")
    rate, payload = rng.choice([40, 100, 400]) * 10**9, rng.choice([1000, 4096])
    latency, delay = rng.choice([1, 5_000, 300_000, 2_000_000]), rng.choice([0, 1, 20_000, 500_000])
    calls = [Op(r, 3, rng.randint(40, 60) * payload) for r in range(3)]
    back = [Op(r, rng.randrange(3), rng.randint(1, 60) * payload) for r in (3, 4, 5) for _ in range(2)]
    links = [(r, 6 + r // 3, rate, delay) for r in range(6)] + [(6, 7, rng.choice([1, 4]) * rate, delay)]
    transport = Transport(payload=payload, timeout_ps=10**9, cnp_interval_ps=0)
    figures = Switch(pfc_alpha=rng.choice([0.01, 0.02, 0.05]), xon_offset=rng.choice([0, 5_000]))
    line = transport.largest_line
    rooms = [2 * (figures.reserve_of(line) + figures.headroom_of(*link[2:], line)) for link in links]
    return Case(
        name=f"held {seed}",
        nodes=(*(Node(r) for r in range(6)), Node(-1, latency), Node(-1, latency)),
        links=tuple(links),
        transport=transport,
        ops=(*calls, *back),
        join_ps=(0,) * 6,
        group=tuple(range(6)),
        switch=replace(figures, buffer=3 * rooms[0] + rooms[6] + 400_000),
    )


def random_switch(rng: random.Random, case: Case) -> Switch:
    """A switch on which everything of the case can pass: a frame finds room where there is nothing else.

    Ranks that forward in a ring have no pauses: they could wait for one another.
    """
    line = case.transport.largest_line
    depth = rng.choice([0, 0, 1, 2, 5]) * line
    is_shared = not case.does_rank_forward and rng.random() < 0.4
    figures = Switch(
        pfc=not case.does_rank_forward and rng.random() < 0.75,
        lossless_mask=rng.choice([255, 255, 0x80, 0x7F, rng.randrange(256)]),
        pfc_alpha=rng.choice([0.125, 0.5, 1.0, 4.0, 0.3]),
        egress_alpha=rng.choice([1.0, 2.0, 0.7]),
        reserve=rng.choice([-1, -1, line, 2 * line + 100]),
        headroom=rng.choice([-1, -1, 0, line, rng.randint(1, 8) * line]),
        xon_offset=rng.choice([0, 500, line, 2 * line]),
        pause_quanta=rng.choice([65535, 65535, 1000, 100, 32]),
        response_quanta=rng.choice([60, 60, 0, 1, 500]),
        ecn=rng.random() < 0.7,
        ecn_kmin=depth,
        ecn_kmax=depth + rng.choice([0, line, 5 * line, 777]),
        ecn_pmax=rng.choice([0.0, 0.2, 0.5, 1.0]),
        ecn_mark_at=rng.choice(["enqueue", "dequeue"]),
        weights=tuple(rng.choice([1, 1, 2, 5, 100]) for _ in range(7)) if is_shared else (),
        cut_through=rng.choice([1, 64, 600]) if rng.random() < 0.3 else 0,
    )
    priorities = {ACK_PRIORITY, *(op.priority for op in case.ops)}
    taken = [0] * len(case.nodes)
    for channel in case.channels:
        headroom = figures.headroom_of(channel.rate_bps, channel.delay_ps, line)
        for q in priorities if not channel.efficiency_ppm else ():
            taken[channel.rx] += figures.reserve_of(line) + figures.is_lossless(q) * headroom
    is_all_lossless = all(map(figures.is_lossless, priorities))
    shared = rng.choice([0, 1, 3]) * line if is_all_lossless else rng.choice([2, 3, 10]) * line
    busiest = max if not is_all_lossless or rng.random() < 0.5 else min
    return replace(figures, buffer=busiest(total for total in taken if total) + shared if any(taken) else 10**6)


def random_dcqcn(rng: random.Random) -> dict[str, Any]:
    """Figures of the reaction point, by the names of its reference; short times, so that small cases see all of it."""
    return {
        "g": rng.choice([1 / 256, 1 / 16, 0.5]),
        "k": rng.choice([1_000_000, 5_000_000, 55_000_000]),
        "t": rng.choice([2_000_000, 10_000_000, 55_000_000]),
        "b": rng.choice([None, 5_000, 100_000]),
        "f": rng.choice([1, 2, 5]),
        "r_ai": rng.choice([40, 1_000]) * 1e6,
        "r_hai": rng.choice([400, 5_000]) * 1e6,
        "least": rng.choice([100, 1_000]) * 1e6,
        "decrease_interval": rng.choice([0, 0, 4_000_000]),
        "clamps": rng.random() < 0.7,
        "per_interval": rng.random() < 0.3,
    }


def random_transport(rng: random.Random) -> Transport:
    """Figures of every kind."""
    payload = rng.choice([64, 333, 1000, 1024, 4096])
    is_roce = rng.random() < 0.7
    return Transport(
        payload=payload,
        header=None if is_roce else rng.choice([36, 82]),
        ack=None if is_roce else rng.choice([48, 86]),
        ack_policy=rng.choice([PER_PACKET, PER_PACKET, EVERY, PER_MESSAGE, OUT_OF_BAND]),
        ack_every=rng.randint(1, 5),
        is_ack_class_shared=rng.random() < 0.4,
        window=None if rng.random() < 0.5 else rng.randint(1, 6 * payload),
        qps_per_peer=rng.randint(0, 3),
        send_latency_ps=rng.choice([0, 0, 500_000, 1_234]),
        receive_latency_ps=rng.choice([0, 0, 700_000, 4_321]),
        is_ns_nearest=rng.random() < 0.25,
        notify_on=rng.choice([DELIVERED, DELIVERED, ACKED]),
    )


Shape = tuple[int, list[tuple[int, int]], bool]  # ranks, wires (lower node, higher node), whether ranks forward


def star(rng: random.Random) -> Shape:
    ranks = rng.randint(2, 6)
    return ranks, [(r, ranks) for r in range(ranks)], False


def leaf_spine(rng: random.Random) -> Shape:
    leaves, per_leaf, spines, parallel = rng.randint(2, 3), rng.randint(1, 2), rng.randint(1, 2), rng.randint(1, 2)
    ranks = leaves * per_leaf
    wires = [(r, ranks + r // per_leaf) for r in range(ranks)]
    ups = [(ranks + leaf, ranks + leaves + spine) for leaf in range(leaves) for spine in range(spines)]
    return ranks, wires + ups * parallel, False


def chain(rng: random.Random) -> Shape:
    """Two ranks at the ends of 1 to 6 links, more ranks anywhere on the way."""
    switches = rng.randint(0, 5)
    if switches == 0:
        return 2, [(0, 1)], False
    ranks = rng.randint(2, 6)
    spots = [0, switches - 1, *(rng.randrange(switches) for _ in range(ranks - 2))]
    wires = [(r, ranks + spot) for r, spot in enumerate(spots)]
    return ranks, wires + [(ranks + k, ranks + k + 1) for k in range(switches - 1)], False


def rails(rng: random.Random) -> Shape:
    """Each rank has a port on each of two switches."""
    ranks = rng.randint(2, 5)
    return ranks, [(r, ranks + rail) for r in range(ranks) for rail in range(2)], False


def ring_of_ranks(rng: random.Random) -> Shape:
    """No switch: ranks pass on what is not theirs."""
    ranks = rng.randint(3, 6)
    return ranks, [*((r, r + 1) for r in range(ranks - 1)), (0, ranks - 1)], True


def random_size(rng: random.Random, payload: int) -> int:
    return rng.choice([0, 1, payload - 1, payload, payload + 1, 3 * payload, rng.randint(0, 10 * payload)])


def random_dag(rng: random.Random, ranks: int, payload: int) -> list[Op]:
    """Messages and local work that wait for any moments of what concerns their owner."""
    ops: list[Op] = []
    for _ in range(rng.randint(1, 40)):
        owner = rng.randrange(ranks)
        near = [i for i, op in enumerate(ops) if owner in (op.owner, op.dst)]
        deps = []
        for i in rng.sample(near, min(len(near), rng.randint(0, 3))):
            moments = (SENT, DELIVERED, ACKED) if ops[i].owner == owner else (DELIVERED, ACKED)
            deps.append((i, SENT if ops[i].dst is None else rng.choice(moments)))
        if rng.random() < 0.25:
            ops.append(Op(owner, duration_ps=rng.choice([0, 1, 1_000, 777_777]), deps=tuple(deps)))
        else:
            dst = rng.choice([r for r in range(ranks) if r != owner])
            ops.append(Op(owner, dst, random_size(rng, payload), deps=tuple(deps)))
    return ops


def steps(
    rng: random.Random, count: int, next_peers: Callable[[], Sequence[int]], sizes: Callable[[], Sequence[int]]
) -> list[Op]:
    """Each rank sends to its peer of the step when it has the message of the step before, and has worked on it."""
    ops: list[Op] = []
    moment, work = rng.choice([DELIVERED, DELIVERED, ACKED]), rng.choice([0, 0, 5_000])
    waits: dict[int, tuple[tuple[int, int], ...]] = {}
    for _ in range(count):
        now: dict[int, tuple[tuple[int, int], ...]] = {}
        for rank, (peer, size) in enumerate(zip(next_peers(), sizes(), strict=True)):
            ops.append(Op(rank, peer, size, deps=waits.get(rank, ())))
            now[peer] = ((len(ops) - 1, moment),)
        for rank in now if work else ():
            ops.append(Op(rank, duration_ps=work, deps=now[rank]))
            now[rank] = ((len(ops) - 1, SENT),)
        waits = now
    return ops


def ring(rng: random.Random, ranks: int, payload: int) -> list[Op]:
    """Chunks of two sizes at most a byte apart, as a ring all-reduce has them."""
    size = rng.randint(0, 5 * payload * ranks)
    chunks = [size // ranks + (c < size % ranks) for c in range(ranks)]
    peers = [(r + 1) % ranks for r in range(ranks)]
    return steps(rng, 2 * (ranks - 1), lambda: peers, lambda: rng.sample(chunks, ranks))


def permutations(rng: random.Random, ranks: int, payload: int) -> list[Op]:
    """A new cyclic permutation in each step, messages of any size."""

    def peers() -> list[int]:
        order = rng.sample(range(ranks), ranks)
        return [order[(order.index(r) + 1) % ranks] for r in range(ranks)]

    return steps(rng, rng.randint(1, 5), peers, lambda: [random_size(rng, payload) for _ in range(ranks)])


def direct(rng: random.Random, ranks: int, payload: int) -> list[Op]:
    """Everyone to everyone at once, of one size or of any; perhaps twice."""
    size = random_size(rng, payload) if rng.random() < 0.5 else None
    pairs = [(r, (r + k) % ranks) for r in range(ranks) for k in range(1, ranks)] * rng.randint(1, 2)
    return [Op(src, dst, random_size(rng, payload) if size is None else size) for src, dst in pairs]


def incast(rng: random.Random, ranks: int, payload: int) -> list[Op]:
    """All to one, which answers whoever it has heard."""
    target = rng.randrange(ranks)
    calls = [Op(r, target, random_size(rng, payload)) for r in range(ranks) if r != target] * rng.randint(1, 3)
    answers = [Op(target, op.owner, random_size(rng, payload), deps=((i, DELIVERED),)) for i, op in enumerate(calls)]
    return calls + answers
