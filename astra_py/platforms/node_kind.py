# SPDX-License-Identifier: GPL-2.0-only
"""The kinds of nodes of a platform, and what passes through them."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["Forwarding", "NodeKind"]


class NodeKind(IntEnum):
    """What a node is. Switches forward frames; the others do so only where the platform says it."""

    ACCELERATOR = 0
    HOST = 1
    NIC = 2
    SWITCH = 3


class Forwarding(IntEnum):
    """Which frames may pass through a node, ``forwards`` of a platform's graph.

    ``SCALE_UP_TO_ETHERNET``: those that came over a scale-up link, and on to Ethernet or a NIC only, as an accelerator
    does for its neighbours with PXN.
    """

    NONE = 0
    ALL = 1
    SCALE_UP_TO_ETHERNET = 2
