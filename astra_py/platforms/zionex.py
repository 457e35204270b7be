# SPDX-License-Identifier: GPL-2.0-only
"""ZionEX: machines of accelerators on NVLink, each accelerator with a NIC of its own on a leaf-spine network.

Mudigere et al., "Software-Hardware Co-design for Fast and Scalable Training of Deep Learning Recommendation Models",
ISCA 2022.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from astra_py.platforms.build import PlatformBuilder
from astra_py.platforms.registry import register_platform

if TYPE_CHECKING:
    from astra_py.config import PlatformConfig
    from astra_py.platforms.platform import Platform

__all__ = ["zionex"]


@register_platform("zionex")
def zionex(config: PlatformConfig) -> Platform:
    """Build ``platform.kind = "zionex"``: rank ``r`` is in machine ``r // accelerators_per_node``.

    Links of class ``nvlink`` join a rank to its machine's NVSwitches, those of class ``pcie`` come where NICs are
    nodes, then those of class ``host``, NIC by NIC, and ``fabric``, see :meth:`PlatformBuilder.add_leaves_and_spines`.
    """
    builder = PlatformBuilder(config)
    builder.add_scale_up("nvswitch", "nvlink")
    builder.add_leaves_and_spines(
        (nic, machine // config.leaf_machines) for machine, nics in enumerate(builder.add_nics()) for nic in nics
    )
    return builder.build()
