# SPDX-License-Identifier: GPL-2.0-only
"""A platform in layers, and its nodes in groups where they are many: what a drawing of its topology shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from astra_py.platforms.ethernet import ethernet_links, nic_nodes, scale_up_links
from astra_py.platforms.node_kind import NodeKind

if TYPE_CHECKING:
    from astra_py.platforms import Platform

__all__ = ["Group", "group_nodes", "layers_of"]


def layers_of(platform: Platform) -> NDArray[np.int64]:
    """i64[nodes]: the layer of each node, ranks in layer 0.

    Above the ranks come hosts, NICs and the switches on the way to these, by their distance, then Ethernet switches by
    their distance from the nodes that have Ethernet ports. Layer -1 has what joins ranks inside machines alone.
    """
    graph = platform.graph
    ranks = set(platform.rank_nodes.tolist())
    layer = np.full(len(graph), -1, dtype=np.int64)
    layer[list(ranks)] = 0
    ends = set(nic_nodes(graph))
    inside = scale_up_links(graph)
    # what is on the way from ranks to NICs without another rank between
    apart = inside.copy()
    apart.remove_nodes_from(ranks)
    for part in nx.connected_components(apart):
        if part & ends:
            near = nx.multi_source_dijkstra_path_length(inside, ranks, weight=None)
            for node in part:
                layer[node] = near[node]
    network = ethernet_links(graph)
    switches = {node for node, data in graph.nodes(data=True) if data["kind"] == NodeKind.SWITCH}
    if ends:
        highest = int(layer[list(ends)].max())
        for node, distance in nx.multi_source_dijkstra_path_length(network, ends, weight=None).items():
            if node in switches and distance:
                layer[node] = highest + distance
    return layer


@dataclass(frozen=True)
class Group:
    """Nodes that are drawn as one.

    Attributes
    ----------
    nodes : in order.
    layer : the lowest layer of these but for -1, where they have another one.
    """

    nodes: tuple[int, ...]
    layer: int


def group_nodes(platform: Platform, most: int) -> list[Group]:
    """Nodes in groups, at most ``most`` of a layer, in order of layers and nodes.

    Where ranks are more than that, a machine with all that is in it is a group. In layers that still have too many,
    the highest first, neighbours that are linked to the same groups above are joined, as few as need be; where that is
    not enough, any neighbours are.
    """
    layer = layers_of(platform)
    member = np.arange(len(layer))
    if platform.ranks > most:
        member = _machines(platform, layer)
    pairs = np.array([(a, b) for a, b in platform.graph.edges()] or np.zeros((0, 2)), dtype=np.int64)
    pairs = np.concatenate([pairs, pairs[:, ::-1]])
    for level in sorted(set(layer[member].tolist()), reverse=True):
        member = _join(member, layer, pairs, level, most)
    found: dict[int, list[int]] = {}
    for node, first in enumerate(member.tolist()):
        found.setdefault(first, []).append(node)
    groups = [Group(tuple(nodes), int(layer[first])) for first, nodes in found.items()]
    return sorted(groups, key=lambda group: (group.layer, group.nodes[0]))


def _machines(platform: Platform, layer: NDArray[np.int64]) -> NDArray[np.int64]:
    """i64[nodes]: for each node the first rank of its machine; itself where it is in none."""
    member = np.arange(len(layer))
    machine = platform.arrays().rank_machine
    first = {number: int(platform.rank_nodes[np.flatnonzero(machine == number)[0]]) for number in set(machine.tolist())}
    rank_of = {int(node): rank for rank, node in enumerate(platform.rank_nodes.tolist())}
    for part in nx.connected_components(scale_up_links(platform.graph)):
        ranks = [rank_of[node] for node in part if node in rank_of]
        if ranks:
            member[list(part)] = first[int(machine[min(ranks)])]
    return member


def _join(
    member: NDArray[np.int64], layer: NDArray[np.int64], pairs: NDArray[np.int64], level: int, most: int
) -> NDArray[np.int64]:
    """``member`` with the groups of one layer joined where they are more than ``most``."""
    groups = np.unique(member[layer[member] == level])
    if len(groups) <= most:
        return member
    near, far = member[pairs[:, 0]], member[pairs[:, 1]]
    is_up = (layer[near] == level) & (layer[far] > level)
    above: dict[int, set[int]] = {int(group): set() for group in groups}
    for group, other in set(zip(near[is_up].tolist(), far[is_up].tolist(), strict=True)):
        above[group].add(other)
    alike: dict[frozenset[int], list[int]] = {}
    for group in groups.tolist():
        alike.setdefault(frozenset(above[group]), []).append(group)
    families = list(alike.values()) if len(alike) <= most else [groups.tolist()]
    together = -(-len(groups) // most)
    while sum(-(-len(family) // together) for family in families) > most:
        together += 1
    joined = member.copy()
    for family in families:
        for part in np.array_split(family, -(-len(family) // together)):
            joined[np.isin(member, part)] = part[0]
    return joined
