# SPDX-License-Identifier: GPL-2.0-only
"""The rates of a platform that closed forms of a plan's cost need, read off its nodes and links."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from astra_py.platforms import NodeKind
from astra_py.workloads.dlrm.sharders.estimate import Rates

if TYPE_CHECKING:
    from astra_py.platforms import PlatformArrays

__all__ = ["platform_rates"]

_BITS = 8


def platform_rates(platform: PlatformArrays, *, hbm_Bps: float, host_Bps: float) -> Rates:  # noqa: N803
    """Return what a rank reaches at most, each rank alike.

    Between machines that is the Ethernet that ends at accelerators, hosts and NICs, over the number of ranks; inside
    one the scale-up links that end at accelerators and at no host or NIC. Where a platform has only one of the two,
    both are that one.

    Parameters
    ----------
    platform : nodes and links.
    hbm_Bps, host_Bps : bytes a second that a rank looks up in its accelerator's memory and in its host's.
    """
    ranks = len(platform.rank_machine)
    kinds = platform.node_kind[platform.link_a], platform.node_kind[platform.link_b]
    is_scale_up = platform.link_efficiency > 0
    ends = sum((kind != NodeKind.SWITCH).astype(np.int64) for kind in kinds)
    between = float((platform.link_rate_bps * ends)[~is_scale_up].sum()) / _BITS / ranks
    accelerators = sum((kind == NodeKind.ACCELERATOR).astype(np.int64) for kind in kinds)
    is_inside = is_scale_up & ~np.logical_or(*((kind == NodeKind.HOST) | (kind == NodeKind.NIC) for kind in kinds))
    inside = float((platform.link_rate_bps * platform.link_efficiency * accelerators)[is_inside].sum()) / _BITS / ranks
    return Rates(hbm_Bps=hbm_Bps, host_Bps=host_Bps, inside_Bps=inside or between, between_Bps=between or inside)
