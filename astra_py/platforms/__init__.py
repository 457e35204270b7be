# SPDX-License-Identifier: GPL-2.0-only
"""Where it runs: accelerators, switches and links, from builders by name or from a graph of one's own."""

from astra_py.platforms.build import PlatformBuilder
from astra_py.platforms.describe import LinkClass, PlatformDescription, describe
from astra_py.platforms.draw import draw
from astra_py.platforms.fat_tree import fat_tree
from astra_py.platforms.fully_connected import fully_connected
from astra_py.platforms.leaf_spine import leaf_spine
from astra_py.platforms.pcie_servers import pcie_servers
from astra_py.platforms.platform import Forwarding, NodeKind, Platform, PlatformArrays
from astra_py.platforms.rails import dgx_a100, dgx_h100, rail_only, rail_optimized
from astra_py.platforms.registry import build_platform, platform_kinds, register_platform, topology
from astra_py.platforms.ring import ring
from astra_py.platforms.routing import ChosenWays, NicPolicy, Routing, RoutingKind
from astra_py.platforms.single_switch import single_switch
from astra_py.platforms.torus import torus
from astra_py.platforms.zion import zion
from astra_py.platforms.zionex import zionex

__all__ = [
    "ChosenWays",
    "Forwarding",
    "LinkClass",
    "NicPolicy",
    "NodeKind",
    "Platform",
    "PlatformArrays",
    "PlatformBuilder",
    "PlatformDescription",
    "Routing",
    "RoutingKind",
    "build_platform",
    "describe",
    "dgx_a100",
    "dgx_h100",
    "draw",
    "fat_tree",
    "fully_connected",
    "leaf_spine",
    "pcie_servers",
    "platform_kinds",
    "rail_only",
    "rail_optimized",
    "register_platform",
    "ring",
    "single_switch",
    "topology",
    "torus",
    "zion",
    "zionex",
]
