# SPDX-License-Identifier: GPL-2.0-only
"""Recursive halving and doubling of many teams at once, for any number of members.

Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH", 2005: vector halving
with distance doubling, so that the largest messages go to the nearest. Of n members p take part, p being the largest
power of two. Of the first 2(n - p) members those of odd index stand for the even ones before them as well, which hand
them their whole buffer at the beginning and get the result at the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.builder import Dep, ScheduleBuilder
from astra_py.collectives.patterns import Teams, post
from astra_py.collectives.schedule import Combine, EdgeOn

__all__ = [
    "doubling_all_reduce",
    "doubling_gather",
    "halving_all_reduce",
    "halving_scatter",
    "is_power_of_two",
    "power_of_two",
]

Ids = NDArray[np.int64]


def power_of_two(ranks: int) -> int:
    """The largest power of two that is not above ``ranks``."""
    return 1 << (ranks.bit_length() - 1)


def is_power_of_two(ranks: int) -> bool:
    """Whether ``ranks`` is a power of two."""
    return power_of_two(ranks) == ranks


def halving_all_reduce(build: ScheduleBuilder, teams: Teams, *, scatter: str | None, gather: str | None) -> None:
    """Halve and then double, called ``scatter`` and ``gather``; the segments of ``teams`` are as many as take part."""
    fold = _Fold(build, teams, scatter)
    pairs = _Pairs(build, fold.active, fold.received)
    for bit in range(pairs.bits):
        pairs.exchange(bit, pairs.half(bit)[np.arange(pairs.size) ^ (1 << bit)], Combine.ADD, scatter)
    for bit in reversed(range(pairs.bits)):
        pairs.exchange(bit, pairs.half(bit), Combine.KEEP, gather)
    fold.undo(pairs, gather)


def halving_scatter(build: ScheduleBuilder, teams: Teams, *, phase: str | None) -> None:
    """Halve: member i of each team, of a power of two of members, ends with the sum of segment i."""
    pairs = _Pairs(build, _by_reversed_bits(teams), _nothing(teams))
    for bit in range(pairs.bits):
        pairs.exchange(bit, pairs.half(bit)[np.arange(pairs.size) ^ (1 << bit)], Combine.ADD, phase)


def doubling_gather(build: ScheduleBuilder, teams: Teams, *, phase: str | None) -> None:
    """Double: every member of each team, of a power of two of members, ends with all segments."""
    pairs = _Pairs(build, _by_reversed_bits(teams), _nothing(teams))
    for bit in reversed(range(pairs.bits)):
        pairs.exchange(bit, pairs.half(bit), Combine.KEEP, phase)


def doubling_all_reduce(build: ScheduleBuilder, teams: Teams, *, phase: str | None) -> None:
    """In each step every member exchanges all it has with another and adds it up; teams of one segment."""
    fold = _Fold(build, teams, phase)
    pairs = _Pairs(build, fold.active, fold.received)
    for bit in range(pairs.bits):
        pairs.exchange(bit, np.zeros((pairs.size, 1), dtype=np.int64), Combine.EXCHANGE, phase)
    fold.undo(pairs, phase)


def _nothing(teams: Teams) -> Ids:
    return np.empty((*teams.members.shape, 0), dtype=np.int64)


def _by_reversed_bits(teams: Teams) -> Teams:
    """The segments in the order in which halving leaves them: member i gets the one whose number is i reversed."""
    bits = teams.size.bit_length() - 1
    member = np.arange(teams.size)
    order = sum((((member >> bit) & 1) << (bits - 1 - bit) for bit in range(bits)), np.zeros_like(member))
    return Teams(teams.members, teams.size_bytes[:, order], teams.blocks[:, order])


@dataclass
class _Pairs:
    """Exchanges between pairs of members, of a power of two of them; after all that a member has received so far.

    Attributes
    ----------
    received, sent : i64[t, p, steps], what to wait for before using what came in each step, and what went.
    """

    build: ScheduleBuilder
    teams: Teams
    received: Ids
    sent: Ids = field(init=False)

    def __post_init__(self) -> None:
        self.sent = _nothing(self.teams)

    @property
    def size(self) -> int:
        return self.teams.size

    @property
    def bits(self) -> int:
        return self.size.bit_length() - 1

    def half(self, bit: int) -> Ids:
        """i64[p, p / 2^(bit + 1)], the segments that a member keeps when it halves what it has for that bit."""
        member, p = np.arange(self.size), self.size
        first = sum((((member >> b) & 1) * (p >> (b + 1)) for b in range(bit + 1)), np.zeros_like(member))
        return first[:, np.newaxis] + np.arange(p >> (bit + 1))

    def exchange(self, bit: int, segments: Ids, combine: Combine, phase: str | None) -> None:
        """Each member sends ``segments`` [p, k] to the one whose number differs from its own in ``bit``."""
        other = np.arange(self.size) ^ (1 << bit)
        segment_bytes = self.teams.size_bytes[:, segments]
        size_bytes = segment_bytes.sum(axis=2)
        # A segment of 0 bytes was never sent to whoever would pass it on here.
        blocks = np.where(segment_bytes[..., np.newaxis] > 0, self.teams.blocks[:, segments], -1)
        sent = post(
            self.build,
            self.teams.members,
            self.teams.members[:, other],
            size_bytes,
            blocks.reshape(*size_bytes.shape, -1),
            self._all_before(combine),
            phase=phase,
            combine=combine,
        )
        received = sent[:, other]
        if combine != Combine.KEEP:
            is_there = received >= 0
            received[is_there] = self.build.reduce(
                self.teams.members[is_there], size_bytes[:, other][is_there], received[is_there], phase=phase
            )
        self.received = np.concatenate([self.received, received[..., np.newaxis]], axis=2)
        self.sent = np.concatenate([self.sent, sent[..., np.newaxis]], axis=2)

    def _all_before(self, combine: Combine) -> list[Dep]:
        """What members wait for: all they have received, and in an exchange all they have sent."""
        return [Dep(self.received), *([Dep(self.sent, on=EdgeOn.SENT)] if combine == Combine.EXCHANGE else [])]


class _Fold:
    """The members beyond a power of two hand over what they have, and get the result.

    Attributes
    ----------
    active : the teams of those that go on.
    received : i64[t, p, 1], what each of them waits for; -1 where it stands for itself only.
    """

    def __init__(self, build: ScheduleBuilder, teams: Teams, phase: str | None) -> None:
        n, p = teams.size, power_of_two(teams.size)
        self._build = build
        self._extra, self._stands_in = teams.members[:, 0 : 2 * (n - p) : 2], teams.members[:, 1 : 2 * (n - p) : 2]
        self.active = Teams(
            np.concatenate([self._stands_in, teams.members[:, 2 * (n - p) :]], axis=1), teams.size_bytes, teams.blocks
        )
        self.received = np.full((*self.active.members.shape, 1), -1, dtype=np.int64)
        if n > p:
            handed = self._send(self._extra, self._stands_in, [], Combine.ADD, phase)
            is_there = handed >= 0
            total = np.broadcast_to(teams.size_bytes.sum(axis=1, keepdims=True), handed.shape)
            handed[is_there] = build.reduce(self._stands_in[is_there], total[is_there], handed[is_there], phase=phase)
            self.received[:, : n - p, 0] = handed

    def undo(self, pairs: _Pairs, phase: str | None) -> None:
        """Hand on the result."""
        extras = self._extra.shape[1]
        if extras:
            after = [Dep(pairs.received[:, :extras]), Dep(pairs.sent[:, :extras], on=EdgeOn.SENT)]
            self._send(self._stands_in, self._extra, after, Combine.KEEP, phase)

    def _send(self, src: Ids, dst: Ids, after: list[Dep], combine: Combine, phase: str | None) -> Ids:
        """The whole buffer of each team from ``src`` to ``dst`` [t, k]; -1 where it is empty."""
        total = np.broadcast_to(self.active.size_bytes.sum(axis=1, keepdims=True), src.shape)
        blocks = self.active.blocks.reshape(len(src), 1, -1)
        return post(self._build, src, dst, total, blocks, after, phase=phase, combine=combine)
