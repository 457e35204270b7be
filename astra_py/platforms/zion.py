# SPDX-License-Identifier: GPL-2.0-only
"""Zion: machines of accelerators on a fabric of their own, each behind a host CPU that has the NIC.

Naumov et al., "Deep Learning Training in Facebook Data Centers: Design of Scale-up and Scale-out Systems", 2020:
8 accelerators, 8 CPU sockets and a NIC for each socket. It is the platform of Rashidi et al., HOTI 2020.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from astra_py.platforms.build import PlatformBuilder
from astra_py.platforms.registry import register_platform

if TYPE_CHECKING:
    from astra_py.config import PlatformConfig
    from astra_py.platforms.platform import Platform

__all__ = ["zion"]


@register_platform("zion")
def zion(config: PlatformConfig) -> Platform:
    """Build ``platform.kind = "zion"``: rank ``r`` is in machine ``r // accelerators_per_node``, behind host ``r``.

    Links of class ``scale_up`` join a rank to its machine's scale-up switches, then one of class ``pcie`` a
    rank joins it to its host; last come the hosts' links of class ``host`` and those of class ``fabric``, see
    :meth:`PlatformBuilder.add_leaves_and_spines`.
    """
    builder = PlatformBuilder(config)
    builder.add_scale_up("scaleup", "scale_up")
    hosts = [builder.add_host(f"host{rank}") for rank in range(config.ranks)]
    for rank, host in enumerate(hosts):
        builder.add_pcie(rank, host)
    builder.add_leaves_and_spines((host, rank // config.leaf_ranks) for rank, host in enumerate(hosts))
    return builder.build()
