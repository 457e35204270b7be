# SPDX-License-Identifier: GPL-2.0-only
"""The hierarchical all-reduce: scattered and gathered level by level, all-reduced at the top."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.builder import ScheduleBuilder
from astra_py.collectives.halving import (
    doubling_gather,
    halving_all_reduce,
    halving_scatter,
    is_power_of_two,
    power_of_two,
)
from astra_py.collectives.machines import units_by_level
from astra_py.collectives.partition import segment_bytes
from astra_py.collectives.patterns import (
    Teams,
    direct_all_reduce,
    direct_gather,
    direct_scatter,
    ring_all_reduce,
    ring_steps,
)
from astra_py.collectives.registry import Group, collective
from astra_py.errors import ConfigError

__all__ = ["TOP", "gather", "hierarchical", "require_halves", "scatter"]

Ids = NDArray[np.int64]

#: All-reduces of the highest level, ``(build, teams, *, scatter, gather)``.
TOP = {"ring": ring_all_reduce, "direct": direct_all_reduce, "halving_doubling": halving_all_reduce}


@collective("all_reduce", name="hierarchical")
def hierarchical(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
    """Reduce-scatter inside each machine, all-reduce of its segments along the rails, all-gather inside.

    With N machines of L members, rank l of each machine gets segment l of L, all-reduces it with the ranks l of the
    other machines, and gathers what the others of its machine have got. Of M bytes a rank sends 2(L - 1)/L M inside and
    2(N - 1)/(N L) M between machines. Of machines with unequal numbers of members, L is the least: the members beyond
    give what they have and get the result. Where machines form groups (``SystemModel.machines_per_group``), the
    segments are scattered again among the machines of each, and so on. Each level has its algorithm,
    ``SystemModel.all_reduce_inside`` and ``all_reduce_between``.

    Raises
    ------
    ConfigError : halving and doubling is to scatter among a number that is no power of two.
    """
    system = build.system
    levels = units_by_level(group.machines, system.machines_per_group)
    *below, top = [system.all_reduce_inside, *system.between_algorithms(len(levels))]
    names = ["inside", *(f"between {level}" for level in range(1, len(levels)))]
    units = int(levels[-1].max()) + 1
    least = [int(np.bincount(parent).min()) for parent in levels]
    cut = _Cut(size_bytes, (*least, power_of_two(units) if top == "halving_doubling" else units))
    owners = np.arange(group.size)[:, np.newaxis]
    stages = []
    for level, parent in enumerate(levels):
        stages.append((names[level], below[level], [*_teams(owners, parent, cut, level)]))
        owners = _owners(owners, parent, least[level])
    stages = [stage for stage in stages if stage[2]]
    for name, algorithm, teams in stages:
        build.begin_phase(f"reduce_scatter {name}")
        for each in teams:
            scatter(build, each, algorithm)
    if units > 1:
        build.begin_phase("all_reduce between")
        TOP[top](build, Teams(owners.T, *cut.segments(len(levels))), scatter=None, gather=None)
    for name, algorithm, teams in reversed(stages):
        build.begin_phase(f"all_gather {name}")
        for each in teams:
            gather(build, each, algorithm)


class _Cut:
    """A buffer cut level by level: ``ways`` at each, so that there are as many parts as their product."""

    def __init__(self, size_bytes: int, ways: tuple[int, ...]) -> None:
        self._ways = ways
        self._part_bytes = segment_bytes(size_bytes, prod(ways))

    def segments(self, level: int) -> tuple[Ids, Ids]:
        """Of each segment of the level above, how it is cut at ``level``: bytes [s, ways] and parts [s, ways, k]."""
        shape = (prod(self._ways[:level]), self._ways[level], -1)
        return self._part_bytes.reshape(shape).sum(axis=2), np.arange(len(self._part_bytes)).reshape(shape)


def _teams(owners: Ids, parent: Ids, cut: _Cut, level: int) -> Iterator[Teams]:
    """Teams of a level, those of equal size together: for each parent and segment, the owners of it in its units.

    Of more units than ways, those beyond own nothing: their segments are of 0 bytes.
    """
    size_bytes, blocks = cut.segments(level)
    units = np.argsort(parent, kind="stable")
    count = np.bincount(parent)
    first = np.cumsum(count) - count
    for size in np.unique(count[count > 1]).tolist():
        at = first[count == size]
        members = owners[units[at[:, np.newaxis] + np.arange(size)]].transpose(0, 2, 1).reshape(-1, size)
        beyond = ((0, 0), (0, size - size_bytes.shape[1]))
        yield Teams(
            members,
            np.tile(np.pad(size_bytes, beyond), (len(at), 1)),
            np.tile(np.pad(blocks, (*beyond, (0, 0))), (len(at), 1, 1)),
        )


def _owners(owners: Ids, parent: Ids, ways: int) -> Ids:
    """i64[parents, s * ways], the owner of each segment of each parent, from those of its units [units, s]."""
    units = np.argsort(parent, kind="stable")
    first = np.cumsum(np.bincount(parent)) - np.bincount(parent)
    chosen = owners[units[first[:, np.newaxis] + np.arange(ways)]]
    in_order: Ids = chosen.transpose(0, 2, 1).reshape(len(first), -1)
    return in_order


def scatter(build: ScheduleBuilder, teams: Teams, algorithm: str) -> None:
    """Reduce-scatter in each team, by an algorithm of :data:`~astra_py.collectives.system.LEVEL_ALGORITHMS`."""
    if algorithm == "ring":
        ring_steps(build, teams, range(1, teams.size), None, is_reducing=True, phase=None)
    elif algorithm == "direct":
        direct_scatter(build, teams, phase=None)
    else:
        require_halves(teams)
        halving_scatter(build, teams, phase=None)


def gather(build: ScheduleBuilder, teams: Teams, algorithm: str) -> None:
    """All-gather in each team, as :func:`scatter`."""
    if algorithm == "ring":
        ring_steps(build, teams, range(teams.size - 1), None, is_reducing=False, phase=None)
    elif algorithm == "direct":
        direct_gather(build, teams, None, phase=None)
    else:
        doubling_gather(build, teams, phase=None)


def require_halves(teams: Teams) -> None:
    """Refuse halving among a number of members that is no power of two."""
    if not is_power_of_two(teams.size):
        raise ConfigError(
            f"all_reduce over levels: 'halving_doubling' scatters among a power of two of members, not "
            f"{teams.size}; allowed there: ring, direct"
        )
