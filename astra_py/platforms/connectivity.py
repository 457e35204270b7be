# SPDX-License-Identifier: GPL-2.0-only
"""Whether each pair of ranks has a way between them, over nodes that forward."""

from __future__ import annotations

import networkx as nx

from astra_py.errors import TopologyError
from astra_py.platforms.node_kind import NodeKind

__all__ = ["require_ways"]


def require_ways(graph: nx.MultiGraph[int]) -> None:
    """Check that every rank reaches every other one.

    Nodes that forward and hang together form an *area*. Two ranks have a way if they touch one area, or are neighbours.

    Raises
    ------
    TopologyError
        two ranks have no way; they are named.
    """
    forwarding = [node for node, forwards in graph.nodes(data="forwards") if forwards]
    area = {
        node: number
        for number, nodes in enumerate(nx.connected_components(graph.subgraph(forwarding)))
        for node in nodes
    }
    ranks = sorted(
        (rank, node) for node, rank in graph.nodes(data="rank") if graph.nodes[node]["kind"] == NodeKind.ACCELERATOR
    )
    touched = {
        node: frozenset([area[node]] if node in area else (area[near] for near in graph.adj[node] if near in area))
        for _, node in ranks
    }
    if len(ranks) == 1 or frozenset.intersection(*touched.values()):
        return
    for position, (_, node) in enumerate(ranks):
        for _, other in ranks[:position]:
            if not touched[node] & touched[other] and other not in graph.adj[node]:
                names = graph.nodes[other]["name"], graph.nodes[node]["name"]
                raise TopologyError(
                    f"there is no way between {names[0]} and {names[1]}: accelerators and hosts do not forward unless "
                    "they say so; allowed: a way over switches, or a link, between each pair of ranks, or "
                    "platform.accelerators_forward = true"
                )
