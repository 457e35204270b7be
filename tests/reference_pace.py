# SPDX-License-Identifier: GPL-2.0-only
"""The oracle's pace of a flow: when its next packet may leave, after DCQCN's reaction point.

* A flow is a queue pair, or all queue pairs of a rank to another by one port. After a packet of L line bytes at a rate
  r below the port's, the next one of the flow leaves no earlier than 8 L / r later, whatever becomes of r meanwhile.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from congestion.reference_dcqcn import ReferenceDcqcn


@dataclass(eq=False)
class Pace:
    """What all queue pairs of a flow share. ``is_held`` from a packet's start until the next one may leave."""

    control: ReferenceDcqcn
    port_rate_bps: int
    is_held: bool = False

    def send(self, now: int, line_bytes: int) -> int | None:
        """Let a packet leave; return when the next one may, or None where the port alone holds it."""
        self.control.sent(now, line_bytes)
        rate = max(math.floor(self.control.current + 0.5), 1)
        if rate >= self.port_rate_bps:
            return None
        self.is_held = True
        return now - -8 * line_bytes * 10**12 // rate
