# SPDX-License-Identifier: GPL-2.0-only
"""The first dimension of a network, along which hybrid parallelisms part the ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from astra_py.platforms import build_platform

if TYPE_CHECKING:
    from astra_py.config import PlatformConfig

__all__ = ["first_dimension"]


def first_dimension(config: PlatformConfig) -> int | None:
    """Ranks along the first dimension of a network: of a torus, or of a machine; None where it has one dimension.

    Raises
    ------
    TopologyError : the network is that of a file, which is not understood.
    """
    if config.kind == "torus":
        return config.grid[0]
    machine = build_platform(config).arrays().rank_machine
    sizes = np.bincount(machine)
    is_even = bool((sizes == sizes[0]).all()) and bool((np.diff(machine) >= 0).all())
    return int(sizes[0]) if is_even and sizes[0] > 1 else None
