# SPDX-License-Identifier: GPL-2.0-only
"""Ranks in a ring, without switches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astra_py.platforms.build import PlatformBuilder
from astra_py.platforms.registry import register_platform

if TYPE_CHECKING:
    from astra_py.config import PlatformConfig
    from astra_py.platforms.platform import Platform

__all__ = ["ring"]


@register_platform("ring")
def ring(config: PlatformConfig) -> Platform:
    """Build ``platform.kind = "ring"``: link ``r`` of class ``ring`` joins rank ``r`` and the next one.

    Frames between ranks farther apart pass through accelerators, the shorter way round. Two ranks have one link.
    """
    builder = PlatformBuilder(config)
    links = config.ranks if config.ranks > 2 else config.ranks - 1
    for rank in range(links):
        builder.add_link(rank, (rank + 1) % config.ranks, "ring")
    return builder.build()
