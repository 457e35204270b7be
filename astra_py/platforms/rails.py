# SPDX-License-Identifier: GPL-2.0-only
"""Machines on rails: NIC ``i`` of every machine on the leaf switch of rail ``i``.

``rail_optimized`` has spines above the leaves (NVIDIA DGX SuperPOD, RA-11333-001); DGX A100 and DGX H100 systems are
that with their own figures. ``rail_only`` has none: Wang et al., "Rail-only: A Low-Cost High-Performance Network for
Training LLMs with Trillion Parameters", HOTI 2024; what goes to another rail changes it over NVLink, in the sender's or
the receiver's machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from astra_py.platforms.build import PlatformBuilder
from astra_py.platforms.registry import register_platform

if TYPE_CHECKING:
    from astra_py.config import PlatformConfig
    from astra_py.platforms.platform import Platform

__all__ = ["dgx_a100", "dgx_h100", "rail_only", "rail_optimized"]


@register_platform("rail_optimized")
def rail_optimized(config: PlatformConfig) -> Platform:
    """Build ``platform.kind = "rail_optimized"``: rank ``r`` is in machine ``r // accelerators_per_node``.

    Links of class ``nvlink`` come first, a rank's to each scale-up switch of its machine, then those of class ``pcie``
    where NICs are nodes, then those of class ``host``, machine by machine, and ``fabric``. Leaf
    ``group x nics_per_node + i`` has rail ``i`` of a group of machines.
    """
    builder = PlatformBuilder(config)
    builder.add_scale_up("nvswitch", "nvlink")
    builder.add_leaves_and_spines(
        (nic, machine // config.leaf_machines * config.nic_count + rail)
        for machine, nics in enumerate(builder.add_nics())
        for rail, nic in enumerate(nics)
    )
    return builder.build()


@register_platform("rail_only")
def rail_only(config: PlatformConfig) -> Platform:
    """Build ``platform.kind = "rail_only"``: as ``rail_optimized``, with one switch a rail and none above."""
    builder = PlatformBuilder(config)
    builder.add_scale_up("nvswitch", "nvlink")
    machines = builder.add_nics()
    rails = [builder.add_switch(f"rail{number}") for number in range(config.nic_count)]
    for nics in machines:
        for rail, nic in zip(rails, nics, strict=True):
            builder.add_link(nic, rail, "host")
    return builder.build()


@register_platform("dgx_a100")
def dgx_a100(config: PlatformConfig) -> Platform:
    """Build ``platform.kind = "dgx_a100"``: ``rail_optimized`` with the figures of the preset of that name."""
    return rail_optimized(config)


@register_platform("dgx_h100")
def dgx_h100(config: PlatformConfig) -> Platform:
    """Build ``platform.kind = "dgx_h100"``: ``rail_optimized`` with the figures of the preset of that name."""
    return rail_optimized(config)
