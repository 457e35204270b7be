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
    """The least number of NICs that any accelerator reaches over PCIe, through its host too; 1 where it is its own."""
    ends = ((platform.link_a, platform.link_b), (platform.link_b, platform.link_a))
    is_nic, is_host = platform.node_kind == NodeKind.NIC, platform.node_kind == NodeKind.HOST
    counts = np.zeros(len(platform.node_kind), dtype=np.int64)
    for end, other in ends:
        np.add.at(counts, end, is_nic[other])
    own = counts.copy()
    for end, other in ends:
        np.add.at(counts, end, np.where(is_host[other], own[other], 0))
    return max(int(counts[platform.node_rank >= 0].min(initial=np.iinfo(np.int64).max)), 1) if len(counts) else 1
