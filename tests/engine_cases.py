# SPDX-License-Identifier: GPL-2.0-only
"""A case of the oracle as the product's own Platform, Schedule and TransportModel, and as a run of an engine."""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx
import numpy as np

from astra_py.collectives.schedule import EdgeOn, OpKind, OuterKind, Schedule, Template
from astra_py.engines.base import AckPolicy, EngineColumns, EngineOptions, TimeRounding, TransportModel, WindowPolicy
from astra_py.engines.packet import PacketEngine
from astra_py.platforms.platform import NodeKind, Platform
from oracle_cases import Case


def platform_of(case: Case) -> Platform:
    """The case's nodes and links as a Platform."""
    graph: nx.MultiGraph[int] = nx.MultiGraph()
    for number, node in enumerate(case.nodes):
        is_switch = node.rank < 0
        graph.add_node(
            number,
            kind=NodeKind.SWITCH if is_switch else NodeKind.ACCELERATOR,
            rank=node.rank,
            latency_ps=node.latency_ps,
            name=f"switch {number}" if is_switch else f"rank {node.rank}",
            forwards=is_switch or case.does_rank_forward,
        )
    for number, (a, b, rate, delay) in enumerate(case.links):
        part = case.efficiency_ppm[number] if case.efficiency_ppm else 0
        graph.add_edge(
            a, b, link=number, rate_bps=rate, delay_ps=delay, loss=0.0, link_class="link", efficiency=part / 1e6
        )
    return Platform(case.name, graph)


def template_of(case: Case) -> Template:
    """The case's operations in coordinates of its group."""
    member = {rank: i for i, rank in enumerate(case.group)}
    ops, count = case.ops, len(case.ops)
    deps = [op.deps for op in ops]
    nothing = {dtype: np.zeros(0, dtype) for dtype in ("i4", "u1")}
    return Template(
        collective="case",
        algorithm="random",
        ranks=len(case.group),
        kind=np.array([OpKind.COMPUTE if op.dst is None else OpKind.SEND for op in ops], np.uint8),
        src=np.array([member[op.owner] for op in ops], np.int32),
        dst=np.array([member[op.owner if op.dst is None else op.dst] for op in ops], np.int32),
        size_bytes=np.array([op.size for op in ops], np.int64),
        duration_ps=np.array([op.duration_ps for op in ops], np.int64),
        phase=np.zeros(count, np.int32),
        chunk=np.zeros(count, np.int32),
        dep_ptr=np.cumsum([0, *(len(d) for d in deps)], dtype=np.int64),
        dep_op=np.array([op for d in deps for op, _ in d], np.int32),
        dep_on=np.array([moment for d in deps for _, moment in d], np.uint8),
        pool_owner=nothing["i4"],
        pool_capacity=nothing["i4"],
        pool_order=nothing["u1"],
        use_ptr=np.zeros(count + 1, np.int64),
        use_pool=nothing["i4"],
        release_on=nothing["u1"],
        block_ptr=np.zeros(count + 1, np.int64),
        block=nothing["i4"],
        combine=np.zeros(count, np.uint8),
        phase_names=("case",),
        notify_on=EdgeOn(case.transport.notify_on),
    )


def one_instance(template: Template, group: Sequence[int], join_ps: Sequence[int]) -> Schedule:
    """One instance of the template; a rank joins after a compute of its own. Row 2 m + 1 is member m's part."""
    ranks = len(group)
    part = np.tile(np.array([False, True]), ranks)
    rank = np.repeat(np.array(group, np.int32), 2)
    join = np.array(join_ps, np.int64)
    return Schedule(
        ranks=ranks,
        templates=(template,),
        group_ptr=np.array([0, ranks], np.int64),
        group_rank=np.array(group, np.int32),
        instance_template=np.zeros(1, np.int32),
        instance_group=np.zeros(1, np.int32),
        instance_priority=np.zeros(1, np.uint8),
        instance_call=np.zeros(1, np.int32),
        kind=np.where(part, OuterKind.COLLECTIVE, OuterKind.COMPUTE).astype(np.uint8),
        rank=rank,
        duration_ps=np.where(part, 0, join[rank]),
        instance=np.where(part, 0, -1).astype(np.int32),
        member=np.where(part, np.arange(2 * ranks) // 2, -1).astype(np.int32),
        priority=np.zeros(2 * ranks, np.uint8),
        dep_ptr=np.cumsum([0, *part.tolist()], dtype=np.int64),
        dep_op=np.arange(0, 2 * ranks, 2, dtype=np.int32),
        pool_owner=np.zeros(0, np.int32),
        pool_capacity=np.zeros(0, np.int32),
        pool_order=np.zeros(0, np.uint8),
        use_ptr=np.zeros(2 * ranks + 1, np.int64),
        use_pool=np.zeros(0, np.int32),
        name=np.zeros(2 * ranks, np.int32),
        names=("case",),
        iteration=np.zeros(2 * ranks, np.int32),
        phase=np.zeros(2 * ranks, np.int32),
        phases=("case",),
    )


def transport_of(case: Case) -> TransportModel:
    """The case's figures as the engines take them."""
    t = case.transport
    return TransportModel(
        payload_bytes=t.payload,
        header_bytes=-1 if t.header is None else t.header,
        ack_bytes=-1 if t.ack is None else t.ack,
        ack_policy=AckPolicy[t.ack_policy.upper()],
        ack_every=t.ack_every,
        is_ack_class_shared=t.is_ack_class_shared,
        window_policy=WindowPolicy.NONE if t.window is None else WindowPolicy.FIXED,
        window_bytes=t.window or 0,
        qps_per_peer=t.qps_per_peer,
        timeout_ps=-1,
        send_latency_ps=t.send_latency_ps,
        receive_latency_ps=t.receive_latency_ps,
        notify_on=EdgeOn(t.notify_on),
        time_rounding=TimeRounding.NS_NEAREST if t.is_ns_nearest else TimeRounding.PS_CEIL,
    )


def run_packet(case: Case, template: Template | None = None, seed: int = 1) -> EngineColumns:
    """Run the packet engine on the case, or on ``template`` in place of the case's operations."""
    schedule = one_instance(template_of(case) if template is None else template, case.group, case.join_ps)
    options = EngineOptions(seed=seed, endpoint_delay_ps=case.endpoint_delay_ps)
    return PacketEngine().run(schedule, platform_of(case), transport_of(case), options)
