# SPDX-License-Identifier: GPL-2.0-only
"""The oracle's switch: what a node that forwards decides about the frames that come to it. No time passes here.

* A buffer has a shared room and, for each (channel, priority), a reserve and, if that is lossless, a headroom.
* A lossless frame goes to the shared room, else to the reserve, else to the headroom; while its (channel, priority) is
  paused, to the headroom, else to the reserve. A lossy one goes to the shared room, unless its egress port
  has more of its priority than the share, else to the reserve. It is dropped where no room has place for all of it.
* A lossless (channel, priority) is paused when it has more than its share, or put anything outside the shared room. It
  is resumed by a release that leaves it nothing there, and an offset less than its share.
* Frames leave the headroom first, then the reserve, then the shared room.
* Where priorities share a port by weights, they have turns, from 6 down to 0: surplus round robin (Adiseshu, Parulkar
  and Varghese, SIGCOMM 1996). A turn brings weight x 4,096 line bytes to one that has something to send, and lasts
  while it has credit; what is sent is paid afterwards. One that has nothing when it is its turn loses its credit, not
  its debt. What starts at once on an idle port takes no turn, but pays.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

HEADROOM, RESERVE, SHARED = range(3)
ACK_PRIORITY, PFC_LINE, PREAMBLE_AND_GAP, QUANTUM_BITS = 7, 84, 20, 512
LOSS, MARK = 0x6C6F7373, 0x65636E
TURN_BYTES = 4096


# Figures of every node that forwards, in bytes; a buffer of 0 is unlimited, a reserve or headroom of -1 worked out, no
# weights are strict priorities, and cut-through after 0 bytes is none.
@dataclass(frozen=True)
class Switch:
    buffer: int = 0
    pfc: bool = True
    lossless_mask: int = 255
    pfc_alpha: float = 0.125
    egress_alpha: float = 1.0
    reserve: int = -1
    headroom: int = -1
    xon_offset: int = 0
    pause_quanta: int = 65535
    response_quanta: int = 60
    ecn: bool = False
    ecn_kmin: int = 0
    ecn_kmax: int = 0
    ecn_pmax: float = 0.2
    ecn_mark_at: str = "enqueue"
    weights: tuple[int, ...] = ()
    cut_through: int = 0

    def is_lossless(self, q: int) -> bool:
        return self.pfc and bool(self.lossless_mask >> q & 1)

    def reserve_of(self, largest_line: int) -> int:
        return largest_line + PFC_LINE if self.reserve < 0 else self.reserve

    def headroom_of(self, rate_bps: int, delay_ps: int, largest_line: int) -> int:
        """Return what may still come from a link after its PAUSE was made."""
        if self.headroom >= 0:
            return self.headroom
        loop = -(-2 * delay_ps * rate_bps // (8 * 10**12))
        return loop + 2 * largest_line + self.response_quanta * QUANTUM_BITS // 8

    def mark_chance(self, depth: int) -> float:
        """Return RED's probability of a mark between the two thresholds."""
        return self.ecn_pmax * (depth - self.ecn_kmin) / (self.ecn_kmax - self.ecn_kmin)


class Buffer:
    """The buffer of one node; ``headrooms`` are those of its Ethernet channels."""

    def __init__(self, switch: Switch, reserve: int, headrooms: Mapping[int, int], priorities: Iterable[int]) -> None:
        self.switch, self.reserve, self.headrooms = switch, reserve, headrooms
        taken = [reserve + switch.is_lossless(q) * room for room in headrooms.values() for q in priorities]
        self.free = max(0, switch.buffer - sum(taken))
        self.used: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0, 0])
        self.paused: set[tuple[int, int]] = set()

    def charge(self, channel: int, q: int, size: int, egress_depth: int) -> bool:
        """Take a frame in, or return False: it is dropped. ``paused`` tells whether its (channel, priority) pauses."""
        used = self.used[channel, q]
        room = (self.headrooms[channel] - used[HEADROOM], self.reserve - used[RESERVE], self.free)
        if not self.switch.is_lossless(q):
            is_over = egress_depth + size > math.floor(self.switch.egress_alpha * self.free)
            order: tuple[int, ...] = (RESERVE,) if is_over else (SHARED, RESERVE)
        elif (channel, q) in self.paused:
            order = (HEADROOM, RESERVE)
        else:
            order = (SHARED, RESERVE, HEADROOM)
        place = next((place for place in order if size <= room[place]), None)
        if place is not None:
            used[place] += size
            self.free -= size if place == SHARED else 0
        # What has nothing here is not paused by a drop: no release would resume it.
        if self.switch.is_lossless(q) and sum(used) and (place != SHARED or sum(used) > self.share()):
            self.paused.add((channel, q))
        return place is not None

    def release(self, channel: int, q: int, size: int) -> None:
        """Let a frame go. ``paused`` tells whether its (channel, priority) still pauses."""
        used = self.used[channel, q]
        for place in (HEADROOM, RESERVE, SHARED):
            part = min(size, used[place])
            used[place] -= part
            self.free += part if place == SHARED else 0
            size -= part
        if used[HEADROOM] == used[RESERVE] == 0 and used[SHARED] <= max(0, self.share() - self.switch.xon_offset):
            self.paused.discard((channel, q))

    def share(self) -> int:
        return math.floor(self.switch.pfc_alpha * self.free)


class Shares:
    """Turns of the priorities below that of ACKs at one port."""

    def __init__(self, weights: Sequence[int]) -> None:
        self.weights, self.credit, self.turn = weights, [0] * len(weights), len(weights) - 1

    def choose(self, ready: Collection[int]) -> int:
        """Return whose turn it is of those that have something to send."""
        while self.turn not in ready or self.credit[self.turn] <= 0:
            if self.turn not in ready:
                self.credit[self.turn] = min(self.credit[self.turn], 0)
            self.turn = (self.turn - 1) % len(self.weights)
            if self.turn in ready:
                self.credit[self.turn] += self.weights[self.turn] * TURN_BYTES
        return self.turn

    def pay(self, q: int, line_bytes: int) -> None:
        if q < len(self.weights):
            self.credit[q] -= line_bytes


def mix64(x: int) -> int:
    x = (x + 0x9E3779B97F4A7C15) % 2**64
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
    return x ^ (x >> 31)


def draw(seed: int, stream: int, number: int, n: int) -> int:
    """Return draw ``n`` of a port or channel, in whole 2^64ths."""
    return mix64(mix64(seed ^ stream) ^ mix64((number << 40) ^ n))
