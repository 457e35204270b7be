# SPDX-License-Identifier: GPL-2.0-only
"""All-to-all algorithms, for equal parts and for any byte matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.builder import Hold, ScheduleBuilder
from astra_py.collectives.registry import Group, collective
from astra_py.collectives.schedule import EdgeOn

__all__ = ["direct"]


@collective("all_to_all", name="direct")
@collective("all_to_all_v", name="direct")
def direct(build: ScheduleBuilder, group: Group, matrix: NDArray[np.int64]) -> None:
    """Every rank sends straight to every peer, in the order own + 1, own + 2, ..., all posted at once.

    An entry of 0 bytes sends nothing, and the diagonal stays where it is. With ``SystemModel.in_flight`` a rank has at
    most that many messages posted and not yet acknowledged.
    """
    n = group.size
    src = np.repeat(np.arange(n), n - 1)
    dst = (src + np.tile(np.arange(1, n), n)) % n
    size_bytes = matrix[src, dst]
    is_sent = size_bytes > 0
    src, dst, size_bytes = src[is_sent], dst[is_sent], size_bytes[is_sent]
    pools: Hold | tuple[()] = ()
    if build.system.in_flight is not None:
        pools = Hold(build.pool(np.arange(n), build.system.in_flight)[src], release_on=EdgeOn.ACKED)
    build.send(src, dst, size_bytes, blocks=src * n + dst, pools=pools)
