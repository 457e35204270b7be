# SPDX-License-Identifier: GPL-2.0-only
"""What builders of platforms are made of: a graph that numbers its nodes and links as they come."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import networkx as nx

from astra_py.platforms.node_kind import NodeKind
from astra_py.platforms.platform import Platform

if TYPE_CHECKING:
    from astra_py.config import PlatformConfig

__all__ = ["PlatformBuilder"]


class PlatformBuilder:
    """A platform in the making, with the figures of a scenario's ``[platform]``.

    Accelerators come first, so that node and rank of an accelerator are the same number.

    Parameters
    ----------
    config : figures of links and switches, and the number of ranks and machines.
    """

    def __init__(self, config: PlatformConfig) -> None:
        self._config = config
        self._graph: nx.MultiGraph[int] = nx.MultiGraph()
        self._links = 0
        for rank in range(config.ranks):
            machine = {"machine": rank // config.accelerators_per_node} if config.has_machines else {}
            self._add_node(
                NodeKind.ACCELERATOR, f"rank{rank}", forwards=config.do_accelerators_forward, rank=rank, **machine
            )

    def add_switch(self, name: str) -> int:
        """Add an Ethernet switch and return its node."""
        return self._add_node(NodeKind.SWITCH, name, forwards=True, latency_ps=self._config.switch_latency)

    def add_scale_up_switch(self, name: str) -> int:
        """Add a scale-up switch, whose latency is in its links' delays, and return its node."""
        return self._add_node(NodeKind.SWITCH, name, forwards=True)

    def add_host(self, name: str) -> int:
        """Add a host, through which its accelerator reaches the network, and return its node."""
        return self._add_node(NodeKind.HOST, name, forwards=True)

    def add_link(self, a: int, b: int, link_class: str) -> None:
        """Join two nodes by an Ethernet link of the scenario's rate, delay and loss."""
        config = self._config
        self._add_edge(a, b, link_class, config.link_rate, config.link_delay, loss=config.link_loss)

    def add_scale_up(self, accelerator: int, switch: int, link_class: str) -> None:
        """Join an accelerator to a scale-up switch."""
        links = self._config.scale_up
        rate = self._config.scale_up_rate
        self._add_edge(accelerator, switch, link_class, rate, links.latency, efficiency=links.efficiency)

    def add_pcie(self, accelerator: int, host: int) -> None:
        """Join an accelerator to a host."""
        links = self._config.pcie
        self._add_edge(accelerator, host, "pcie", links.rate, links.latency, efficiency=links.efficiency)

    def add_leaves_and_spines(self, ends: Iterable[int]) -> None:
        """Put each of ``ends``, one a rank, on a leaf switch and each leaf on every spine switch.

        End ``i`` is on leaf ``i // ranks_per_leaf``, so that the last leaf holds what is left. Links of class ``host``
        come first, one an end, then those of class ``fabric``, leaf by leaf, one to each spine.
        """
        config = self._config
        leaves = [self.add_switch(f"leaf{number}") for number in range(config.leaf_count)]
        spines = [self.add_switch(f"spine{number}") for number in range(config.spine_count)]
        for number, end in enumerate(ends):
            self.add_link(end, leaves[number // config.leaf_ranks], "host")
        for leaf in leaves:
            for spine in spines:
                self.add_link(leaf, spine, "fabric")

    def build(self) -> Platform:
        """Return the platform, checked."""
        return Platform(self._config.kind, self._graph)

    def _add_node(
        self, kind: NodeKind, name: str, *, forwards: bool, rank: int = -1, latency_ps: int = 0, **machine: int
    ) -> int:
        node = len(self._graph)
        self._graph.add_node(node, kind=kind, rank=rank, latency_ps=latency_ps, name=name, forwards=forwards, **machine)
        return node

    def _add_edge(self, a: int, b: int, link_class: str, rate_bps: int, delay_ps: int, **figures: Any) -> None:
        self._graph.add_edge(
            a,
            b,
            link=self._links,
            rate_bps=rate_bps,
            delay_ps=delay_ps,
            link_class=link_class,
            **({"loss": 0.0, "efficiency": 0.0} | figures),
        )
        self._links += 1
