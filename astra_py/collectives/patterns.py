# SPDX-License-Identifier: GPL-2.0-only
"""The patterns that algorithms are made of: rings and direct exchanges, of many teams of ranks at once.

Teams have no rank in common and equal numbers of members. What they work on is cut into as many segments as a team has
members, and member i is the owner of segment i. Segments of 0 bytes are not sent, which changes no other segment's way.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.builder import Hold, Pools, ScheduleBuilder
from astra_py.collectives.partition import segment_bytes
from astra_py.collectives.schedule import EdgeOn

__all__ = [
    "Teams",
    "direct_all_reduce",
    "direct_gather",
    "direct_scatter",
    "in_flight",
    "ring_all_reduce",
    "ring_steps",
]

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Teams:
    """Teams and what they work on.

    Attributes
    ----------
    members : i64[t, n], group coordinates.
    size_bytes : i64[t, n], size of each segment.
    blocks : i64[t, n, b], the blocks that each segment is made of.
    """

    members: Ids
    size_bytes: Ids
    blocks: Ids

    @property
    def count(self) -> int:
        """How many teams there are."""
        return len(self.members)

    @property
    def size(self) -> int:
        """Members of each team, n."""
        return len(self.members[0])

    @classmethod
    def whole_group(cls, ranks: int, size_bytes: int) -> Teams:
        """One team of all members of a group of ``ranks``, with a segment each of a buffer of ``size_bytes``."""
        members = np.arange(ranks)[np.newaxis]
        return cls(members, segment_bytes(size_bytes, ranks)[np.newaxis], members[..., np.newaxis])


def ring_steps(
    build: ScheduleBuilder,
    teams: Teams,
    steps: Iterable[int],
    ready: Ids | None,
    *,
    is_reducing: bool,
    phase: str | None,
) -> Ids:
    """In step k member r of each team sends segment (r - k) mod n to member r + 1, which may add it to its own.

    A member passes on what it received a step before. Steps 0 to n - 2 of a gathering ring begin with the own segment;
    steps 1 to n - 1 of a reducing one end with it.

    Parameters
    ----------
    ready : i64[t, n], what each member's first message waits for, -1 for nothing.

    Returns
    -------
    i64[t, n], what to wait for before using what each member received last; -1 where that is of 0 bytes.
    """
    n, member = teams.size, np.arange(teams.size)
    team = np.arange(teams.count)[:, np.newaxis]
    following = np.roll(teams.members, -1, axis=1)
    if ready is None:
        ready = np.full(teams.members.shape, -1, dtype=np.int64)
    for step in steps:
        segment = np.broadcast_to((member - step) % n, teams.members.shape)
        size_bytes = teams.size_bytes[team, segment]
        is_sent = size_bytes > 0
        sent = np.full(is_sent.shape, -1, dtype=np.int64)
        sent[is_sent] = build.send(
            teams.members[is_sent],
            following[is_sent],
            size_bytes[is_sent],
            ready[is_sent],
            phase=phase,
            blocks=teams.blocks[team, segment][is_sent],
            combine=is_reducing,
        )
        ready = np.roll(sent, 1, axis=1)
        if is_reducing:
            is_there = ready >= 0
            received_bytes = np.roll(size_bytes, 1, axis=1)[is_there]
            ready[is_there] = build.reduce(teams.members[is_there], received_bytes, ready[is_there], phase=phase)
    return ready


def ring_all_reduce(build: ScheduleBuilder, teams: Teams, *, scatter: str | None, gather: str | None) -> None:
    """Reduce and then gather round each team's ring, called ``scatter`` and ``gather``; not a phase of its own each."""
    n = teams.size
    ready = ring_steps(build, teams, range(n - 1), None, is_reducing=True, phase=scatter)
    ring_steps(build, teams, range(n - 1, 2 * (n - 1)), ready, is_reducing=False, phase=gather)


def direct_scatter(build: ScheduleBuilder, teams: Teams, *, phase: str | None) -> Ids:
    """Every member sends each other its segment, the next member first, and adds what it gets to its own.

    Returns
    -------
    i64[t, n, n - 1], what to wait for before using the sum at each member; -1 for nothing.
    """
    n, member = teams.size, np.arange(teams.size)[:, np.newaxis]
    other = (member + np.arange(1, n)) % n
    size_bytes = teams.size_bytes[:, other]
    sent = _post(build, teams, other, size_bytes, teams.blocks[:, other], None, is_reducing=True, phase=phase)
    # Member r gets its segment from r - 1, r - 2, ..., which sent it as their 1st, 2nd, ... message.
    received = sent[:, (member - np.arange(1, n)) % n, np.arange(n - 1)]
    is_there = received >= 0
    owner = np.broadcast_to(teams.members[..., np.newaxis], received.shape)[is_there]
    own_bytes = np.broadcast_to(teams.size_bytes[..., np.newaxis], received.shape)[is_there]
    received[is_there] = build.reduce(owner, own_bytes, received[is_there], phase=phase)
    return received


def direct_gather(build: ScheduleBuilder, teams: Teams, ready: Ids | None, *, phase: str | None) -> None:
    """Every member sends its own segment to each other, the next member first, once ``ready`` (i64[t, n]) is done."""
    n, member = teams.size, np.arange(teams.size)[:, np.newaxis]
    other = (member + np.arange(1, n)) % n
    own = np.broadcast_to(member, other.shape)
    size_bytes = teams.size_bytes[:, own]
    after = None if ready is None else np.broadcast_to(ready[..., np.newaxis], size_bytes.shape)
    _post(build, teams, other, size_bytes, teams.blocks[:, own], after, is_reducing=False, phase=phase)


def direct_all_reduce(build: ScheduleBuilder, teams: Teams, *, scatter: str | None, gather: str | None) -> None:
    """Every member gets its segment from all others, adds them up and sends the sum to all, called as in a ring."""
    received = direct_scatter(build, teams, phase=scatter)
    # One point for a member's n - 1 sums, or each of its n - 1 next messages would wait for each of them.
    summed = build.compute(teams.members.ravel(), 0, received.reshape(teams.members.size, -1), phase=scatter)
    direct_gather(build, teams, summed.reshape(teams.members.shape), phase=gather)


def in_flight(build: ScheduleBuilder, src: Ids) -> Pools:
    """Pools that keep a rank's messages on the way within ``SystemModel.in_flight``; none without that limit."""
    if build.system.in_flight is None:
        return ()
    return Hold(build.pool(np.arange(build.ranks), build.system.in_flight)[src], release_on=EdgeOn.ACKED)


def _post(
    build: ScheduleBuilder,
    teams: Teams,
    other: Ids,
    size_bytes: Ids,
    blocks: Ids,
    after: Ids | None,
    *,
    is_reducing: bool,
    phase: str | None,
) -> Ids:
    """Messages [t, n, n - 1] from each member to each ``other`` [n, n - 1]; -1 where there is nothing to send."""
    is_sent = size_bytes > 0
    src = np.broadcast_to(teams.members[..., np.newaxis], size_bytes.shape)[is_sent]
    sent = np.full(size_bytes.shape, -1, dtype=np.int64)
    sent[is_sent] = build.send(
        src,
        teams.members[:, other][is_sent],
        size_bytes[is_sent],
        None if after is None else after[is_sent],
        phase=phase,
        blocks=blocks[is_sent],
        combine=is_reducing,
        pools=in_flight(build, src),
    )
    return sent
