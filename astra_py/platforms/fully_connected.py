# SPDX-License-Identifier: GPL-2.0-only
"""Each rank linked to each other one, without switches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astra_py.platforms.build import PlatformBuilder
from astra_py.platforms.registry import register_platform

if TYPE_CHECKING:
    from astra_py.config import PlatformConfig
    from astra_py.platforms.platform import Platform

__all__ = ["fully_connected"]


@register_platform("fully_connected")
def fully_connected(config: PlatformConfig) -> Platform:
    """Build ``platform.kind = "fully_connected"``: links of class ``direct``, rank by rank to each higher one."""
    builder = PlatformBuilder(config)
    for rank in range(config.ranks):
        for other in range(rank + 1, config.ranks):
            builder.add_link(rank, other, "direct")
    return builder.build()
