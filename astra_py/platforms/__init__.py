# SPDX-License-Identifier: GPL-2.0-only
"""Where it runs: accelerators, switches and links, from builders by name or from a graph of one's own."""

from astra_py.platforms.build import PlatformBuilder
from astra_py.platforms.describe import LinkClass, PlatformDescription, describe
from astra_py.platforms.draw import draw
from astra_py.platforms.leaf_spine import leaf_spine
from astra_py.platforms.platform import NodeKind, Platform, PlatformArrays
from astra_py.platforms.registry import build_platform, platform_kinds, register_platform, topology
from astra_py.platforms.ring import ring
from astra_py.platforms.single_switch import single_switch
from astra_py.platforms.zion import zion
from astra_py.platforms.zionex import zionex

__all__ = [
    "LinkClass",
    "NodeKind",
    "Platform",
    "PlatformArrays",
    "PlatformBuilder",
    "PlatformDescription",
    "build_platform",
    "describe",
    "draw",
    "leaf_spine",
    "platform_kinds",
    "register_platform",
    "ring",
    "single_switch",
    "topology",
    "zion",
    "zionex",
]
