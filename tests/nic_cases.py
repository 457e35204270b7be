# SPDX-License-Identifier: GPL-2.0-only
"""One rank that sends to another, as a run of the packet engine without all that is around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import networkx as nx

from astra_py.engines.base import AckPolicy, Engine, EngineColumns, EngineOptions, TransportModel
from astra_py.engines.packet import PacketEngine
from astra_py.platforms.platform import Platform
from engine_cases import one_instance, platform_of, template_of, transport_of
from oracle_cases import Case
from reference_port import Node
from reference_roce import Transport
from reference_sim import Op

RATE_BPS = 100 * 10**9
DELAY_PS = 500_000
LATENCY_PS = 300_000


def transport(*, payload: int = 4096, qps: int = 1, ack: str = "per_packet", **others: Any) -> TransportModel:
    """RoCE's own sizes, no window, no control."""
    case = case_of(1, Transport(payload=payload, qps_per_peer=qps))
    return replace(transport_of(case), ack_policy=AckPolicy[ack.upper()], **others)


def case_of(size: int, figures: Transport, messages: int = 1) -> Case:
    """So many messages at once from rank 0 to rank 1 over a switch."""
    return Case(
        name="flow",
        nodes=(Node(0, 0), Node(1, 0), Node(-1, LATENCY_PS)),
        links=((0, 2, RATE_BPS, DELAY_PS), (1, 2, RATE_BPS, DELAY_PS)),
        transport=figures,
        ops=tuple(Op(0, 1, size) for _ in range(messages)),
        join_ps=(0, 0),
        group=(0, 1),
    )


def run_flow(
    size: int,
    model: TransportModel,
    ns3_defaults: Mapping[str, Any] | None = None,
    *,
    messages: int = 1,
    loss: float = 0.0,
    seed: int = 1,
    platform: Platform | None = None,
    engine: Engine | None = None,
) -> EngineColumns:
    """Run the messages over a switch, or a platform of the caller's, in the packet engine or the one that is given."""
    case = case_of(size, Transport(), messages)
    if platform is None:
        graph = platform_of(case).graph
        nx.set_edge_attributes(graph, loss, "loss")
        platform = Platform("flow", graph)
    options = EngineOptions(seed=seed, ns3_defaults={name: str(value) for name, value in (ns3_defaults or {}).items()})
    schedule = one_instance(template_of(case), case.group, case.join_ps)
    return (engine or PacketEngine()).run(schedule, platform, model, options)
