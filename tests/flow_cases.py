# SPDX-License-Identifier: GPL-2.0-only
"""Single messages of chosen starts and priorities, as a run of the flow engine or of another one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.schedule import OuterKind, Schedule
from astra_py.engines.base import Engine, EngineColumns, EngineOptions, ExitReason, TransportModel
from astra_py.engines.flow import FlowEngine
from astra_py.engines.routes import route_paths
from astra_py.platforms.platform import NodeKind, Platform
from engine_cases import one_instance, template_of
from nic_cases import case_of, transport
from reference_flow import Flow
from reference_roce import Transport
from reference_sim import Op

GBPS = 10**9
MB = 10**6
#: Bytes are line bytes, and a packet's time is a small part of any message's.
PLAIN = transport(payload=1000, header_bytes=0, ack="out_of_band")


@dataclass(frozen=True)
class Message:
    """So many bytes from a rank to another one, posted at a time."""

    src: int
    dst: int
    size_bytes: int
    start_ps: int = 0
    priority: int = 0


def network(ranks: int, switches: int, links: Sequence[tuple[int, int, int]], delay_ps: int = 0) -> Platform:
    """Ranks 0 to ``ranks`` - 1, switches from ``ranks`` on, without latency; links are (a, b, rate in Gb/s)."""
    graph: nx.MultiGraph[int] = nx.MultiGraph()
    for node in range(ranks + switches):
        is_rank = node < ranks
        graph.add_node(
            node,
            kind=NodeKind.ACCELERATOR if is_rank else NodeKind.SWITCH,
            rank=node if is_rank else -1,
            latency_ps=0,
            name=f"rank{node}" if is_rank else f"switch{node - ranks}",
            forwards=not is_rank,
        )
    for link, (a, b, rate_gbps) in enumerate(links):
        graph.add_edge(
            a, b, link=link, rate_bps=rate_gbps * GBPS, delay_ps=delay_ps, loss=0.0, link_class="link", efficiency=0.0
        )
    return Platform("network", graph)


def star(rates_gbps: Sequence[int], delay_ps: int = 0) -> Platform:
    """A rank for each rate around one switch."""
    ranks = len(rates_gbps)
    return network(ranks, 1, [(rank, ranks, rate) for rank, rate in enumerate(rates_gbps)], delay_ps)


def schedule_of(ranks: int, messages: Sequence[Message]) -> tuple[Schedule, list[int]]:
    """A schedule with one instance for each priority, and the messages in order of instance and operation."""
    priorities = sorted({message.priority for message in messages})
    order = [i for priority in priorities for i, m in enumerate(messages) if m.priority == priority]
    group = list(range(ranks))
    templates = []
    for priority in priorities:
        ops = tuple(Op(m.src, m.dst, m.size_bytes, m.start_ps) for m in messages if m.priority == priority)
        case = replace(case_of(1, Transport()), ops=ops, join_ps=(0,) * ranks, group=tuple(group))
        templates.append(template_of(case))
    count = len(priorities)
    rows = np.arange(count * ranks)
    schedule = replace(
        one_instance(templates[0], group, [0] * ranks),
        templates=tuple(templates),
        instance_template=np.arange(count, dtype=np.int32),
        instance_group=np.zeros(count, np.int32),
        instance_priority=np.array(priorities, np.uint8),
        instance_call=np.zeros(count, np.int32),
        kind=np.full(len(rows), OuterKind.COLLECTIVE, np.uint8),
        rank=(rows % ranks).astype(np.int32),
        duration_ps=np.zeros(len(rows), np.int64),
        instance=(rows // ranks).astype(np.int32),
        member=(rows % ranks).astype(np.int32),
        priority=np.zeros(len(rows), np.uint8),
        dep_ptr=np.zeros(len(rows) + 1, np.int64),
        dep_op=np.zeros(0, np.int32),
        use_ptr=np.zeros(len(rows) + 1, np.int64),
        name=np.zeros(len(rows), np.int32),
        iteration=np.zeros(len(rows), np.int32),
        phase=np.zeros(len(rows), np.int32),
    )
    return schedule, order


def run_messages(
    platform: Platform,
    messages: Sequence[Message],
    model: TransportModel = PLAIN,
    engine: Engine | None = None,
    **options: Any,
) -> EngineColumns:
    """Run the messages to their end."""
    schedule, _ = schedule_of(platform.ranks, messages)
    columns = (engine or FlowEngine()).run(schedule, platform, model, EngineOptions(**options))
    assert columns.exit_reason == ExitReason.COMPLETED
    assert columns.message_delivered_bytes.tolist() == columns.message_size_bytes.tolist()
    return columns


def of_messages(
    platform: Platform, messages: Sequence[Message], columns: EngineColumns, name: str
) -> NDArray[np.int64]:
    """The column ``message_`` ``name`` in the messages' own order."""
    schedule, order = schedule_of(platform.ranks, messages)
    first = np.cumsum([0, *(len(template) for template in schedule.templates)])
    column = np.empty(len(messages), np.int64)
    column[np.array(order)[first[columns.message_instance] + columns.message_op]] = getattr(columns, f"message_{name}")
    return column


def sent_us(platform: Platform, messages: Sequence[Message], model: TransportModel = PLAIN) -> list[float]:
    """When each message's last byte has left."""
    return [ps / 1e6 for ps in of_messages(platform, messages, run_messages(platform, messages, model), "sent_ps")]


def flows_of(platform: Platform, messages: Sequence[Message], qps_per_peer: int) -> list[Flow]:
    """The messages as flows of the reference, on the routes of seed 1; their bytes are line bytes."""
    src, dst = (np.array([getattr(m, name) for m in messages], np.int32) for name in ("src", "dst"))
    ptr, channels = route_paths(platform, 1, src, dst, np.zeros(len(messages), np.int32))
    posted: dict[tuple[int, int, int], int] = {}
    numbers = [0] * len(messages)
    for i in sorted(range(len(messages)), key=lambda i: messages[i].start_ps):
        pair = (messages[i].src, messages[i].dst, messages[i].priority)
        numbers[i] = posted.get(pair, 0)
        posted[pair] = numbers[i] + 1
    return [
        Flow(
            start_ps=m.start_ps,
            line_bytes=m.size_bytes,
            channels=tuple(channels[ptr[i] : ptr[i + 1]].tolist()),
            queue_pair=(m.src, m.dst, m.priority, numbers[i] % qps_per_peer if qps_per_peer else numbers[i]),
            priority=m.priority,
        )
        for i, m in enumerate(messages)
    ]


def rates_of(platform: Platform) -> dict[int, int]:
    """The rate of each channel in bit/s."""
    rates = platform.arrays().link_rate_bps.tolist()
    return {channel: rates[channel // 2] for channel in range(2 * len(rates))}
