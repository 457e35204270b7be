# SPDX-License-Identifier: GPL-2.0-only
"""How far a platform's nodes are from each other, and which of them hang together."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from astra_py.platforms.node_kind import NodeKind

if TYPE_CHECKING:
    from astra_py.platforms.platform import PlatformArrays

__all__ = ["Reach"]

#: Sources from which distances are worked out; of more ranks evenly many are taken, so that a bound stays one.
_MOST_SOURCES = 64

Nodes = NDArray[np.bool_]


class Reach:
    """Latencies and neighbourhoods on a platform's graph.

    Latency is the sum of the delays of a way's links and of the latencies of nodes that it passes through. Nodes that
    forward nothing are not passed through, but for ranks: an algorithm may have any of them pass a message on at once.
    """

    def __init__(self, arrays: PlatformArrays) -> None:
        self._arrays = arrays
        is_rank = arrays.node_rank >= 0
        self._latency = np.where(is_rank, 0, arrays.node_latency_ps).tolist()
        self._forwards = ((arrays.node_forwards > 0) | is_rank).tolist()
        self._near: list[list[tuple[int, int]]] = [[] for _ in arrays.node_kind]
        for a, b, delay in zip(
            arrays.link_a.tolist(), arrays.link_b.tolist(), arrays.link_delay_ps.tolist(), strict=True
        ):
            self._near[a].append((b, delay))
            self._near[b].append((a, delay))

    def _from(self, sources: list[int]) -> Iterator[tuple[int, int]]:
        """Nodes with their latency from the nearest of ``sources``, the nearest first."""
        seen = [False] * len(self._near)
        heap = [(0, source, True) for source in sources]
        while heap:
            latency, node, is_source = heapq.heappop(heap)
            if seen[node]:
                continue
            seen[node] = True
            yield node, latency
            if is_source or self._forwards[node]:
                passed = latency + (0 if is_source else self._latency[node])
                for near, delay in self._near[node]:
                    if not seen[near]:
                        heapq.heappush(heap, (passed + delay, near, False))

    def least_ps(self, inside: Nodes, others: Nodes) -> int:
        """Least latency from a node inside to one of ``others``."""
        return next(latency for node, latency in self._from(np.flatnonzero(inside).tolist()) if others[node])

    def farthest_ps(self, node_of_member: NDArray[np.int64], pairs: NDArray[np.bool_]) -> int:
        """Largest latency of a pair of members, of those that ``pairs`` names."""
        sources = np.flatnonzero(pairs.any(axis=1))
        sources = sources[np.linspace(0, len(sources) - 1, min(len(sources), _MOST_SOURCES)).astype(np.int64)]
        member = {node: i for i, node in enumerate(node_of_member.tolist())}
        farthest = 0
        for source in sources.tolist():
            for node, latency in self._from([int(node_of_member[source])]):
                if node in member and pairs[source, member[node]]:
                    farthest = max(farthest, latency)
        return farthest

    def over_scale_up(self, nodes: NDArray[np.int64]) -> Nodes:
        """These nodes and all that scale-up links alone lead to from them."""
        arrays = self._arrays
        is_up = arrays.link_efficiency > 0
        graph: nx.Graph[int] = nx.Graph()
        graph.add_nodes_from(nodes.tolist())
        graph.add_edges_from(zip(arrays.link_a[is_up].tolist(), arrays.link_b[is_up].tolist(), strict=True))
        return self._mask(set().union(*(nx.node_connected_component(graph, node) for node in nodes.tolist())))

    def leaves(self, is_member: Nodes) -> Iterator[tuple[int, Nodes]]:
        """Switches that members reach without another switch on Ethernet, each with what hangs on it alone."""
        arrays = self._arrays
        graph: nx.Graph[int] = nx.Graph()
        graph.add_nodes_from(range(len(self._near)))
        is_switch = (arrays.node_kind == NodeKind.SWITCH) & ~self._is_scale_up_only()
        graph.add_edges_from(
            (a, b)
            for a, b in zip(arrays.link_a.tolist(), arrays.link_b.tolist(), strict=True)
            if not (is_switch[a] or is_switch[b])
        )
        hangs: dict[int, list[set[int]]] = {}
        for part in nx.connected_components(graph):
            around = {near for node in part for near, _ in self._near[node] if is_switch[near]}
            if len(around) == 1 and any(is_member[node] for node in part):
                hangs.setdefault(around.pop(), []).append(part)
        for switch, parts in hangs.items():
            yield switch, self._mask(set().union({switch}, *parts))

    def minimum_cut(
        self, first: NDArray[np.int64], second: NDArray[np.int64], capacity_bps: list[int]
    ) -> tuple[Nodes, int]:
        """Nodes on the side of ``first``, and the rate between the sides."""
        graph: nx.DiGraph[int | str] = nx.DiGraph()
        for a, b, capacity in zip(
            self._arrays.link_a.tolist(), self._arrays.link_b.tolist(), capacity_bps, strict=True
        ):
            for tail, head in ((a, b), (b, a)):
                before = graph.edges[tail, head]["capacity"] if graph.has_edge(tail, head) else 0
                graph.add_edge(tail, head, capacity=before + capacity)
        for node in first.tolist():
            graph.add_edge("first", node)
        for node in second.tolist():
            graph.add_edge(node, "second")
        value, (side, _) = nx.minimum_cut(graph, "first", "second")
        return self._mask(side - {"first"}), int(value)

    def _is_scale_up_only(self) -> Nodes:
        """Nodes without an Ethernet link."""
        arrays, has_ethernet = self._arrays, np.zeros(len(self._near), dtype=np.bool_)
        for end in (arrays.link_a, arrays.link_b):
            has_ethernet[end[arrays.link_efficiency <= 0]] = True
        return ~has_ethernet

    def _mask(self, nodes: set[int]) -> Nodes:
        mask = np.zeros(len(self._near), dtype=np.bool_)
        mask[list(nodes)] = True
        return mask
