# SPDX-License-Identifier: GPL-2.0-only
"""A platform in figures: what it is made of, its bisection bandwidth and its diameter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import networkx as nx

from astra_py.platforms.node_kind import NodeKind
from astra_py.platforms.platform import Platform

__all__ = ["LinkClass", "PlatformDescription", "describe"]

# Beyond these, a figure over the whole graph takes longer than a look at a platform should: it is left out.
_MOST_BISECTION_LINKS = 20_000
_MOST_DIAMETER_STEPS = 10_000_000


@dataclass(frozen=True, kw_only=True)
class LinkClass:
    """Links of one class and the same figures: how many, rate in each direction (bit/s), delay (ps), loss."""

    name: str
    links: int
    rate_bps: int
    delay_ps: int
    loss: float


@dataclass(frozen=True, kw_only=True)
class PlatformDescription:
    """A platform in figures.

    Attributes
    ----------
    name : the platform's.
    ranks, switches : numbers of accelerators and switches.
    link_classes : what links there are.
    bisection_bps : most bit/s that the lower half of the ranks can send to the upper half; None for one rank, and for a
        platform too large to look at every link.
    diameter_hops : links on the shortest way between the two ranks farthest apart; 0 for one rank, None
        for a platform as large.
    notes : what one may not expect, a sentence each.
    """

    name: str
    ranks: int
    switches: int
    link_classes: tuple[LinkClass, ...]
    bisection_bps: int | None
    diameter_hops: int | None
    notes: tuple[str, ...]


def describe(platform: Platform) -> PlatformDescription:
    """Describe ``platform``."""
    kinds = Counter(node["kind"] for node in platform.graph.nodes.values())
    return PlatformDescription(
        name=platform.name,
        ranks=platform.ranks,
        switches=kinds[NodeKind.SWITCH],
        link_classes=_link_classes(platform),
        bisection_bps=_bisection_bps(platform),
        diameter_hops=_diameter_hops(platform),
        notes=tuple(_uneven_switches(platform)),
    )


def _link_classes(platform: Platform) -> tuple[LinkClass, ...]:
    arrays = platform.arrays()
    columns = (arrays.link_class, arrays.link_rate_bps, arrays.link_delay_ps, arrays.link_loss)
    counts = Counter(zip(*(column.tolist() for column in columns), strict=True))
    return tuple(
        LinkClass(name=arrays.class_names[kind], links=links, rate_bps=rate, delay_ps=delay, loss=loss)
        for (kind, rate, delay, loss), links in counts.items()
    )


def _bisection_bps(platform: Platform) -> int | None:
    """Maximum flow from the lower half of the ranks, taken as one node, to the upper half, taken as another."""
    if platform.ranks == 1:
        return None
    half = {int(node): rank >= platform.ranks // 2 for rank, node in enumerate(platform.rank_nodes)}
    capacity: Counter[frozenset[Any]] = Counter()
    for a, b, link in platform.graph.edges(data=True):
        ends = frozenset(("half", half[node]) if node in half else node for node in (a, b))
        if len(ends) == 2:
            capacity[ends] += link["rate_bps"]
    if len(capacity) > _MOST_BISECTION_LINKS:
        return None
    merged: nx.Graph[Any] = nx.Graph()
    for ends, rate in capacity.items():
        merged.add_edge(*ends, capacity=rate)
    return int(nx.maximum_flow_value(merged, ("half", False), ("half", True)))


def _diameter_hops(platform: Platform) -> int | None:
    """Breadth-first search from one rank of each set that hangs on the same nodes, to up to two of each set."""
    graph = platform.graph
    if platform.ranks == 1:
        return 0
    kept: dict[frozenset[int], list[int]] = {}
    for node in platform.rank_nodes.tolist():
        alike = kept.setdefault(frozenset(graph.adj[node]), [])
        if graph.nodes[node]["forwards"] or len(alike) < 2:
            alike.append(node)
    targets = [node for alike in kept.values() for node in alike]
    forwarding = [node for node, forwards in graph.nodes(data="forwards") if forwards]
    if len(kept) * (len(targets) + graph.subgraph(forwarding).number_of_edges()) > _MOST_DIAMETER_STEPS:
        return None
    return max(_farthest(graph, alike[0], targets) for alike in kept.values())


def _farthest(graph: nx.MultiGraph[int], source: int, targets: Iterable[int]) -> int:
    """Links from ``source`` to the farthest of ``targets`` over nodes that forward."""
    left = set(targets) - {source}
    seen, edge, hops = {source}, [source], 0
    while left and edge:
        hops += 1
        reached = {near for node in edge for near in graph.adj[node]} - seen
        seen |= reached
        left -= reached
        edge = [node for node in reached if graph.nodes[node]["forwards"]]
    return hops


def _uneven_switches(platform: Platform) -> Iterable[str]:
    """Say which switches hold fewer ranks than the fullest one."""
    graph = platform.graph
    held = Counter(near for node in platform.rank_nodes.tolist() for near in graph.adj[node])
    switches = {node: count for node, count in held.items() if graph.nodes[node]["kind"] == NodeKind.SWITCH}
    most = max(switches.values(), default=0)
    for node, count in switches.items():
        if count < most:
            ranks = "1 rank" if count == 1 else f"{count} ranks"
            yield f"{graph.nodes[node]['name']} is partly filled: {ranks}, the fullest has {most}"
