# SPDX-License-Identifier: GPL-2.0-only
"""Max-min fair flows in plain Python: progressive filling in fractions, from the beginning at each change."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Flow:
    """Line bytes over channels from a time on; flows of one queue pair go one after another, in order of the list."""

    start_ps: int
    line_bytes: int
    channels: tuple[int, ...]
    queue_pair: Hashable
    priority: int = 0


def max_min_bps(
    ways: Sequence[tuple[int, ...]], priorities: Sequence[int], rate_bps: Mapping[int, Fraction]
) -> list[Fraction]:
    """The fair rate of each flow: of one priority after another, all raised alike until channels are full."""
    left = dict(rate_bps)
    rates = [Fraction(0)] * len(ways)
    for priority in sorted(set(priorities), reverse=True):
        rising = {i for i, mine in enumerate(priorities) if mine == priority}
        while rising:
            users = {channel: [i for i in rising if channel in ways[i]] for i in rising for channel in ways[i]}
            level, full = min((left[channel] / len(flows), channel) for channel, flows in users.items())
            for i in users[full]:
                rates[i] = level
                for channel in ways[i]:
                    left[channel] -= level
            rising -= set(users[full])
    return rates


def end_times_ps(flows: Sequence[Flow], rate_bps: Mapping[int, int]) -> list[int]:
    """When each flow's last byte leaves, to the nearest picosecond; others have its share until then."""
    rates = {channel: Fraction(rate) for channel, rate in rate_bps.items()}
    left = [Fraction(8 * flow.line_bytes * 10**12) for flow in flows]
    ends: list[int | None] = [None] * len(flows)
    waiting = sorted(range(len(flows)), key=lambda i: flows[i].start_ps)
    lines: dict[Hashable, list[int]] = {}
    now = 0
    while None in ends:
        while waiting and flows[waiting[0]].start_ps <= now:
            first = waiting.pop(0)
            lines.setdefault(flows[first].queue_pair, []).append(first)
        active = [line[0] for line in lines.values() if line]
        given = max_min_bps([flows[i].channels for i in active], [flows[i].priority for i in active], rates)
        # half a picosecond is rounded up
        due = {i: now + int(left[i] / rate + Fraction(1, 2)) for i, rate in zip(active, given, strict=True) if rate}
        until = min([*due.values(), *(flows[i].start_ps for i in waiting[:1])])
        for i, rate in zip(active, given, strict=True):
            left[i] -= rate * (until - now)
            if due.get(i) == until:
                ends[i] = until
                lines[flows[i].queue_pair].remove(i)
        now = until
    return [end for end in ends if end is not None]
