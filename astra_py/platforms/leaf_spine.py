# SPDX-License-Identifier: GPL-2.0-only
"""Two layers of switches: ranks on leaves, every leaf on every spine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astra_py.platforms.build import PlatformBuilder
from astra_py.platforms.registry import register_platform

if TYPE_CHECKING:
    from astra_py.config import PlatformConfig
    from astra_py.platforms.platform import Platform

__all__ = ["leaf_spine"]


@register_platform("leaf_spine")
def leaf_spine(config: PlatformConfig) -> Platform:
    """Build ``platform.kind = "leaf_spine"``.

    Rank ``r`` is on leaf ``r // ranks_per_leaf``, so that the last leaf holds what is left. Links of class ``host``
    come first, one a rank in order of ranks, then those of class ``fabric``, leaf by leaf, one to each spine.
    """
    builder = PlatformBuilder(config)
    leaves = [builder.add_switch(f"leaf{number}") for number in range(config.leaf_count)]
    spines = [builder.add_switch(f"spine{number}") for number in range(config.spine_count)]
    for rank in range(config.ranks):
        builder.add_link(rank, leaves[rank // config.ranks_per_leaf], "host")
    for leaf in leaves:
        for spine in spines:
            builder.add_link(leaf, spine, "fabric")
    return builder.build()
