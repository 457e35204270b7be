# SPDX-License-Identifier: GPL-2.0-only
"""The ways that flows take, as every engine takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from astra_py.platforms.platform import Platform

__all__ = ["route_paths"]


def route_paths(
    platform: Platform,
    seed: int,
    src: NDArray[np.integer],
    dst: NDArray[np.integer],
    qp: NDArray[np.integer],
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Ways of ``k`` flows over a platform.

    Parameters
    ----------
    platform : the platform.
    seed : the run's seed; every switch derives its own from it.
    src, dst : i32[k], ranks.
    qp : i32[k], queue pair numbers.

    Returns
    -------
    ptr : i64[k + 1]; the way of flow ``i`` is ``channel[ptr[i]:ptr[i + 1]]``.
    channel : i32, directed channels in order (see docs/borders.md).

    Raises
    ------
    ConfigError : there is no way for a flow; names both ranks.
    """
    from astra_py._ns3_ext import RouteTable

    table = RouteTable(platform.arrays(), seed)
    columns = (np.ascontiguousarray(column, dtype=np.int32) for column in (src, dst, qp))
    return table.paths(*columns)
