# SPDX-License-Identifier: GPL-2.0-only
"""The kinds of nodes of a platform."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["NodeKind"]


class NodeKind(IntEnum):
    """What a node is. Switches forward frames; the others do so only where the platform says it."""

    ACCELERATOR = 0
    HOST = 1
    NIC = 2
    SWITCH = 3
