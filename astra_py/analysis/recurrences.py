# SPDX-License-Identifier: GPL-2.0-only
"""Closed recurrences of the exact regime, in integers; they share no code with the engines or the oracle.

The regime: acknowledgements cost nothing on the wire, no window, no congestion control, no loss, all ranks start at 0,
and every egress is fed by one ingress at a time. Packet k of a message then leaves link j at
``F[j][k] = max(F[j-1][k] + delay[j-1] + latency[j-1], F[j][k-1]) + tau[j][k]``, where ``F[j][-1]`` is the end of
whatever the link carried before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

PREAMBLE_AND_GAP = 8 + 12
ROCE_HEADERS = 14 + 20 + 8 + 12 + 4 + 4  # Ethernet, IPv4, UDP, BTH, ICRC, FCS
RETH = 16
SCALE_UP_PAYLOAD = 4096
SCALE_UP_FLIT = 16


@dataclass(frozen=True)
class Link:
    """One direction of a link."""

    rate_bps: int
    delay_ps: int


@dataclass(frozen=True)
class Endpoint:
    """What the ends of a message add."""

    payload: int
    send_latency_ps: int = 0
    receive_latency_ps: int = 0
    endpoint_delay_ps: int = 0


@dataclass(frozen=True)
class Level:
    """Equal links of all to one switch; of Ethernet, or scale-up links of an efficiency in millionths."""

    link: Link
    latency_ps: int = 0
    efficiency_ppm: int = 0

    def lines(self, size: int, ends: Endpoint) -> list[int]:
        """Line bytes of the packets of one message."""
        if self.efficiency_ppm:
            return scale_up_lines(size, self.efficiency_ppm)
        return packet_lines(size, ends.payload)


def serialisation_ps(line_bytes: int, rate_bps: int) -> int:
    """Time of ``line_bytes`` on a link, rounded up to a whole picosecond."""
    return -((-8 * line_bytes * 10**12) // rate_bps)


def packet_lines(size: int, payload: int) -> list[int]:
    """Line bytes of the packets of one RDMA WRITE."""
    count = max(1, -(-size // payload))
    parts = [payload] * (count - 1) + [size - payload * (count - 1)]
    lines = [part + -part % 4 + ROCE_HEADERS + PREAMBLE_AND_GAP for part in parts]
    lines[0] += RETH
    return lines


def scale_up_lines(size: int, efficiency_ppm: int) -> list[int]:
    """Line bytes of the packets of one message on scale-up links, whose overhead is a share of the line."""
    count = max(1, -(-size // SCALE_UP_PAYLOAD))
    parts = [SCALE_UP_PAYLOAD] * (count - 1) + [size - SCALE_UP_PAYLOAD * (count - 1)]
    return [-(-max(part, SCALE_UP_FLIT) * 10**6 // efficiency_ppm) for part in parts]


def advance(
    start_ps: int, lines: Sequence[int], links: Sequence[Link], latencies_ps: Sequence[int], free_ps: list[int]
) -> tuple[int, int]:
    """Carry one message over ``links``; ``free_ps`` is each link's end of earlier traffic and is brought up to date.

    Returns when the last byte has left the first link and when it has arrived at the end.
    """
    ready = [start_ps] * len(lines)
    left_first = 0
    for j, link in enumerate(links):
        for k, line in enumerate(lines):
            free_ps[j] = max(ready[k], free_ps[j]) + serialisation_ps(line, link.rate_bps)
            ready[k] = free_ps[j] + link.delay_ps + (latencies_ps[j] if j + 1 < len(links) else 0)
        if j == 0:
            left_first = free_ps[0]
    return left_first, ready[-1]


def one_message(size: int, ends: Endpoint, links: Sequence[Link], latencies_ps: Sequence[int]) -> tuple[int, int]:
    """When a message posted at 0 is sent and delivered; ``latencies_ps`` are those of the nodes between the links."""
    sent, arrived = advance(
        ends.send_latency_ps, packet_lines(size, ends.payload), links, latencies_ps, [0] * len(links)
    )
    return sent, arrived + ends.receive_latency_ps


def stepwise(
    peers: Sequence[Sequence[int]],
    sizes: Sequence[Sequence[int]],
    ends: Endpoint,
    up: Sequence[Link],
    down: Sequence[Link],
    switch_latency_ps: int,
) -> list[list[int]]:
    """Delivery times [step][sender] of a collective on one switch in which each rank sends one message per step.

    ``peers`` and ``sizes`` are [step][rank], -1 for a rank without a message; a rank's step starts when the messages of
    the steps before have reached it (the first one endpoint delay after 0). Valid while no two messages to one rank
    overlap on its way down.
    """
    ranks = len(up)
    start = [ends.endpoint_delay_ps] * ranks
    up_free, down_free = [0] * ranks, [0] * ranks
    delivered: list[list[int]] = []
    for step_peers, step_sizes in zip(peers, sizes, strict=True):
        arrivals, next_start = [0] * ranks, list(start)
        for rank, (peer, size) in enumerate(zip(step_peers, step_sizes, strict=True)):
            if peer < 0:
                continue
            free = [up_free[rank], down_free[peer]]
            lines = packet_lines(size, ends.payload)
            links = (up[rank], down[peer])
            _, arrived = advance(start[rank] + ends.send_latency_ps, lines, links, (switch_latency_ps,), free)
            up_free[rank], down_free[peer] = free
            arrivals[rank] = arrived + ends.receive_latency_ps
            next_start[peer] = max(start[peer], arrivals[rank] + ends.endpoint_delay_ps)
        delivered.append(arrivals)
        start = next_start
    return delivered


def ring_steps(ranks: int, size: int) -> tuple[list[list[int]], list[list[int]]]:
    """Peers and sizes of a ring all-reduce: chunk c has a byte more than the others while c < size mod ranks.

    Rank r sends chunk r - s in step s of the reduce-scatter, and chunk r + 1 - s in step s of the all-gather.
    """
    chunk = [size // ranks + (c < size % ranks) for c in range(ranks)]
    steps = range(ranks - 1)
    sizes = [[chunk[(r - s) % ranks] for r in range(ranks)] for s in steps]
    sizes += [[chunk[(r + 1 - s) % ranks] for r in range(ranks)] for s in steps]
    return [[(r + 1) % ranks for r in range(ranks)]] * (2 * (ranks - 1)), sizes


def halving_doubling_steps(ranks: int, size: int) -> tuple[list[list[int]], list[list[int]]]:
    """Peers (-1: none) and sizes of a halving-doubling all-reduce of a power of two of ranks or any other number.

    Of p ranks that take part, the largest power of two, number v exchanges with v + 1, v + 2, v + 4, ... or the one so
    far before it, and halves the part of the buffer that it works on each time; then all of that backwards. Beyond p,
    the first ranks of even number give the next ones all they have in a step before that, and get it back in one after.
    """
    p = 1 << (ranks.bit_length() - 1)
    beyond = ranks - p
    rank_of = [2 * v + 1 for v in range(beyond)] + [*range(2 * beyond, ranks)]
    part = [size // p + (c < size % p) for c in range(p)]
    first, last = [0] * p, [p] * p
    halves: list[tuple[list[int], list[int], list[int]]] = []
    distance = 1
    while distance < p:
        given, kept = [0] * p, [0] * p
        for v in range(p):
            middle = (first[v] + last[v]) // 2
            lower, upper = sum(part[first[v] : middle]), sum(part[middle : last[v]])
            if v & distance:
                given[v], kept[v], first[v] = lower, upper, middle
            else:
                given[v], kept[v], last[v] = upper, lower, middle
        halves.append(([v ^ distance for v in range(p)], given, kept))
        distance *= 2
    peers, sizes = [], []
    for other, sent in [(o, g) for o, g, _ in halves] + [(o, k) for o, _, k in halves[::-1]]:
        step_peers, step_sizes = [-1] * ranks, [0] * ranks
        for v in range(p):
            step_peers[rank_of[v]], step_sizes[rank_of[v]] = rank_of[other[v]], sent[v]
        peers.append(step_peers)
        sizes.append(step_sizes)
    if beyond:
        handed = [rank + 1 if rank < 2 * beyond and rank % 2 == 0 else -1 for rank in range(ranks)]
        back = [rank - 1 if rank < 2 * beyond and rank % 2 else -1 for rank in range(ranks)]
        peers = [handed, *peers, back]
        sizes = [[size] * ranks, *sizes, [size] * ranks]
    return peers, sizes


def direct_exchange(
    lines: Sequence[int], peers: int, start_ps: int, ends: Endpoint, up: Link, down: Link, switch_latency_ps: int
) -> list[int]:
    """Delivery times by distance (1 to ``peers``) of one message of ``lines`` from everyone to everyone on one switch.

    All do the same at the same time: packet k to own + 1, packet k to own + 2, ..., then packet k + 1. What comes down
    is this same sequence, each from another.
    """
    left_up = start_ps + ends.send_latency_ps
    left_down = 0
    delivered = [0] * peers
    for line in lines:
        for i in range(peers):
            left_up += serialisation_ps(line, up.rate_bps)
            at_egress = left_up + up.delay_ps + switch_latency_ps
            left_down = max(at_egress, left_down) + serialisation_ps(line, down.rate_bps)
            delivered[i] = left_down + down.delay_ps + ends.receive_latency_ps
    return delivered


def direct_all_to_all(ranks: int, size: int, ends: Endpoint, up: Link, down: Link, switch_latency_ps: int) -> list[int]:
    """Delivery times by distance (1 to ranks - 1) of a direct all-to-all on one switch; ``ranks`` divides ``size``."""
    lines = packet_lines(size // ranks, ends.payload)
    return direct_exchange(lines, ranks - 1, ends.endpoint_delay_ps, ends, up, down, switch_latency_ps)


def steps_end(algorithm: str, halves: int, ranks: int, part: int, start_ps: int, ends: Endpoint, level: Level) -> int:
    """When all are ready to go on after ``halves`` times a reduce-scatter or all-gather of equal parts.

    ``"ring"``: ranks - 1 steps a half, each a message to the next one; ``"direct"``: one exchange a half.
    """
    lines, ready = level.lines(part, ends), start_ps
    for _ in range(halves * (ranks - 1 if algorithm == "ring" else 1)):
        peers = 1 if algorithm == "ring" else ranks - 1
        delivered = direct_exchange(lines, peers, ready, ends, level.link, level.link, level.latency_ps)
        ready = max(delivered) + ends.endpoint_delay_ps
    return ready


def hierarchical_all_reduce(
    machines: int, local: int, size: int, ends: Endpoint, inside: tuple[str, Level], between: tuple[str, Level]
) -> list[int]:
    """When all are ready to go on after each of the three phases; machines x local divides ``size``."""
    ends_ps = [ends.endpoint_delay_ps]
    if local > 1:
        ends_ps.append(steps_end(inside[0], 1, local, size // local, ends_ps[-1], ends, inside[1]))
    if machines > 1:
        ends_ps.append(steps_end(between[0], 2, machines, size // (machines * local), ends_ps[-1], ends, between[1]))
    if local > 1:
        ends_ps.append(steps_end(inside[0], 1, local, size // local, ends_ps[-1], ends, inside[1]))
    return ends_ps[1:]


def hierarchical_all_to_all(
    machines: int, local: int, size: int, ends: Endpoint, inside: Level, between: Level
) -> list[int]:
    """When all are ready to go on after each of the two phases; machines x local divides ``size``."""
    ends_ps = [ends.endpoint_delay_ps]
    if local > 1:
        ends_ps.append(steps_end("direct", 1, local, size // local, ends_ps[-1], ends, inside))
    if machines > 1:
        ends_ps.append(steps_end("direct", 1, machines, size // machines, ends_ps[-1], ends, between))
    return ends_ps[1:]


def equal_rates(lines: Sequence[int], rate_bps: int, delays_ps: Sequence[int], latency_ps: int) -> int:
    """The closed form of one message over h links of one rate: h t_1 + (n - 2) t + t_n + sum of delays + (h - 1) s."""
    tau = [serialisation_ps(line, rate_bps) for line in lines]
    h, n = len(delays_ps), len(tau)
    fixed = sum(delays_ps) + (h - 1) * latency_ps
    return h * tau[0] + fixed + ((n - 2) * tau[1] * (n > 2) + tau[-1] if n > 1 else 0)
