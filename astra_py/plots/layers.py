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


def group_nodes(platform: Platform, most: int, most_lines: int | None = None) -> list[Group]:
    """Nodes in groups, at most ``most`` of a layer, in order of layers and nodes.

    Where ranks are more than that, a machine with all that is in it is a group. In layers that still have too many,
    the highest first, nodes that are linked to the same ones below are joined, as the switches of a pod or of a plane
    are; else neighbours that are linked to the same groups above, as few as need be; where that is not enough, any
    neighbours are. Where more than ``most_lines`` lines would then go down from a layer, groups of it that are linked
    to the same ones below are joined, and if that is not enough, neighbours.
    """
    layer = layers_of(platform)
    member = np.arange(len(layer))
    if platform.ranks > most:
        member = _machines(platform, layer)
    pairs = np.array([(a, b) for a, b in platform.graph.edges()] or np.zeros((0, 2)), dtype=np.int64)
    pairs = np.concatenate([pairs, pairs[:, ::-1]])
    for level in sorted(set(layer[member].tolist()), reverse=True):
        member = _join(member, layer, pairs, level, most)
    if most_lines is not None:
        for level in sorted(set(layer[member].tolist())):
            member = _bundle(member, layer, pairs, level, most_lines)
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
    pods = _alike(member, layer, pairs, level, is_above=False)
    if 1 < len(pods) <= most:
        return _merged(member, pods)
    alike = _alike(member, layer, pairs, level, is_above=True)
    families = alike if len(alike) <= most else [groups.tolist()]
    together = -(-len(groups) // most)
    while sum(-(-len(family) // together) for family in families) > most:
        together += 1
    return _merged(
        member,
        [part.tolist() for family in families for part in np.array_split(family, -(-len(family) // together))],
    )


def _alike(
    member: NDArray[np.int64], layer: NDArray[np.int64], pairs: NDArray[np.int64], level: int, *, is_above: bool
) -> list[list[int]]:
    """Groups of a layer, together where they are linked to the same groups above, or below, it."""
    near, far = member[pairs[:, 0]], member[pairs[:, 1]]
    is_mine = (layer[near] == level) & ((layer[far] > level) if is_above else (layer[far] < level))
    others: dict[int, set[int]] = {group: set() for group in np.unique(member[layer[member] == level]).tolist()}
    for group, other in set(zip(near[is_mine].tolist(), far[is_mine].tolist(), strict=True)):
        others[group].add(other)
    alike: dict[frozenset[int], list[int]] = {}
    for group, linked in others.items():
        alike.setdefault(frozenset(linked), []).append(group)
    return list(alike.values())


def _merged(member: NDArray[np.int64], families: list[list[int]]) -> NDArray[np.int64]:
    """``member`` with the groups of each family as one."""
    joined = np.arange(len(member))
    for family in families:
        joined[family] = family[0]
    return joined[member]


def _bundle(
    member: NDArray[np.int64], layer: NDArray[np.int64], pairs: NDArray[np.int64], level: int, most_lines: int
) -> NDArray[np.int64]:
    """``member`` with groups of a layer joined until no more than so many lines go down from it, or are inside it.

    From layer -1, which hangs below the ranks, they go up.
    """
    if _lines_from(member, layer, pairs, level) <= most_lines:
        return member
    member = _merged(member, _alike(member, layer, pairs, level, is_above=level < 0))
    while _lines_from(member, layer, pairs, level) > most_lines:
        groups = np.unique(member[layer[member] == level])
        if len(groups) == 1:
            break
        member = _merged(member, [part.tolist() for part in np.array_split(groups, (len(groups) + 1) // 2)])
    return member


def _lines_from(member: NDArray[np.int64], layer: NDArray[np.int64], pairs: NDArray[np.int64], level: int) -> int:
    near, far = member[pairs[:, 0]], member[pairs[:, 1]]
    is_there = layer[far] >= level if level < 0 else (layer[far] <= level) & (layer[far] >= 0)
    ends = np.sort(np.column_stack([near, far])[(layer[near] == level) & is_there & (near != far)], axis=1)
    return len(np.unique(ends, axis=0))
