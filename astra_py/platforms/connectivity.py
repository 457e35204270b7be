# SPDX-License-Identifier: GPL-2.0-only
"""Whether each pair of ranks has a way between them, over nodes that forward."""

from __future__ import annotations

import networkx as nx

from astra_py.errors import TopologyError
from astra_py.platforms.ethernet import is_scale_up
from astra_py.platforms.node_kind import Forwarding, NodeKind

__all__ = ["require_ways"]


def require_ways(graph: nx.MultiGraph[int]) -> None:
    """Check that every rank reaches every other one.

    Nodes that forward everything and hang together form an *area*. Two ranks have a way if they touch one area, are
    neighbours, or if the sender touches one with an accelerator that passes things on to an area that the receiver
    touches.

    Raises
    ------
    TopologyError
        two ranks have no way; they are named.
    """
    forwarding = [node for node, data in graph.nodes.items() if data["forwards"] == Forwarding.ALL]
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
    passed = _passed_on(graph, area)
    sent = {node: near.union(*(passed.get(one, frozenset()) for one in near)) for node, near in touched.items()}
    for position, (_, node) in enumerate(ranks):
        for _, other in ranks[:position]:
            for src, dst in ((other, node), (node, other)):
                if not sent[src] & touched[dst] and dst not in graph.adj[src]:
                    names = graph.nodes[src]["name"], graph.nodes[dst]["name"]
                    raise TopologyError(
                        f"there is no way between {names[0]} and {names[1]}: accelerators and hosts do not forward "
                        "unless they say so; allowed: a way over switches, or a link, between each pair of ranks, or "
                        "platform.accelerators_forward = true"
                    )


def _passed_on(graph: nx.MultiGraph[int], area: dict[int, int]) -> dict[int, frozenset[int]]:
    """Areas that are reached from an area over one node that passes on from scale-up links to Ethernet or a NIC."""
    found: dict[int, frozenset[int]] = {}
    for node, data in graph.nodes.items():
        if data["forwards"] != Forwarding.SCALE_UP_TO_ETHERNET:
            continue
        inside: set[int] = set()
        outside: set[int] = set()
        for _, near, link in graph.edges(node, data=True):
            if near in area:
                is_outside = not is_scale_up(link) or graph.nodes[near]["kind"] == NodeKind.NIC
                (outside if is_outside else inside).add(area[near])
        for one in inside:
            found[one] = found.get(one, frozenset()) | outside
    return found
