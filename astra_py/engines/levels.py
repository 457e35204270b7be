# SPDX-License-Identifier: GPL-2.0-only
"""Rate and latency of the two levels of a platform's network, inside machines and between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from astra_py.collectives.system import LevelFigures
from astra_py.engines.routes import route_paths
from astra_py.platforms.routing import RoutingKind

if TYPE_CHECKING:
    from astra_py.engines.base import TransportModel
    from astra_py.platforms.platform import Platform

__all__ = ["level_figures"]


def level_figures(
    platform: Platform, transport: TransportModel, seed: int
) -> tuple[LevelFigures | None, LevelFigures | None]:
    """Figures inside a machine and between machines, each those of one pair of ranks that stands for all of them.

    The pairs are rank 0 and the first other rank of its machine, and rank 0 and the first rank of another machine;
    None where there is no such rank. The rate is that of the slowest link of the way, times as many of them as packets
    are spread over; headers are not counted, but the
    efficiency of scale-up links is.
    """
    machine = platform.arrays().rank_machine
    is_mate = machine == machine[0]
    is_mate[0] = False
    levels = []
    for is_peer in (is_mate, machine != machine[0]):
        peers = np.flatnonzero(is_peer)
        levels.append(_pair(platform, transport, seed, int(peers[0])) if len(peers) else None)
    return levels[0], levels[1]


def _pair(platform: Platform, transport: TransportModel, seed: int, peer: int) -> LevelFigures:
    from astra_py._ns3_ext import RouteTable

    arrays = platform.arrays()
    _, channel = route_paths(platform, seed, np.array([0]), np.array([peer]), np.array([0]))
    link = channel // 2
    receiver = np.where(channel % 2 == 0, arrays.link_b[link], arrays.link_a[link])
    share = np.where(arrays.link_efficiency[link] > 0, arrays.link_efficiency[link], 1.0)
    rate = float((arrays.link_rate_bps[link] * share).min())
    if (arrays.link_efficiency[link] > 0).all() and arrays.routing.kind != RoutingKind.HOOK:
        # its NIC spreads packets over all of these
        firsts = np.asarray(RouteTable(arrays, seed).first_channels(0, peer)) // 2
        rate *= float(arrays.link_rate_bps[firsts].sum() / arrays.link_rate_bps[link[0]])
    return LevelFigures(
        rate_bps=int(rate),
        latency_ps=int(arrays.link_delay_ps[link].sum() + arrays.node_latency_ps[receiver[:-1]].sum())
        + transport.send_latency_ps
        + transport.receive_latency_ps,
    )
