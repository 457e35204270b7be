# SPDX-License-Identifier: GPL-2.0-only
"""Ranks in a grid of any dimensions, each dimension closed to a ring, without switches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astra_py.platforms.build import PlatformBuilder
from astra_py.platforms.registry import register_platform

if TYPE_CHECKING:
    from astra_py.config import PlatformConfig
    from astra_py.platforms.platform import Platform

__all__ = ["torus"]


@register_platform("torus")
def torus(config: PlatformConfig) -> Platform:
    """Build ``platform.kind = "torus"``: rank ``r`` is at ``(r mod d0, r // d0 mod d1, ...)`` of ``platform.dims``.

    Links of class ``torus`` come dimension by dimension and there rank by rank, each from a rank to the next one along
    the dimension; a dimension of two has one link a pair, one of one none. Frames pass through accelerators.
    """
    builder = PlatformBuilder(config)
    stride = 1
    for size in config.grid:
        for rank in range(config.ranks):
            place = rank // stride % size
            if place + 1 < size:
                builder.add_link(rank, rank + stride, "torus")
            elif size > 2:
                builder.add_link(rank, rank - place * stride, "torus")
        stride *= size
    return builder.build()
