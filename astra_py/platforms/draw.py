# SPDX-License-Identifier: GPL-2.0-only
"""A platform as a small tree of text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

import networkx as nx

from astra_py.platforms.node_kind import NodeKind
from astra_py.platforms.platform import Platform

__all__ = ["draw"]

# Switches of one layer that are drawn; of more, those in the middle are left out.
_MOST_BRANCHES = 12


def draw(platform: Platform) -> str:
    """Draw ``platform``: far layers of switches in a line each, then each switch that ranks hang on, with its ranks.

    Nodes with one name and consecutive numbers are written as a range, ``rank0..rank7``.
    """
    graph = platform.graph
    ranks = platform.rank_nodes.tolist()
    layer = _layers(graph, ranks)
    lines = []
    for depth in range(max(layer.values()), 1, -1):
        nodes = [node for node, at in layer.items() if at == depth]
        lines.append(f"{_range(graph, nodes)}  ({_links_down(graph, nodes, layer)})")
    near = [node for node, at in layer.items() if at == 1 and graph.nodes[node]["kind"] != NodeKind.ACCELERATOR]
    branches = list(_branches(platform, near))
    if len(branches) > _MOST_BRANCHES:
        half = _MOST_BRANCHES // 2
        left_out = len(branches) - 2 * half
        branches = [*branches[:half], f"... {left_out} more", *branches[-half:]]
    for number, branch in enumerate(branches, 1):
        stem = "└── " if number == len(branches) else "├── "
        lines.append((stem if lines and lines[0][0] not in "├└" else "") + branch)
    neighbours = [(a, b) for a, b in graph.edges() if layer[a] == layer[b] == 0]
    if neighbours:
        lines.append(f"{len(neighbours)} links between accelerators")
    return "\n".join(lines)


def _layers(graph: nx.MultiGraph[int], ranks: Iterable[int]) -> dict[int, int]:
    """Distance of each node from the nearest rank, in links, in order of nodes."""
    found = nx.multi_source_dijkstra_path_length(graph, set(ranks), weight=None)
    return {node: int(found[node]) for node in sorted(found)}


def _branches(platform: Platform, switches: Iterable[int]) -> Iterator[str]:
    graph = platform.graph
    for switch in switches:
        held = [node for node in graph.adj[switch] if graph.nodes[node]["kind"] == NodeKind.ACCELERATOR]
        yield f"{graph.nodes[switch]['name']}  {_range(graph, held)}"


def _links_down(graph: nx.MultiGraph[int], nodes: Iterable[int], layer: dict[int, int]) -> str:
    """Say how many links a node has to the layer below."""
    counts = Counter(sum(layer[near] < layer[node] for _, near in graph.edges(node)) for node in nodes)
    low, high = min(counts), max(counts)
    return f"{low if low == high else f'{low} to {high}'} links down each"


def _range(graph: nx.MultiGraph[int], nodes: Iterable[int]) -> str:
    """Write names, those with consecutive numbers as a range."""
    runs: list[tuple[str, int, int]] = []
    others: list[str] = []
    for node in sorted(nodes):
        name = str(graph.nodes[node]["name"])
        match = re.fullmatch(r"(.*?)(\d+)", name)
        if match is None:
            others.append(name)
            continue
        stem, number = match[1], int(match[2])
        if runs and runs[-1][0] == stem and runs[-1][2] == number - 1:
            runs[-1] = (stem, runs[-1][1], number)
        else:
            runs.append((stem, number, number))
    texts = [f"{stem}{first}" if first == last else f"{stem}{first}..{stem}{last}" for stem, first, last in runs]
    return " ".join([*texts, *others])
