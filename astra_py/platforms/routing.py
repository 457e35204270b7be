# SPDX-License-Identifier: GPL-2.0-only
"""How flows get their ways over a platform: what ``platform.routing`` and its neighbours say, as engines take it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from astra_py.config import PlatformConfig

__all__ = ["ChosenWays", "NicPolicy", "Routing", "RoutingKind", "routing_of"]


class RoutingKind(IntEnum):
    """``platform.routing``; the values are those of ns3::RoutingKind."""

    ECMP = 0
    ENHANCED_ECMP = 1
    SPRAY = 2
    LEAST_LOADED = 3
    STATIC_RAIL = 4
    HOOK = 5


class NicPolicy(IntEnum):
    """``platform.nic_policy``; the values are those of ns3::NicPolicy."""

    OWN = 0
    HASH = 1
    STRIPED = 2
    PXN = 3


def _empty() -> NDArray[np.int32]:
    return np.zeros(0, np.int32)


@dataclass(frozen=True, kw_only=True, eq=False)
class ChosenWays:
    """Ways of flows that were chosen before the run: ``f`` flows, those of a pair of ranks in order of queue pair.

    Attributes
    ----------
    src, dst : i32[f], ranks.
    queue_pair : i32[f], 0, 1, ... within a pair; a queue pair of a higher number takes the way of its number modulo
        these.
    ptr : i64[f + 1]; the way of flow ``i`` is ``channel[ptr[i]:ptr[i + 1]]``.
    channel : i32, directed channels in order.
    """

    src: NDArray[np.int32] = field(default_factory=_empty)
    dst: NDArray[np.int32] = field(default_factory=_empty)
    queue_pair: NDArray[np.int32] = field(default_factory=_empty)
    ptr: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64))
    channel: NDArray[np.int32] = field(default_factory=_empty)


@dataclass(frozen=True, kw_only=True, eq=False)
class Routing:
    """How one of several equal ways is chosen.

    Attributes
    ----------
    kind, nic_policy : see :class:`RoutingKind` and :class:`NicPolicy`.
    is_seed_common : whether all switches hash with one seed.
    chosen : with ``HOOK``, the ways that the hook chose; flows without one cannot be routed.
    """

    kind: RoutingKind = RoutingKind.ECMP
    nic_policy: NicPolicy = NicPolicy.OWN
    is_seed_common: bool = False
    chosen: ChosenWays = field(default_factory=ChosenWays)

    def warnings(self) -> Iterator[str]:
        """Say what one may not expect, a sentence each."""
        if self.is_seed_common:
            yield (
                "platform.ecmp_seeds = 'common': all switches hash alike, so that each tier makes the choice of the "
                "one before it and leaves ways unused (polarisation)"
            )


def routing_of(config: PlatformConfig) -> Routing:
    """Return the routing that a scenario's ``[platform]`` describes; a hook has chosen nothing yet."""
    return Routing(
        kind=RoutingKind[config.routing.upper()],
        nic_policy=NicPolicy[config.nic_policy.upper()],
        is_seed_common=config.ecmp_seeds == "common",
    )
