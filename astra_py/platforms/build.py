# SPDX-License-Identifier: GPL-2.0-only
"""What builders of platforms are made of: a graph that numbers its nodes and links as they come."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    config : figures of links and switches, and the number of ranks.
    """

    def __init__(self, config: PlatformConfig) -> None:
        self._config = config
        self._graph: nx.MultiGraph[int] = nx.MultiGraph()
        self._links = 0
        for rank in range(config.ranks):
            self._graph.add_node(
                rank, kind=NodeKind.ACCELERATOR, rank=rank, latency_ps=0, name=f"rank{rank}", forwards=False
            )

    def add_switch(self, name: str) -> int:
        """Add a switch and return its node."""
        node = len(self._graph)
        self._graph.add_node(
            node, kind=NodeKind.SWITCH, rank=-1, latency_ps=self._config.switch_latency, name=name, forwards=True
        )
        return node

    def add_link(self, a: int, b: int, link_class: str) -> None:
        """Join two nodes by a link of the scenario's rate, delay and loss."""
        self._graph.add_edge(
            a,
            b,
            link=self._links,
            rate_bps=self._config.link_rate,
            delay_ps=self._config.link_delay,
            loss=self._config.link_loss,
            link_class=link_class,
        )
        self._links += 1

    def build(self) -> Platform:
        """Return the platform, checked."""
        return Platform(self._config.kind, self._graph)
