# SPDX-License-Identifier: GPL-2.0-only
"""The oracle's nouns of a network: nodes, channels, and what lies and moves on them. Nothing happens here."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from reference_switch import Shares


# A rank's NIC (``rank`` >= 0) or a switch (-1), and the latency of what it forwards.
@dataclass(frozen=True)
class Node:
    rank: int = -1
    latency_ps: int = 0


# One direction of a link, from node ``tx`` to node ``rx``; where there are pauses, c and c ^ 1 are a link.
@dataclass(frozen=True)
class Channel:
    tx: int
    rx: int
    rate_bps: int
    delay_ps: int
    efficiency_ppm: int = 0  # of a scale-up link; 0 is Ethernet
    loss: float = 0.0


# What goes along ``route``. ``frame_bytes`` is what it takes of a buffer; ``transit`` is its priority wherever it is
# passed on, and for pauses. One ``is_gone`` that was dropped, or has cut through.
@dataclass(eq=False, kw_only=True)
class Frame:
    line_bytes: int
    frame_bytes: int
    priority: int
    transit: int
    route: Sequence[int]
    payload: int = 0
    is_data: bool = False
    is_charged: bool = False
    is_gone: bool = False
    is_ecn_capable: bool = False
    is_marked: bool = False
    hop: int = 0


# The transmitter of a channel.
@dataclass(eq=False)
class Port:
    end_ps: int = 0  # of its last frame
    sending: Frame | None = None  # that frame; None for PAUSE and RESUME
    queues: list[deque[Frame]] = field(default_factory=lambda: [deque() for _ in range(8)])
    pfc: deque[tuple[int, int]] = field(default_factory=deque)  # priority and quanta, 0 of RESUME
    paused_until_ps: list[int] = field(default_factory=lambda: [0] * 8)
    shares: Shares | None = None
    frames: int = 0
    data_frames: int = 0
    payload_bytes: int = 0
    line_bytes: int = 0
    busy_ps: int = 0
    most_queued: int = 0  # frame bytes, with those being sent
    numbered: int = 0  # of the frames, all but PAUSE and RESUME
    lost: int = 0
    dropped: int = 0  # of what this channel brought, by the buffer at its end
    marked: int = 0
    draws: int = 0  # for marks
