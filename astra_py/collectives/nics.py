# SPDX-License-Identifier: GPL-2.0-only
"""How many NICs a rank has, for algorithms that part their data among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from astra_py.platforms.node_kind import NodeKind

if TYPE_CHECKING:
    from astra_py.platforms.platform import PlatformArrays

__all__ = ["nics_per_rank"]


def nics_per_rank(platform: PlatformArrays) -> int:
    """The least number of NICs that any accelerator has a link to; 1 where accelerators are their own."""
    counts = np.zeros(len(platform.node_kind), dtype=np.int64)
    for end, other in ((platform.link_a, platform.link_b), (platform.link_b, platform.link_a)):
        np.add.at(counts, end, platform.node_kind[other] == NodeKind.NIC)
    return max(int(counts[platform.node_rank >= 0].min(initial=np.iinfo(np.int64).max)), 1) if len(counts) else 1
