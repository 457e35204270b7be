# SPDX-License-Identifier: GPL-2.0-only
"""What builders of platforms are made of: a graph that numbers its nodes and links as they come."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import networkx as nx

from astra_py.platforms.node_kind import Forwarding, NodeKind
from astra_py.platforms.platform import Platform
from astra_py.platforms.routing import routing_of

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
        forwards = Forwarding(config.accelerators_forwarding)
        for rank in range(config.ranks):
            place = {}
            if config.has_machines:
                machine, index = divmod(rank, config.accelerators_per_node)
                place = {"machine": machine, "rail": index * config.nic_count // config.accelerators_per_node}
            self._add_node(NodeKind.ACCELERATOR, f"rank{rank}", forwards=forwards, rank=rank, **place)

    def add_switch(self, name: str) -> int:
        """Add an Ethernet switch and return its node."""
        return self._add_node(NodeKind.SWITCH, name, latency_ps=self._config.switch_latency)

    def add_host(self, name: str) -> int:
        """Add a host, through which accelerators reach the network, and return its node."""
        return self._add_node(NodeKind.HOST, name)

    def add_link(self, a: int, b: int, link_class: str) -> None:
        """Join two nodes by an Ethernet link of the scenario's rate, delay and loss."""
        self._add_ethernet(a, b, link_class, self._config.link_rate)

    def add_fabric_link(self, a: int, b: int, link_class: str) -> None:
        """Join two switches by an Ethernet link of the scenario's rate for those."""
        self._add_ethernet(a, b, link_class, self._config.fabric_link_rate)

    def add_scale_up(self, switch_name: str, link_class: str) -> None:
        """Give each machine its scale-up switches, and each accelerator a link to each of those of its machine.

        A switch's latency is in its links' delays.
        """
        config = self._config
        links, rates = config.scale_up, config.scale_up_rates
        switches = [
            [
                self._add_node(NodeKind.SWITCH, f"{switch_name}{machine * len(rates) + number}")
                for number, _ in enumerate(rates)
            ]
            for machine in range(config.nodes)
        ]
        for rank in range(config.ranks):
            for switch, rate in zip(switches[rank // config.accelerators_per_node], rates, strict=True):
                self._add_edge(rank, switch, link_class, rate, links.latency, efficiency=links.efficiency)

    def add_pcie(self, a: int, b: int) -> None:
        """Join two of accelerator, host and NIC."""
        links = self._config.pcie
        self._add_edge(a, b, "pcie", links.rate, links.latency, efficiency=links.efficiency)

    def add_nics(self) -> list[Sequence[int]]:
        """Give each machine its NICs, and return their nodes by machine, in order.

        A NIC each is part of its accelerator. Others are nodes behind PCIe: with ``own`` and ``pxn`` each on the
        accelerators that use it, else all on the machine's host, which all its accelerators are on too.
        """
        config = self._config
        per_node, nics = config.accelerators_per_node, config.nic_count
        members = [range(machine * per_node, (machine + 1) * per_node) for machine in range(config.nodes)]
        if not config.has_nic_nodes:
            return list(members)
        is_any = config.nic_policy in ("hash", "striped")
        hosts = [self.add_host(f"host{machine}") for machine in range(config.nodes if is_any else 0)]
        found: list[Sequence[int]] = [
            [self._add_node(NodeKind.NIC, f"nic{machine * nics + number}") for number in range(nics)]
            for machine in range(config.nodes)
        ]
        for machine, own in enumerate(found):
            for index, rank in enumerate(members[machine]):
                self.add_pcie(rank, hosts[machine] if is_any else own[index * nics // per_node])
            for nic in own if is_any else ():
                self.add_pcie(hosts[machine], nic)
        return found

    def add_nics_below_hosts(self) -> list[Sequence[int]]:
        """Give each machine a host with all its accelerators and NICs, and return the NICs' nodes by machine, in order.

        Several NICs with accelerators of their own are below a PCIe switch each, with these.
        """
        config = self._config
        per_node, nics = config.accelerators_per_node, config.nic_count
        has_switches = nics > 1 and config.nic_policy == "own"
        found: list[Sequence[int]] = []
        for machine in range(config.nodes):
            host = self.add_host(f"host{machine}")
            above = [host] * nics
            if has_switches:
                above = [self._add_node(NodeKind.SWITCH, f"pcie{machine * nics + number}") for number in range(nics)]
                for switch in above:
                    self.add_pcie(switch, host)
            for index in range(per_node):
                self.add_pcie(machine * per_node + index, above[index * nics // per_node])
            found.append([self._add_node(NodeKind.NIC, f"nic{machine * nics + number}") for number in range(nics)])
            for switch, nic in zip(above, found[-1], strict=True):
                self.add_pcie(switch, nic)
        return found

    def add_leaves_and_spines(self, ends: Iterable[tuple[int, int]]) -> None:
        """Put ends, given with the number of their leaf switch, on leaves and each leaf on every spine switch.

        Links of class ``host`` come first, one an end, then those of class ``fabric``, leaf by leaf, one to each spine.
        """
        leaves = self.add_leaves(ends, self._config.spine_count)
        for leaf in leaves[0]:
            for spine in leaves[1]:
                self.add_fabric_link(leaf, spine, "fabric")

    def add_leaves(self, ends: Iterable[tuple[int, int]], spine_count: int) -> tuple[list[int], list[int]]:
        """Put ends on leaf switches by links of class ``host``; return leaves and spines, the latter without links."""
        leaves = [self.add_switch(f"leaf{number}") for number in range(self._config.leaf_count)]
        spines = [self.add_switch(f"spine{number}") for number in range(spine_count)]
        for end, leaf in ends:
            self.add_link(end, leaves[leaf], "host")
        return leaves, spines

    def build(self) -> Platform:
        """Return the platform, checked."""
        return Platform(self._config.kind, self._graph, routing_of(self._config))

    def _add_node(
        self,
        kind: NodeKind,
        name: str,
        *,
        forwards: Forwarding = Forwarding.ALL,
        rank: int = -1,
        latency_ps: int = 0,
        **place: int,
    ) -> int:
        node = len(self._graph)
        self._graph.add_node(node, kind=kind, rank=rank, latency_ps=latency_ps, name=name, forwards=forwards, **place)
        return node

    def _add_ethernet(self, a: int, b: int, link_class: str, rate_bps: int) -> None:
        self._add_edge(a, b, link_class, rate_bps, self._config.link_delay, loss=self._config.link_loss)

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
