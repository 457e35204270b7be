# SPDX-License-Identifier: GPL-2.0-only
"""All ranks on one switch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astra_py.platforms.build import PlatformBuilder
from astra_py.platforms.registry import register_platform

if TYPE_CHECKING:
    from astra_py.config import PlatformConfig
    from astra_py.platforms.platform import Platform

__all__ = ["single_switch"]


@register_platform("single_switch")
def single_switch(config: PlatformConfig) -> Platform:
    """Build ``platform.kind = "single_switch"``: link ``r`` of class ``host`` joins rank ``r`` to the switch."""
    builder = PlatformBuilder(config)
    switch = builder.add_switch("switch0")
    for rank in range(config.ranks):
        builder.add_link(rank, switch, "host")
    return builder.build()
