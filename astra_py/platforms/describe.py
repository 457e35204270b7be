# SPDX-License-Identifier: GPL-2.0-only
"""A platform in figures: what it is made of, its bisection bandwidth and its diameter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import networkx as nx

from astra_py.platforms.ethernet import ethernet_links, nic_nodes, scale_up_links
from astra_py.platforms.names import name_range
from astra_py.platforms.node_kind import NodeKind
from astra_py.platforms.platform import Platform

__all__ = ["LinkClass", "PlatformDescription", "describe"]

# Beyond these, a figure over the whole graph takes longer than a look at a platform should: it is left out.
_MOST_BISECTION_LINKS = 20_000
_MOST_DIAMETER_STEPS = 10_000_000


@dataclass(frozen=True, kw_only=True)
class LinkClass:
    """Links of one class and the same figures: how many, and each one's.

    Attributes
    ----------
    name : the class.
    links : how many.
    rate_bps : line rate in each direction, bit/s.
    delay_ps : fixed delay, ps.
    loss : probability of losing a frame.
    efficiency : payload over line bytes of a scale-up link; 0 for Ethernet, where it depends on the packet.
    """

    name: str
    links: int
    rate_bps: int
    delay_ps: int
    loss: float
    efficiency: float


@dataclass(frozen=True, kw_only=True)
class PlatformDescription:
    """A platform in figures.

    Attributes
    ----------
    name : the platform's.
    ranks, machines, hosts, nics, switches : how many there are of each; a rank outside of machines is one of its own,
        and only NICs that are nodes count.
    ranks_per_machine, nic_ports_per_machine : fewest and most accelerators, and Ethernet ports of accelerators, hosts
        and NICs, in a machine.
    link_classes : what links there are.
    bisection_bps : most bit/s that the lower half of the ranks can send to the upper half; None for one rank, and for a
        platform too large to look at every link.
    ethernet_bisection_bps : the same from the lower half of the nodes with NICs to the upper half, over Ethernet only;
        None also where there are less than two such nodes.
    diameter_hops : links on the shortest way between the two ranks farthest apart; 0 for one rank, None
        for a platform as large.
    notes : what one may not expect, a sentence each.
    """

    name: str
    ranks: int
    machines: int
    hosts: int
    nics: int
    switches: int
    ranks_per_machine: tuple[int, int]
    nic_ports_per_machine: tuple[int, int]
    link_classes: tuple[LinkClass, ...]
    bisection_bps: int | None
    ethernet_bisection_bps: int | None
    diameter_hops: int | None
    notes: tuple[str, ...]


def describe(platform: Platform) -> PlatformDescription:
    """Count and measure what a platform is made of.

    Parameters
    ----------
    platform : as :func:`~astra_py.platforms.build_platform` makes it; nothing is simulated.
    """
    graph = platform.graph
    kinds = Counter(node["kind"] for node in graph.nodes.values())
    held = Counter(platform.arrays().rank_machine.tolist())
    ports = _nic_ports(platform)
    return PlatformDescription(
        name=platform.name,
        ranks=platform.ranks,
        machines=len(held),
        hosts=kinds[NodeKind.HOST],
        nics=kinds[NodeKind.NIC],
        ranks_per_machine=(min(held.values()), max(held.values())),
        nic_ports_per_machine=(min(ports), max(ports)),
        switches=kinds[NodeKind.SWITCH],
        link_classes=_link_classes(platform),
        bisection_bps=_bisection_bps(graph, platform.rank_nodes.tolist()),
        ethernet_bisection_bps=_bisection_bps(ethernet_links(graph), list(nic_nodes(graph))),
        diameter_hops=_diameter_hops(platform),
        notes=(*_uneven_switches(platform), *platform.arrays().routing.warnings()),
    )


def _link_classes(platform: Platform) -> tuple[LinkClass, ...]:
    arrays = platform.arrays()
    columns = (arrays.link_class, arrays.link_rate_bps, arrays.link_delay_ps, arrays.link_loss, arrays.link_efficiency)
    counts = Counter(zip(*(column.tolist() for column in columns), strict=True))
    return tuple(
        LinkClass(
            name=arrays.class_names[kind], links=links, rate_bps=rate, delay_ps=delay, loss=loss, efficiency=efficiency
        )
        for (kind, rate, delay, loss, efficiency), links in counts.items()
    )


def _nic_ports(platform: Platform) -> list[int]:
    """Ethernet ports of each machine: those of its accelerators and of what they reach over scale-up links."""
    graph = platform.graph
    machine = dict(zip(platform.rank_nodes.tolist(), platform.arrays().rank_machine.tolist(), strict=True))
    ports = nic_nodes(graph)
    found = [0] * (max(machine.values()) + 1)
    for nodes in nx.connected_components(scale_up_links(graph)):
        owners = [machine[node] for node in nodes if node in machine]
        for node in nodes & ports.keys():
            if owners:
                found[machine.get(node, min(owners))] += ports[node]
    return found


def _bisection_bps(graph: nx.MultiGraph[int], ends: list[int]) -> int | None:
    """Maximum flow from the lower half of ``ends``, taken as one node, to the upper half, taken as another."""
    if len(ends) < 2:
        return None
    half = {node: number >= len(ends) // 2 for number, node in enumerate(ends)}
    capacity: Counter[frozenset[Any]] = Counter()
    for a, b, link in graph.edges(data=True):
        pair = frozenset(("half", half[node]) if node in half else node for node in (a, b))
        if len(pair) == 2:
            capacity[pair] += link["rate_bps"]
    if len(capacity) > _MOST_BISECTION_LINKS:
        return None
    merged: nx.Graph[Any] = nx.Graph()
    merged.add_nodes_from([("half", False), ("half", True)])
    for pair, rate in capacity.items():
        merged.add_edge(*pair, capacity=rate)
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
    """Say which Ethernet switches hold fewer ranks, hosts or NICs than the fullest one."""
    graph = platform.graph
    ethernet = ethernet_links(graph)
    ends = nic_nodes(graph)
    kinds = {graph.nodes[node]["kind"] for node in ends}
    what = "NIC" if NodeKind.NIC in kinds else "host" if NodeKind.HOST in kinds else "rank"
    held = Counter(near for node in ends for near in ethernet.adj[node])
    switches = {node: count for node, count in held.items() if graph.nodes[node]["kind"] == NodeKind.SWITCH}
    most = max(switches.values(), default=0)
    for count in sorted(set(switches.values()) - {most}):
        nodes = [node for node, own in switches.items() if own == count]
        are = "are" if len(nodes) > 1 else "is"
        some = f"{count} {what}{'s' if count > 1 else ''}{' each' if len(nodes) > 1 else ''}"
        yield f"{name_range(graph, nodes)} {are} partly filled: {some}, the fullest has {most}"
