# SPDX-License-Identifier: GPL-2.0-only
"""The two sides of a platform: the Ethernet network, and the scale-up links inside machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import networkx as nx

from astra_py.platforms.node_kind import NodeKind

__all__ = ["ethernet_links", "is_scale_up", "nic_nodes", "scale_up_links"]


def is_scale_up(link: Mapping[str, Any]) -> bool:
    """Whether a link, given by its edge attributes, is a scale-up link (NVLink, NVSwitch, PCIe)."""
    return float(link.get("efficiency", 0.0)) > 0


def ethernet_links(graph: nx.MultiGraph[int]) -> nx.MultiGraph[int]:
    """Return the graph of all nodes and the Ethernet links."""
    return _part(graph, is_kept_scale_up=False)


def scale_up_links(graph: nx.MultiGraph[int]) -> nx.MultiGraph[int]:
    """Return the graph of all nodes and the scale-up links."""
    return _part(graph, is_kept_scale_up=True)


def nic_nodes(graph: nx.MultiGraph[int]) -> dict[int, int]:
    """Return the Ethernet ports of each node that has some and is no switch, in order of nodes."""
    ends = (node for a, b, link in graph.edges(data=True) if not is_scale_up(link) for node in (a, b))
    ports = Counter(node for node in ends if graph.nodes[node]["kind"] != NodeKind.SWITCH)
    return dict(sorted(ports.items()))


def _part(graph: nx.MultiGraph[int], *, is_kept_scale_up: bool) -> nx.MultiGraph[int]:
    part: nx.MultiGraph[int] = nx.MultiGraph()
    part.add_nodes_from(graph.nodes(data=True))
    part.add_edges_from((a, b, link) for a, b, link in graph.edges(data=True) if is_scale_up(link) == is_kept_scale_up)
    return part
