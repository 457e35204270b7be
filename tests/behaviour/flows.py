# SPDX-License-Identifier: GPL-2.0-only
"""Flows of bytes between ranks, each from its own time, as a run with all that a run has: checks, tables, report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

import astra_py as ap
from astra_py.api import Run
from astra_py.config import load_scenario
from astra_py.engines.hook import RoutingHook
from astra_py.platforms import Platform
from astra_py.platforms.platform import NodeKind
from astra_py.workloads import CollectiveCall, Trace, TraceBuilder

WORKLOADS = Path(__file__).parents[2] / "workloads"
GBPS = 10**9
US, MS = 10**6, 10**9


@dataclass(frozen=True)
class Flow:
    """``size_bytes`` from ``src`` to ``dst``, posted at ``start_ps`` as ``messages`` of about the same size."""

    src: int
    dst: int
    size_bytes: int
    start_ps: int = 0
    messages: int = 1
    priority: int = 0

    @property
    def sizes(self) -> list[int]:
        whole, rest = divmod(self.size_bytes, self.messages)
        return [whole + (i < rest) for i in range(self.messages)]


class FlowRun(Run):
    """A scenario whose work is ``flows``, on its own platform or on the one given."""

    def __init__(
        self,
        flows: Iterable[Flow],
        *overrides: str,
        source: str | Mapping[str, Any] | None = None,
        platform: Platform | None = None,
        routing_hook: RoutingHook | None = None,
    ) -> None:
        scenario = load_scenario({} if source is None else source, overrides)
        super().__init__(scenario, alone=("sendrecv", 1, (0, 1)), routing_hook=routing_hook)
        self.flows = tuple(flows)
        self._given = platform

    @cached_property
    def platform(self) -> Platform:
        return super().platform if self._given is None else self._given

    @cached_property
    def trace(self) -> Trace:
        build = TraceBuilder(self.platform.ranks)
        for number, flow in enumerate(self.flows):
            # a stream of its own: delays of one rank run side by side
            start = build.compute([flow.src], flow.start_ps, name=f"start {number}", stream=f"start {number}")
            for size in flow.sizes:
                call = CollectiveCall(
                    name=f"flow {number}",
                    kind="sendrecv",
                    group=(flow.src, flow.dst),
                    size_bytes=size,
                    priority=flow.priority,
                )
                build.collective(call, after=np.array([start[0], -1]))
        return build.build()


def run_flows(flows: Iterable[Flow], *overrides: str, **given: Any) -> ap.Result:
    """Run the flows to their end and through all checks; arguments as :class:`FlowRun` has them."""
    return FlowRun(flows, *overrides, **given).run()


def incast(senders: int, size_bytes: int, *, dst: int = 0) -> list[Flow]:
    """Flows of the ranks that follow ``dst`` to it, all from time 0."""
    return [Flow(src, dst, size_bytes) for src in range(dst + 1, dst + 1 + senders)]


def graph_of(
    kinds: Sequence[NodeKind],
    links: Sequence[tuple[int, int, int, int]],
    *,
    latency_ps: int = 0,
    efficiency: float = 0.0,
) -> Platform:
    """A platform of nodes of these kinds, accelerators in order of rank; links are (a, b, bit/s, ps of delay)."""
    graph: nx.MultiGraph[int] = nx.MultiGraph()
    ranks = iter(range(len(kinds)))
    for node, kind in enumerate(kinds):
        is_switch = kind == NodeKind.SWITCH
        rank = -1 if is_switch else next(ranks)
        graph.add_node(
            node,
            kind=kind,
            rank=rank,
            latency_ps=latency_ps if is_switch else 0,
            name=f"switch{node}" if is_switch else f"rank{rank}",
            forwards=is_switch,
        )
    for link, (a, b, rate_bps, delay_ps) in enumerate(links):
        graph.add_edge(
            a,
            b,
            link=link,
            rate_bps=rate_bps,
            delay_ps=delay_ps,
            loss=0.0,
            link_class="link",
            efficiency=efficiency,
        )
    return Platform("graph", graph)
