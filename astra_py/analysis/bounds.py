# SPDX-License-Identifier: GPL-2.0-only
"""Times that no algorithm and no engine can be below: what a platform's cuts can carry, and how far data has to go.

A *cut* is a set of nodes: all that its members have for others crosses the links that leave it. The cuts looked at are
each rank, each machine, each switch with all that hangs on it alone, and the two halves of the ranks (bisection, a
minimum cut). A cut takes at least its bytes over its capacity, and the least latency across it. Capacities are payload:
full packets' share of Ethernet's line, the efficiency of scale-up links. Collectives whose data can be combined or
copied on the way count as often as is needed at least (Chan et al. 2007, "Collective communication: theory, practice,
and experience"; Patarasuk and Yuan 2009); switches do not compute.

Bounds are of exact times, ``transport.time_rounding = "ps_ceil"``: whole nanoseconds may round down.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.analysis.needs import needs_of
from astra_py.analysis.reach import Reach
from astra_py.engines.wire import DATA_HEADER
from astra_py.errors import ConfigError

if TYPE_CHECKING:
    from astra_py.engines.base import TransportModel
    from astra_py.platforms.platform import Platform

__all__ = ["Bound", "lower_bound"]

_BITS_PS = 8 * 10**12


@dataclass(frozen=True)
class Bound:
    """The least time of a collective.

    Attributes
    ----------
    time_ps : the larger of the two.
    bandwidth_ps : of the cut that takes longest.
    latency_ps : of the pair of ranks that are farthest apart and need something of each other.
    cut : that cut in words.
    """

    time_ps: int
    bandwidth_ps: int
    latency_ps: int
    cut: str


def lower_bound(
    kind: str,
    payload: int | NDArray[np.int64],
    platform: Platform,
    transport: TransportModel,
    group: tuple[int, ...] | None = None,
) -> Bound:
    """Return the least time of a collective, by whatever algorithm, if all ranks join at once.

    Parameters
    ----------
    kind, payload : as :func:`astra_py.collectives.build_template` takes them.
    platform, transport : where, and how much of a line is payload.
    group : the ranks that take part; all of them where None.

    Raises
    ------
    ConfigError : an unknown kind, a payload that is none of it, a rank twice or one that is not on the platform.
    """
    members = np.arange(platform.ranks) if group is None else np.array(group, dtype=np.int64)
    if outside := [rank for rank in members.tolist() if not 0 <= rank < platform.ranks]:
        raise ConfigError(f"{kind}: rank {outside[0]} is not on the platform; allowed: 0 to {platform.ranks - 1}")
    if len(np.unique(members)) < len(members):
        raise ConfigError(f"{kind}: a rank is twice in the group {members.tolist()}; allowed: each once")
    needs = needs_of(kind, payload, len(members))
    if len(members) < 2 or not needs.pairs.any():
        return Bound(0, 0, 0, "nothing to do")
    cuts = _Cuts(platform, transport, members)
    endpoints = transport.send_latency_ps + transport.receive_latency_ps
    bandwidth, name = 0, "nothing to send"
    for title, nodes, capacity_bps in cuts:
        inside = nodes[cuts.node_of_member]
        if inside.all() or not inside.any() or not (size_bytes := needs.crossing(inside)):
            continue
        time = -(-_BITS_PS * size_bytes // capacity_bps) + cuts.reach.least_ps(
            nodes & cuts.is_member, ~nodes & cuts.is_member
        )
        if time + endpoints > bandwidth:
            bandwidth, name = time + endpoints, f"{title}: {size_bytes:,} B"
    for title, parts in (("all ranks", cuts.ranks), ("all machines", cuts.machines)):
        if not parts or not (np.sum([nodes for _, nodes, _ in parts], axis=0)[cuts.node_of_member] == 1).all():
            continue
        size_bytes = needs.total(len(parts))
        time = -(-_BITS_PS * size_bytes // sum(capacity for _, _, capacity in parts))
        if time > bandwidth:
            bandwidth, name = time, f"{title} together: {size_bytes:,} B"
    latency = cuts.reach.farthest_ps(cuts.node_of_member, needs.pairs) + endpoints
    return Bound(max(bandwidth, latency), bandwidth, latency, name)


_Cut = tuple[str, NDArray[np.bool_], int]


class _Cuts:
    """The cuts of a platform that separate members: a title, the nodes inside, and the payload rate out of it."""

    def __init__(self, platform: Platform, transport: TransportModel, members: NDArray[np.int64]) -> None:
        self.arrays = arrays = platform.arrays()
        self.reach = Reach(arrays)
        node_of_rank = np.zeros(platform.ranks, dtype=np.int64)
        nodes = np.flatnonzero(arrays.node_rank >= 0)
        node_of_rank[arrays.node_rank[nodes]] = nodes
        self.node_of_member = node_of_rank[members]
        self.is_member = np.zeros(len(arrays.node_kind), dtype=np.bool_)
        self.is_member[self.node_of_member] = True
        header = DATA_HEADER if transport.header_bytes < 0 else transport.header_bytes
        payload = transport.payload_bytes
        self.payload_bps = [
            -(-rate * round(share * 10**6) // 10**6) if share > 0 else -(-rate * payload // (payload + header))
            for rate, share in zip(arrays.link_rate_bps.tolist(), arrays.link_efficiency.tolist(), strict=True)
        ]
        self.ranks = [
            self._around(f"rank {rank}", self._only(node))
            for rank, node in zip(members.tolist(), self.node_of_member.tolist(), strict=True)
        ]
        self.machines = self._machines(arrays.rank_machine[members])

    def __iter__(self) -> Iterator[_Cut]:
        yield from self.ranks
        yield from self.machines
        yield from self._below_switches()
        yield self._halves()

    def _only(self, node: int) -> NDArray[np.bool_]:
        inside = np.zeros(len(self.arrays.node_kind), dtype=np.bool_)
        inside[node] = True
        return inside

    def _around(self, title: str, inside: NDArray[np.bool_]) -> _Cut:
        leaving = inside[self.arrays.link_a] != inside[self.arrays.link_b]
        return title, inside, sum(self.payload_bps[link] for link in np.flatnonzero(leaving).tolist())

    def _machines(self, machine: NDArray[np.int32]) -> list[_Cut]:
        """Each machine's accelerators and what they reach over scale-up links."""
        if len(np.unique(machine)) in (1, len(machine)):
            return []
        return [
            self._around(f"machine {number}", self.reach.over_scale_up(self.node_of_member[machine == number]))
            for number in np.unique(machine).tolist()
        ]

    def _below_switches(self) -> Iterator[_Cut]:
        """Each switch that members hang on, with them."""
        for switch, below in self.reach.leaves(self.is_member):
            yield self._around(f"all below {self.arrays.node_names[switch]}", below)

    def _halves(self) -> _Cut:
        half = len(self.node_of_member) // 2
        inside, capacity = self.reach.minimum_cut(
            self.node_of_member[:half], self.node_of_member[half:], self.payload_bps
        )
        return "bisection, the first half of the ranks", inside, capacity
