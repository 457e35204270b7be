# SPDX-License-Identifier: GPL-2.0-only
"""A platform as a small tree of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import networkx as nx

from astra_py.platforms.ethernet import ethernet_links, nic_nodes, scale_up_links
from astra_py.platforms.names import name_range
from astra_py.platforms.node_kind import NodeKind
from astra_py.platforms.platform import Platform

__all__ = ["draw"]

# Switches of one layer that are drawn; of more, those in the middle are left out.
_MOST_BRANCHES = 12


def draw(platform: Platform) -> str:
    """Draw ``platform``: far layers of switches in a line each, then each switch that ranks hang on, with its ranks.

    It is the Ethernet network that is drawn, with hosts between it and their ranks, and beside the ranks what joins
    them inside machines; where there is no Ethernet, all links are. Nodes with one name and numbers of one distance
    are written as a range, ``rank0..rank7`` or ``rank0..rank56 by 8``.
    """
    graph, inside = platform.graph, scale_up_links(platform.graph)
    ends = list(nic_nodes(graph))
    if ends:
        graph = ethernet_links(graph)
    else:
        ends, inside = platform.rank_nodes.tolist(), nx.create_empty_copy(graph)
    layer = _layers(graph, ends)
    lines = []
    for depth in range(max(layer.values()), 1, -1):
        nodes = [node for node, at in layer.items() if at == depth]
        lines.append(f"{name_range(graph, nodes)}  ({_links_down(graph, nodes, layer)})")
    has_layers_above = bool(lines)
    near = [node for node, at in layer.items() if at == 1]
    branches = [_branch(graph, inside, layer, node) for node in near]
    if len(branches) > _MOST_BRANCHES:
        half = _MOST_BRANCHES // 2
        left_out = len(branches) - 2 * half
        branches = [*branches[:half], f"... {left_out} more", *branches[-half:]]
    for number, branch in enumerate(branches, 1):
        stem = "└── " if number == len(branches) else "├── "
        lines.append((stem if has_layers_above else "") + branch)
    direct = graph.subgraph(ends)
    if links := direct.number_of_edges():
        is_ring = nx.is_connected(direct) and all(count == 2 for _, count in direct.degree())
        shape = "in a ring" if is_ring else "linked directly"
        lines.append(f"{name_range(graph, ends)}  ({links} link{'s' if links > 1 else ''}, {shape})")
    return "\n".join(lines)


def _layers(graph: nx.MultiGraph[int], ends: Iterable[int]) -> dict[int, int]:
    """Distance of each node from the nearest of ``ends``, in links, in order of nodes."""
    found = nx.multi_source_dijkstra_path_length(graph, set(ends), weight=None)
    return {node: int(found[node]) for node in sorted(found)}


def _branch(graph: nx.MultiGraph[int], inside: nx.MultiGraph[int], layer: dict[int, int], switch: int) -> str:
    """Write a switch, the ends on it, and step by step what scale-up links reach, as far as a switch behind ranks."""
    edge = {node for node in graph.adj[switch] if layer[node] == 0}
    seen = set(edge)
    texts = [str(graph.nodes[switch]["name"])]
    while edge:
        texts.append(name_range(graph, edge))
        has_ranks = any(graph.nodes[node]["kind"] == NodeKind.ACCELERATOR for node in seen)
        ways = (node for node in edge if not has_ranks or graph.nodes[node]["kind"] != NodeKind.SWITCH)
        edge = {near for node in ways for near in inside.adj[node]} - seen
        seen |= edge
    return "  ".join(texts)


def _links_down(graph: nx.MultiGraph[int], nodes: Iterable[int], layer: dict[int, int]) -> str:
    """Say how many links a node has to the layer below."""
    counts = Counter(sum(layer[near] < layer[node] for _, near in graph.edges(node)) for node in nodes)
    low, high = min(counts), max(counts)
    return f"{low if low == high else f'{low} to {high}'} link{'s' if high > 1 else ''} down each"
