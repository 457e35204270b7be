# SPDX-License-Identifier: GPL-2.0-only
"""What readers of platforms build: a graph in the numbering of their files."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import networkx as nx

from astra_py.errors import TopologyError
from astra_py.platforms import Forwarding, NodeKind, Platform
from astra_py.platforms.routing import routing_of

if TYPE_CHECKING:
    from astra_py.config import PlatformConfig

__all__ = ["FilePlatform", "require_dims"]


class FilePlatform:
    """A platform in the making whose figures a file has.

    Parameters
    ----------
    config : the scenario's ``[platform]``, for what a file does not say: the forwarding latency of switches, the
        efficiency of scale-up links, routing, and whether accelerators forward.
    are_forwarding : whether frames pass through accelerators where the scenario does not say it.
    """

    def __init__(self, config: PlatformConfig, *, are_forwarding: bool) -> None:
        self._config = config
        self._graph: nx.MultiGraph[int] = nx.MultiGraph()
        self._links = 0
        forward = config.accelerators_forward
        self._forwards = Forwarding(are_forwarding if forward is None else forward)

    def add_accelerator(self, name: str, rank: int, *, machine: int | None = None) -> int:
        """Add the accelerator of a rank and return its node; with its machine, where there are machines."""
        place = {} if machine is None else {"machine": machine}
        return self._add(name, NodeKind.ACCELERATOR, rank=rank, forwards=self._forwards, **place)

    def add_switch(self, name: str, *, is_scale_up: bool = False) -> int:
        """Add a switch and return its node; the latency of a scale-up switch is in its links."""
        latency = 0 if is_scale_up else self._config.switch_latency
        return self._add(name, NodeKind.SWITCH, forwards=Forwarding.ALL, latency_ps=latency)

    def add_link(
        self,
        a: int,
        b: int,
        link_class: str,
        rate_bps: int,
        delay_ps: int,
        *,
        loss: float = 0.0,
        is_scale_up: bool = False,
    ) -> None:
        """Join two nodes by an Ethernet link, or a scale-up link of the scenario's efficiency."""
        efficiency = self._config.scale_up.efficiency if is_scale_up else 0.0
        figures = {"rate_bps": rate_bps, "delay_ps": delay_ps, "loss": loss, "efficiency": efficiency}
        self._graph.add_edge(a, b, link=self._links, link_class=link_class, **figures)
        self._links += 1

    def build(self, name: str) -> Platform:
        """Return the platform, checked.

        Raises
        ------
        TopologyError : as :class:`~astra_py.platforms.Platform`.
        """
        return Platform(name, self._graph, routing_of(self._config))

    def _add(
        self,
        name: str,
        kind: NodeKind,
        *,
        forwards: Forwarding,
        rank: int = -1,
        latency_ps: int = 0,
        **place: int,
    ) -> int:
        node = len(self._graph)
        self._graph.add_node(node, kind=kind, rank=rank, latency_ps=latency_ps, name=name, forwards=forwards, **place)
        return node


def require_dims(path: Path, config: PlatformConfig, ranks: int) -> None:
    """Check that ``platform.dims``, where it is given, makes as many ranks as a file.

    Raises
    ------
    TopologyError : it does not.
    """
    if config.dims is not None and math.prod(config.dims) != ranks:
        raise TopologyError(
            f"{path}: has {ranks} ranks, and platform.dims = {config.text('dims')!r} makes {math.prod(config.dims)}; "
            "allowed: the ranks of the file, or leave platform.dims out"
        )
