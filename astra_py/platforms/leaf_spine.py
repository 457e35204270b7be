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
    """Build ``platform.kind = "leaf_spine"``: ranks on leaves, see :meth:`PlatformBuilder.add_leaves_and_spines`."""
    builder = PlatformBuilder(config)
    builder.add_leaves_and_spines((rank, rank // config.leaf_ranks) for rank in range(config.ranks))
    return builder.build()
