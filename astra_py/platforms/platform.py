# SPDX-License-Identifier: GPL-2.0-only
"""A platform: nodes and links, as a networkx graph for people and as plain columns for engines."""

from __future__ import annotations

from collections import Counter
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from astra_py.errors import TopologyError
from astra_py.platforms.connectivity import require_ways
from astra_py.platforms.node_kind import Forwarding, NodeKind
from astra_py.platforms.routing import Routing

__all__ = ["Forwarding", "NodeKind", "Platform", "PlatformArrays"]


@dataclass(frozen=True, kw_only=True, eq=False)
class PlatformArrays:
    """A platform as C-contiguous columns: ``n`` nodes, ``l`` links.

    Link ``i`` is full duplex and has two channels: ``2 i`` carries a -> b and ``2 i + 1`` carries b -> a. A channel's
    transmitter is an egress port, and port and channel have the same number.

    Attributes
    ----------
    node_kind : u8[n], :class:`NodeKind`.
    node_rank : i32[n], rank of an accelerator, or -1.
    node_latency_ps : i64[n], forwarding latency.
    node_forwards : u8[n], which frames may pass through, :class:`Forwarding`.
    rank_machine : i32[ranks], the machine (node of the cluster) of each rank, numbered from 0; where there are no
        machines, each rank is one of its own.
    rank_rail : i32[ranks], the rail of each rank: the index of its NIC in its machine, or of the rank itself; where
        there are no machines, the rank.
    link_a, link_b : i32[l], the ends.
    link_rate_bps, link_delay_ps : i64[l], in each direction.
    link_loss : f64[l], probability of losing a frame.
    link_class : i32[l], index into ``class_names``.
    link_efficiency : f64[l], payload over line bytes of a scale-up link (NVLink, NVSwitch, PCIe), above 0 to 1; 0 for
        Ethernet.
    node_names, class_names : names.
    routing : how flows get their ways.
    """

    node_kind: NDArray[np.uint8]
    node_rank: NDArray[np.int32]
    node_latency_ps: NDArray[np.int64]
    node_forwards: NDArray[np.uint8]
    rank_machine: NDArray[np.int32]
    rank_rail: NDArray[np.int32]
    link_a: NDArray[np.int32]
    link_b: NDArray[np.int32]
    link_rate_bps: NDArray[np.int64]
    link_delay_ps: NDArray[np.int64]
    link_loss: NDArray[np.float64]
    link_class: NDArray[np.int32]
    link_efficiency: NDArray[np.float64]
    node_names: list[str]
    class_names: list[str]
    routing: Routing


class Platform:
    """Accelerators, hosts, NICs, switches and the links between them.

    Parameters
    ----------
    name : what it is called in tables.
    graph : nodes ``0..n-1`` in this order, each with ``kind`` (:class:`NodeKind`), ``rank`` (or -1), ``latency_ps``,
        ``name`` and ``forwards`` (:class:`Forwarding`, or true and false); edges with ``link`` (``0..l-1``),
        ``rate_bps``, ``delay_ps``, ``loss`` and ``link_class``. Channel ``2 link`` runs from an edge's lower node to
        its higher one. Where accelerators sit in machines, each has ``machine`` (``0..machines-1``), and ``rail`` if
        that is not its place in the machine; a scale-up link has ``efficiency`` (above 0 to 1) and no loss.
    routing : how flows get their ways; by ECMP where it is left out.

    Raises
    ------
    TopologyError
        nodes, ranks or links are not numbered as above, a figure is out of its range, or two ranks have no way between
        them.
    """

    def __init__(self, name: str, graph: nx.MultiGraph[int], routing: Routing | None = None) -> None:
        self.name = name
        self.graph = graph
        self.ranks = sum(node["kind"] == NodeKind.ACCELERATOR for node in graph.nodes.values())
        self._arrays = _columns(graph, self.ranks, routing or Routing())
        require_ways(graph)

    def arrays(self) -> PlatformArrays:
        """Return the platform as columns."""
        return self._arrays

    def with_routing(self, routing: Routing) -> Platform:
        """Return the same platform with another routing."""
        other = copy(self)
        other._arrays = replace(self._arrays, routing=routing)
        return other

    def __repr__(self) -> str:
        nodes, links = len(self.graph), self.graph.number_of_edges()
        return f"<Platform {self.name!r}: {self.ranks} ranks, {nodes} nodes, {links} links>"

    def _repr_html_(self) -> str:
        from astra_py.report.notebook import platform_html

        return platform_html(self)

    @cached_property
    def rank_nodes(self) -> NDArray[np.int32]:
        """i32[ranks]: the node of each rank."""
        ranks = self._arrays.node_rank
        nodes = np.flatnonzero(ranks >= 0).astype(np.int32)
        ordered: NDArray[np.int32] = nodes[np.argsort(ranks[nodes])]
        return ordered


def _columns(graph: nx.MultiGraph[int], ranks: int, routing: Routing) -> PlatformArrays:
    """Check the graph's numbering and figures, and lay them out."""
    count = graph.number_of_nodes()
    if list(graph.nodes) != list(range(count)):
        raise TopologyError(f"nodes are {_some(graph.nodes)}; allowed: 0 to {count - 1}, in this order")
    nodes = list(graph.nodes.values())
    names = [str(node["name"]) for node in nodes]
    rank = np.array([node["rank"] for node in nodes], np.int32)
    kind = np.array([node["kind"] for node in nodes], np.uint8)
    if ranks < 1:
        raise TopologyError("there is no accelerator; allowed: at least 1")
    if sorted(rank[kind == NodeKind.ACCELERATOR].tolist()) != list(range(ranks)):
        raise TopologyError(
            f"accelerators have ranks {_some(rank[kind == NodeKind.ACCELERATOR])}; allowed: 0 to {ranks - 1}"
        )
    if (stray := np.flatnonzero((kind != NodeKind.ACCELERATOR) & (rank != -1))).size:
        raise TopologyError(f"{names[stray[0]]} is no accelerator and has rank {rank[stray[0]]}; allowed: -1")
    forwards = np.array([int(node["forwards"]) for node in nodes], np.int64)
    if (odd := np.flatnonzero((forwards < 0) | (forwards > max(Forwarding)))).size:
        raise TopologyError(f"{names[odd[0]]} forwards {forwards[odd[0]]}; allowed: 0, 1 or 2, see Forwarding")
    latency = np.array([node["latency_ps"] for node in nodes], np.int64)
    if (latency < 0).any():
        raise TopologyError(f"{names[int(latency.argmin())]} has a latency of {latency.min()} ps; allowed: 0 or more")

    edges = sorted(graph.edges(data=True), key=lambda edge: edge[2]["link"])
    links = len(edges)
    if [edge[2]["link"] for edge in edges] != list(range(links)):
        raise TopologyError(
            f"links are {_some(edge[2]['link'] for edge in edges)}; allowed: 0 to {links - 1}, each once"
        )
    ends = np.array([sorted(edge[:2]) for edge in edges], dtype=np.int32).reshape(links, 2)
    if (loops := np.flatnonzero(ends[:, 0] == ends[:, 1])).size:
        raise TopologyError(f"link {loops[0]} joins {names[ends[loops[0], 0]]} to itself; allowed: two nodes")
    rate = np.fromiter((edge[2]["rate_bps"] for edge in edges), np.int64, links)
    delay = np.fromiter((edge[2]["delay_ps"] for edge in edges), np.int64, links)
    loss = np.fromiter((edge[2]["loss"] for edge in edges), np.float64, links)
    efficiency = np.fromiter((edge[2].get("efficiency", 0.0) for edge in edges), np.float64, links)
    for what, bad, column in (
        ("a rate of {} bit/s; allowed: 1 or more", rate < 1, rate),
        ("a delay of {} ps; allowed: 0 or more", delay < 0, delay),
        ("a loss of {}; allowed: from 0 to below 1", ~((loss >= 0) & (loss < 1)), loss),
        (
            "an efficiency of {}; allowed: 0 for Ethernet, else up to 1",
            ~((efficiency >= 0) & (efficiency <= 1)),
            efficiency,
        ),
        ("a loss of {}; allowed: 0, as it is a scale-up link", (efficiency > 0) & (loss > 0), loss),
    ):
        if bad.any():
            link = int(bad.argmax())
            raise TopologyError(
                f"link {link}, {names[ends[link, 0]]} to {names[ends[link, 1]]}, has " + what.format(column[link])
            )
    accelerators = sorted(
        (node for node in nodes if node["kind"] == NodeKind.ACCELERATOR), key=lambda node: int(node["rank"])
    )
    machine = _machines(accelerators, ranks)
    class_names = list(dict.fromkeys(edge[2]["link_class"] for edge in edges))
    index = {name: number for number, name in enumerate(class_names)}
    return PlatformArrays(
        node_kind=kind,
        node_rank=rank,
        node_latency_ps=latency,
        node_forwards=forwards.astype(np.uint8),
        rank_machine=machine,
        rank_rail=_rails(accelerators, machine),
        link_a=np.ascontiguousarray(ends[:, 0]),
        link_b=np.ascontiguousarray(ends[:, 1]),
        link_rate_bps=rate,
        link_delay_ps=delay,
        link_loss=loss,
        link_class=np.fromiter((index[edge[2]["link_class"]] for edge in edges), np.int32, links),
        link_efficiency=efficiency,
        node_names=names,
        class_names=class_names,
        routing=routing,
    )


def _machines(accelerators: list[dict[str, Any]], ranks: int) -> NDArray[np.int32]:
    """Return the machine of each rank; where no accelerator names one, each is its own."""
    named = [node["machine"] for node in accelerators if "machine" in node]
    if not named:
        return np.arange(ranks, dtype=np.int32)
    if len(named) < ranks:
        without = next(node["name"] for node in accelerators if "machine" not in node)
        raise TopologyError(
            f"{without} is in no machine, and others are; allowed: a machine for each accelerator, or none"
        )
    machines = len(set(named))
    if set(named) != set(range(machines)):
        raise TopologyError(f"machines are {_some(sorted(set(named)))}; allowed: 0 to {machines - 1}")
    return np.array(named, np.int32)


def _rails(accelerators: list[dict[str, Any]], machine: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the rail of each rank: what it names, else its place in its machine, else, without machines, itself."""
    if "machine" not in accelerators[0]:
        return np.arange(len(accelerators), dtype=np.int32)
    seen: Counter[int] = Counter()
    rails = []
    for node, own in zip(accelerators, machine.tolist(), strict=True):
        rails.append(node.get("rail", seen[own]))
        seen[own] += 1
        if rails[-1] < 0:
            raise TopologyError(f"{node['name']} is on rail {rails[-1]}; allowed: 0 or more")
    return np.array(rails, np.int32)


def _some(values: object) -> str:
    """Write the first few of ``values``."""
    listed = list(values)  # type: ignore[call-overload]
    return ", ".join(str(value) for value in listed[:6]) + (", ..." if len(listed) > 6 else "")
