# SPDX-License-Identifier: GPL-2.0-only
"""What ASTRA-sim 2's analytical backends define, so that their users find their numbers here.

Source: https://github.com/astra-sim/analytical, ``src/network_backend/analytical``: building blocks Ring, Switch and
FullyConnected of one bandwidth and one latency a link. The model itself is ``ns3::AstraSimNetwork``; what it cannot be
asked is refused here. ``docs/analytic.md`` says why its numbers are not ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from astra_py.engines.base import TransportModel
from astra_py.errors import ConfigError
from astra_py.platforms.node_kind import NodeKind
from astra_py.units import format_rate, format_time

if TYPE_CHECKING:
    from astra_py.platforms.platform import Platform, PlatformArrays

__all__ = ["ASTRA_SIM_MODES", "astra_sim_notes", "is_astra_sim", "require_astra_sim"]

ASTRA_SIM_MODES = ("astra_sim", "astra_sim_congestion")

#: Its "GB/s" is 2^30 bytes a second (common/NetworkFunction: bw_GBps_to_Bpns).
_ITS_GB = 2**30


def is_astra_sim(mode: str) -> bool:
    """Whether this value of ``analytic.mode`` is one of ASTRA-sim's backends."""
    return mode in ASTRA_SIM_MODES


def astra_sim_notes(mode: str, rate_bps: int) -> tuple[str, ...]:
    """Say of a run in one of these modes what its times leave out, a sentence each; nothing in other modes."""
    if not is_astra_sim(mode):
        return ()
    shared = (
        "links are never shared: all messages of a rank leave its port at the same time, each at the full rate"
        if mode == "astra_sim"
        else "each link takes whole messages one after another and a switch passes one on when all of it is there"
    )
    return (
        f"analytic.mode = {mode!r}: times are those of ASTRA-sim 2's analytical backend, where {shared}; there are no "
        "packets, headers or acknowledgements. The column analytic_time_us has this package's own model beside them",
        f"a link of {format_rate(rate_bps)} is bandwidth {rate_bps / 8 / _ITS_GB:.6g} in its network file, whose "
        "unit is 2^30 B/s",
    )


def require_astra_sim(platform: Platform, transport: TransportModel, mode: str) -> None:
    """Refuse what its program does not define.

    Raises
    ------
    ConfigError : the platform is none of its building blocks, its links differ, or something takes time that it does
        not know.
    """
    arrays = platform.arrays()
    where = f"analytic.mode = {mode!r}: ASTRA-sim's analytical backend"
    _require_alike(arrays, where)
    for key, value in (
        ("transport.send_latency", transport.send_latency_ps),
        ("transport.receive_latency", transport.receive_latency_ps),
    ):
        if value:
            raise ConfigError(f"{where} knows no {key}, which is {format_time(value)}; allowed: 0ns")
    if _shape(arrays) is None:
        raise ConfigError(
            f"{where} defines a ring, a switch with one link to each rank, or a link between each two ranks, and "
            f"{platform.name} is none of them; allowed: platform.kind = 'ring', 'single_switch' or 'fully_connected'"
        )


def _require_alike(arrays: PlatformArrays, where: str) -> None:
    """One rate and one delay; nothing else on a way takes time."""
    for what, values, text in (
        ("bandwidth", arrays.link_rate_bps, format_rate),
        ("latency", arrays.link_delay_ps, format_time),
    ):
        if len(values) and values.min() != values.max():
            least, most = text(int(values.min())), text(int(values.max()))
            raise ConfigError(f"{where} has one {what} for all links; here they are {least} to {most}")
    if (arrays.link_efficiency > 0).any():
        name = arrays.class_names[int(arrays.link_class[int(np.argmax(arrays.link_efficiency > 0))])]
        raise ConfigError(f"{where} has no scale-up links, and links of class {name} are; allowed: Ethernet alone")
    if arrays.node_latency_ps.any():
        node = int(arrays.node_latency_ps.argmax())
        latency = format_time(int(arrays.node_latency_ps[node]))
        raise ConfigError(
            f"{where} has latency on links alone, and {arrays.node_names[node]} takes {latency}; allowed: "
            "platform.switch_latency = 0ns"
        )


def _shape(arrays: PlatformArrays) -> str | None:
    """Which of its building blocks a platform is."""
    ranks, links = int((arrays.node_rank >= 0).sum()), len(arrays.link_a)
    degree = np.bincount(np.concatenate([arrays.link_a, arrays.link_b]), minlength=len(arrays.node_kind))
    switches = np.flatnonzero(arrays.node_kind == NodeKind.SWITCH)
    of_rank = degree[arrays.node_rank >= 0]
    if len(arrays.node_kind) == ranks + 1 and len(switches) == 1:
        return "Switch" if links == ranks and (of_rank == 1).all() else None
    if len(arrays.node_kind) != ranks:
        return None
    pairs = {(min(a, b), max(a, b)) for a, b in zip(arrays.link_a.tolist(), arrays.link_b.tolist(), strict=True)}
    if len(pairs) != links:
        return None
    if links == ranks * (ranks - 1) // 2:
        return "FullyConnected"
    node = arrays.node_rank.argsort()
    around = {tuple(sorted(pair)) for pair in zip(node.tolist(), np.roll(node, -1).tolist(), strict=True)}
    return "Ring" if pairs == around else None
