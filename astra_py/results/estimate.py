# SPDX-License-Identifier: GPL-2.0-only
"""What a run would take, from its schedule and its routes alone, before anything is simulated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from astra_py.results.traffic import Traffic

if TYPE_CHECKING:
    from astra_py.collectives.schedule import Schedule
    from astra_py.engines.base import TransportModel
    from astra_py.platforms.platform import Platform
    from astra_py.results.record import RoutePaths

__all__ = ["Estimate", "estimate_run"]

#: CPU time of one frame on one link in the packet engine, and in each engine of one message from its posting to its
#: checks; fitted to jobs of 8 to 128 ranks, of 64 to 512 without packets, on one core of a 2-core x86-64 virtual
#: machine, 2026.
_FRAME_HOP_S = 0.2e-6
_MESSAGE_S = {"packet": 3e-6, "flow": 5e-6, "analytic": 4e-6}
#: CPU time of a segment of TCP, with its acknowledgement, and of a connection; memory of one; measured with jobs of 8
#: to 64 ranks there.
_SEGMENT_S, _CONNECTION_S, _CONNECTION_BYTES = 12e-6, 80e-6, 26_000
#: CPU time of starting Python and the extension, and of reading, lowering and reporting a small run; measured there.
_START_S = 0.7
#: Memory of the interpreter and its libraries, of a message in each engine's columns, and of an operation; measured
#: there.
_START_BYTES = 75 * 10**6
_MESSAGE_BYTES = {"packet": 240, "flow": 750, "analytic": 520}
_OPERATION_BYTES = 400


@dataclass(frozen=True)
class Estimate:
    """Counts of a run, exact where nothing is lost, and what they are likely to cost.

    Attributes
    ----------
    ranks, operations, collectives, messages : as the schedule has them.
    packets : data packets that NICs send, where packets are simulated.
    packet_hops : frames, acknowledgements too, times the links they cross.
    cpu_s, memory_bytes : likely CPU time and peak memory of the run, to within a factor of about two; flows that end
        one by one on shared links take longer.
    """

    ranks: int
    operations: int
    collectives: int
    messages: int
    packets: int
    packet_hops: int
    cpu_s: float
    memory_bytes: int


def estimate_run(
    schedule: Schedule,
    platform: Platform,
    transport: TransportModel,
    seed: int,
    route_paths: RoutePaths,
    engine: str = "packet",
) -> Estimate:
    """Count what ``schedule`` would put on ``platform``, and what it costs ``engine``."""
    key = np.stack([schedule.instance_template, schedule.instance_group], axis=1)
    distinct, times = np.unique(key, axis=0, return_counts=True)
    src, dst, size, weight = [], [], [], []
    for (template, group), count in zip(distinct, times, strict=True):
        shape, ranks = schedule.templates[template], schedule.group(int(group))
        sends = shape.is_send & shape.is_counted
        src.append(ranks[shape.src[sends]])
        dst.append(ranks[shape.dst[sends]])
        size.append(shape.size_bytes[sends])
        weight.append(np.full(int(sends.sum()), count))
    if not size:
        return _cost(schedule, engine, 0, 0, 0)
    sizes, counts = np.concatenate(size), np.concatenate(weight)
    # which queue pair a message takes depends on the run: one to each peer stands for all, and ways are equally long
    traffic = Traffic.on_routes(
        sizes,
        np.concatenate(src),
        np.concatenate(dst),
        np.zeros(len(sizes), dtype=np.uint8),
        1,
        lambda a, b, qp: route_paths(platform, seed, a, b, qp),
        np.repeat(platform.arrays().link_efficiency, 2),
    )
    packets = traffic.packets(transport) * counts
    segments = connections = 0
    if transport.tcp is not None:
        segments = int(packets[~traffic.is_message_scale_up].sum())
        connections = int((~traffic.is_scale_up).sum()) * transport.tcp.sockets_per_peer
    there, back = np.diff(traffic.there_ptr)[traffic.flow], np.diff(traffic.back_ptr)[traffic.flow]
    hops = packets * there + traffic.acks(transport) * counts * back
    return _cost(
        schedule,
        engine,
        int(counts.sum()),
        int(packets.sum()),
        int(hops.sum()),
        segments=segments,
        connections=connections,
    )


def _cost(
    schedule: Schedule,
    engine: str,
    messages: int,
    packets: int,
    packet_hops: int,
    *,
    segments: int = 0,
    connections: int = 0,
) -> Estimate:
    frames_s = _FRAME_HOP_S * packet_hops + _SEGMENT_S * segments + _CONNECTION_S * connections
    sockets_bytes = _CONNECTION_BYTES * connections
    if engine != "packet":
        frames_s, sockets_bytes = 0.0, 0
    return Estimate(
        ranks=schedule.ranks,
        operations=len(schedule),
        collectives=len(schedule.instance_call),
        messages=messages,
        packets=packets,
        packet_hops=packet_hops,
        cpu_s=_START_S + frames_s + _MESSAGE_S[engine] * messages,
        memory_bytes=_START_BYTES
        + _MESSAGE_BYTES[engine] * messages
        + _OPERATION_BYTES * len(schedule)
        + sockets_bytes,
    )
