# SPDX-License-Identifier: GPL-2.0-only
"""The patterns that algorithms are made of: rings and direct exchanges, of many teams of ranks at once.

Teams have no rank in common and equal numbers of members. What they work on is cut into as many segments as a team has
members, and member i is the owner of segment i. Segments of 0 bytes are not sent, which changes no other segment's way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.builder import Dep, Hold, Pools, ScheduleBuilder
from astra_py.collectives.partition import segment_bytes
from astra_py.collectives.schedule import Combine, EdgeOn

__all__ = [
    "Teams",
    "direct_all_reduce",
    "direct_gather",
    "direct_scatter",
    "in_flight",
    "post",
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
    def whole_group(cls, ranks: int, size_bytes: int, segments: int | None = None) -> Teams:
        """One team of all members of a group, and a buffer in as many segments, or in one for each member."""
        count = ranks if segments is None else segments
        return cls(
            np.arange(ranks)[np.newaxis],
            segment_bytes(size_bytes, count)[np.newaxis],
            np.arange(count)[np.newaxis, :, np.newaxis],
        )


def post(
    build: ScheduleBuilder,
    src: Ids,
    dst: Ids,
    size_bytes: Ids,
    blocks: Ids,
    after: Sequence[Dep] = (),
    *,
    phase: str | None = None,
    combine: Combine = Combine.KEEP,
    is_limited: bool = False,
) -> Ids:
    """Messages of any shape s; those of 0 bytes are not sent and have the number -1.

    Parameters
    ----------
    src, dst, size_bytes : of shape s, or broadcast to it.
    blocks : of shape [s, b].
    after : numbers of shape [s, k] each.
    is_limited : whether ``SystemModel.in_flight`` holds for them.
    """
    is_sent = size_bytes > 0
    sent = np.full(size_bytes.shape, -1, dtype=np.int64)
    senders = _spread(src, is_sent.shape)[is_sent]
    sent[is_sent] = build.send(
        senders,
        _spread(dst, is_sent.shape)[is_sent],
        size_bytes[is_sent],
        [Dep(_rows(dep.ids, is_sent), dep.on) for dep in after],
        phase=phase,
        blocks=_rows(blocks, is_sent),
        combine=combine,
        pools=in_flight(build, senders) if is_limited else (),
    )
    return sent


def _spread(values: Any, shape: tuple[int, ...]) -> Ids:
    """``values`` broadcast to ``shape``; a step of a ring of 1,024 has nothing to spread, and 2,046 of them add up."""
    return values if values.shape == shape else np.broadcast_to(values, shape)


def _rows(values: Any, is_sent: NDArray[np.bool_]) -> Ids:
    rows: Ids = _spread(values, (*is_sent.shape, values.shape[-1]))[is_sent]
    return rows


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
        sent = post(
            build,
            teams.members,
            following,
            size_bytes,
            teams.blocks[team, segment],
            [Dep(ready[..., np.newaxis])],
            phase=phase,
            combine=Combine.ADD if is_reducing else Combine.KEEP,
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
    sent = post(
        build,
        teams.members[..., np.newaxis],
        teams.members[:, other],
        size_bytes,
        teams.blocks[:, other],
        phase=phase,
        combine=Combine.ADD,
        is_limited=True,
    )
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
    post(
        build,
        teams.members[..., np.newaxis],
        teams.members[:, other],
        size_bytes,
        teams.blocks[:, own],
        [] if ready is None else [Dep(ready[..., np.newaxis, np.newaxis])],
        phase=phase,
        is_limited=True,
    )


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
