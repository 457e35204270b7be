# SPDX-License-Identifier: GPL-2.0-only
"""A run on one switch whose engine is the plain reference simulator: ground for the tests of tables and checks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

import reference_sim
from astra_py.collectives import build_template, declared_rank_bytes
from astra_py.collectives.schedule import EdgeOn, OpKind, OuterKind, Schedule
from astra_py.engines.base import (
    AckPolicy,
    EngineColumns,
    EngineOptions,
    ExitReason,
    SwitchModel,
    TimeRounding,
    TransportModel,
    WindowPolicy,
)
from astra_py.platforms.platform import NodeKind, Platform
from astra_py.results.alone import schedule_of_one
from astra_py.results.record import RunRecord
from astra_py.workloads import CollectiveCall, TraceBuilder

RATE_BPS, DELAY_PS, LATENCY_PS = 100 * 10**9, 500_000, 300_000
TRANSPORT = TransportModel(
    payload_bytes=1000,
    header_bytes=-1,
    ack_bytes=-1,
    ack_policy=AckPolicy.PER_PACKET,
    ack_every=1,
    is_ack_class_shared=False,
    window_policy=WindowPolicy.NONE,
    window_bytes=0,
    qps_per_peer=1,
    timeout_ps=-1,
    send_latency_ps=0,
    receive_latency_ps=0,
    notify_on=EdgeOn.DELIVERED,
    time_rounding=TimeRounding.PS_CEIL,
)
SWITCH = SwitchModel(buffer_bytes=10**6, lossless=tuple(range(8)), response_quanta=60, has_ecn=True)


def star(ranks: int) -> Platform:
    """Accelerators 0 to ``ranks`` - 1 around one switch; link r is that of rank r."""
    graph: nx.MultiGraph[int] = nx.MultiGraph()
    for rank in range(ranks):
        graph.add_node(rank, kind=NodeKind.ACCELERATOR, rank=rank, latency_ps=0, name=f"rank{rank}", forwards=False)
    graph.add_node(ranks, kind=NodeKind.SWITCH, rank=-1, latency_ps=LATENCY_PS, name="switch", forwards=True)
    for rank in range(ranks):
        graph.add_edge(rank, ranks, link=rank, rate_bps=RATE_BPS, delay_ps=DELAY_PS, loss=0.0, link_class="access")
    return Platform("star", graph)


def star_paths(
    platform: Platform, seed: int, src: Any, dst: Any, qp: Any
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Up on the sender's link, down on the receiver's."""
    way = np.stack([2 * np.asarray(src), 2 * np.asarray(dst) + 1], axis=1)
    return np.arange(len(way) + 1, dtype=np.int64) * 2, way.astype(np.int32).ravel()


class ReferenceEngine:
    """Runs a schedule of one collective, which all its ranks join at once."""

    name = "reference"

    def run(
        self, schedule: Schedule, platform: Platform, transport: TransportModel, options: EngineOptions
    ) -> EngineColumns:
        """Run on the star."""
        (template,) = schedule.templates
        group = schedule.group(0)
        ranks = schedule.ranks
        nodes = [reference_sim.Node(rank) for rank in range(ranks)] + [reference_sim.Node(-1, LATENCY_PS)]
        ends = [(r, ranks) for r in range(ranks) for _ in range(2)]
        channels = [
            reference_sim.Channel(*(pair if i % 2 == 0 else pair[::-1]), RATE_BPS, DELAY_PS)
            for i, pair in enumerate(ends)
        ]
        ops = [
            reference_sim.Op(
                owner=int(group[template.src[i]]),
                dst=int(group[template.dst[i]]) if template.kind[i] == OpKind.SEND else None,
                size=int(template.size_bytes[i]),
                duration_ps=int(template.duration_ps[i]),
                deps=tuple(
                    (int(template.dep_op[k]), int(template.dep_on[k]))
                    for k in range(template.dep_ptr[i], template.dep_ptr[i + 1])
                ),
            )
            for i in range(len(template))
        ]
        sim = reference_sim.Simulator(
            nodes,
            channels,
            lambda src, dst, qp: [2 * src, 2 * dst + 1],
            reference_sim.Transport(
                payload=transport.payload_bytes,
                ack_policy=transport.ack_policy.name.lower(),
                ack_every=transport.ack_every,
                qps_per_peer=transport.qps_per_peer,
            ),
            ops,
            [0] * ranks,
            options.endpoint_delay_ps,
        ).run()
        sends = np.flatnonzero(template.is_send)
        sends = sends[np.argsort([sim.posted[i] for i in sends], kind="stable")]

        def moments(column: list[int | None]) -> NDArray[np.int64]:
            return np.array([column[i] for i in sends], dtype=np.int64)

        size = template.size_bytes[sends]
        src, dst = group[template.src[sends]], group[template.dst[sends]]
        payload = np.zeros(len(channels), dtype=np.int64)
        np.add.at(payload, 2 * src, size)
        np.add.at(payload, 2 * dst + 1, size)
        line = np.array([port.line_bytes for port in sim.ports], dtype=np.int64)
        zeros = np.zeros(len(channels), dtype=np.int64)
        return EngineColumns(
            op_start_ps=np.zeros(len(schedule), dtype=np.int64),
            op_end_ps=np.array(sim.end_ps, dtype=np.int64)[schedule.rank],
            message_instance=np.zeros(len(sends), dtype=np.int32),
            message_op=sends.astype(np.int32),
            message_src=src,
            message_dst=dst,
            message_size_bytes=size,
            message_posted_ps=moments(sim.posted),
            message_sent_ps=moments(sim.sent),
            message_delivered_ps=moments(sim.delivered),
            message_acked_ps=moments(sim.acked),
            message_delivered_bytes=size,
            message_retransmitted_packets=np.zeros(len(sends), dtype=np.int64),
            channel_line_bytes=line,
            channel_frames=np.array([port.frames for port in sim.ports], dtype=np.int64),
            channel_data_frames=zeros,
            channel_payload_bytes=payload,
            channel_delivered_payload_bytes=payload,
            channel_dropped_frames=zeros,
            channel_busy_ps=line * 80,
            channel_max_queue_bytes=zeros,
            rank_sent_payload_bytes=np.bincount(src, size, minlength=ranks).astype(np.int64),
            rank_received_payload_bytes=np.bincount(dst, size, minlength=ranks).astype(np.int64),
            counters={"events": sim.scheduled, "frames_in_flight": 0, "events_left": 0},
            end_ps=sim.now,
            exit_reason=ExitReason.COMPLETED,
        )


def one_collective(
    kind: str = "all_reduce", algorithm: str = "ring", ranks: int = 4, size_bytes: int = 40_000, **transport: Any
) -> RunRecord:
    """The record of one collective, all ranks joining at 0."""
    call = CollectiveCall(name=kind, kind=kind, group=tuple(range(ranks)), size_bytes=size_bytes)
    build = TraceBuilder(ranks)
    build.collective(call)
    trace = build.build()
    schedule = schedule_of_one(
        build_template(kind, algorithm, ranks, size_bytes), np.arange(ranks, dtype=np.int32), ranks
    )
    engine, platform, model = ReferenceEngine(), star(ranks), replace(TRANSPORT, **transport)
    return RunRecord(
        trace=trace,
        schedule=schedule,
        platform=platform,
        transport=model,
        switch=SWITCH,
        declared_bytes=declared_rank_bytes(trace, {kind: algorithm}),
        seed=1,
        endpoint_delay_ps=0,
        max_active_collectives=None,
        engine="packet",
        columns=engine.run(schedule, platform, model, EngineOptions()),
        route_paths=star_paths,
        analytic=engine,
    )


def with_columns(record: RunRecord, **columns: Any) -> RunRecord:
    """The record with other measurements."""
    return replace(record, columns=replace(record.columns, **columns))


def local_record(rows: list[tuple[int, OuterKind, int, int, int]], ranks: int = 1) -> RunRecord:
    """A record of operations (rank, kind, iteration, start_ps, end_ps), with nothing on the network.

    A row of kind COLLECTIVE is a part of the one collective of its iteration.
    """
    rank, kind, iteration, start, end = (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
    record = one_collective(ranks=max(ranks, 2))
    is_part = kind == OuterKind.COLLECTIVE
    wide = np.zeros(len(rows) + 1, dtype=np.int64)
    schedule = replace(
        record.schedule,
        kind=kind.astype(np.uint8),
        rank=rank.astype(np.int32),
        duration_ps=np.where(is_part, 0, end - start),
        instance=np.where(is_part, 0, -1).astype(np.int32),
        member=np.where(is_part, rank, -1).astype(np.int32),
        priority=np.zeros(len(rows), dtype=np.uint8),
        dep_ptr=wide,
        use_ptr=wide,
        name=np.zeros(len(rows), dtype=np.int32),
        iteration=iteration.astype(np.int32),
        phase=np.zeros(len(rows), dtype=np.int32),
    )
    return with_columns(replace(record, schedule=schedule), op_start_ps=start, op_end_ps=end)
