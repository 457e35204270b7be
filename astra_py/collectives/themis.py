# SPDX-License-Identifier: GPL-2.0-only
"""The all-reduce of Themis: each chunk visits the levels of the network in the order of their loads."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.builder import ScheduleBuilder
from astra_py.collectives.hierarchical import TOP, gather, require_halves, scatter
from astra_py.collectives.machines import members_by_machine
from astra_py.collectives.partition import segment_bytes
from astra_py.collectives.patterns import Teams
from astra_py.collectives.registry import Group, collective
from astra_py.errors import ConfigError

__all__ = ["themis"]

_INSIDE, _BETWEEN = 0, 1
_NAMES = ("inside", "between")
#: Where nobody says what the levels' rates are, they are taken to be the same; any rate will do then.
_EVEN_RATE_BPS = 10**11


@collective("all_reduce", name="themis", do_chunks_wait=False)
def themis(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
    """A two-level all-reduce of which each chunk begins inside machines or between them, whichever has less to do.

    A chunk is scattered on one level, all-reduced on the other and gathered on the first one. The level that is visited
    first has most of the bytes, so that a fixed order leaves the other one idle. Themis (Rashidi et al., ISCA 2022,
    section 4) gives each chunk its order: of the levels the one with the least load comes first, where a level's load
    is the time that the chunks given out so far are likely to take there. Here they are those of all collectives under
    way, less what is over. All chunks begin when the collective does; of equal loads ``inside`` comes first.

    With one chunk it is the hierarchical all-reduce. A chunk whose bytes do not divide by the number of ranks begins
    inside machines: in another order ranks would send other bytes.

    Raises
    ------
    ConfigError : the machines have unequal numbers of members, halving and doubling is to be among a number that is no
        power of two, or there are to be more than two levels.
    """
    if build.system.machines_per_group:
        raise ConfigError(
            "all_reduce algorithm 'themis' has two levels, inside machines and between them, and "
            "collective.machines_per_group makes more; allowed with it: hierarchical"
        )
    members = members_by_machine(group, "all_reduce algorithm 'themis'")
    machines, local = members.shape
    rates = [_EVEN_RATE_BPS, _EVEN_RATE_BPS]
    if build.system.inside is not None and build.system.between is not None:
        rates = [build.system.inside.rate_bps, build.system.between.rate_bps]
    if machines == 1 or local == 1 or size_bytes % group.size:
        _two_levels(build, members, size_bytes, (_INSIDE, _BETWEEN))
        return
    for order, teams in (((_INSIDE, _BETWEEN), members), ((_BETWEEN, _INSIDE), members.T)):
        first, second = teams.shape[1], teams.shape[0]
        sent = (2 * (first - 1) * size_bytes // first, 2 * (second - 1) * size_bytes // (first * second))
        loads = [bytes_ * 8 * 10**12 // rates[level] for level, bytes_ in zip(order, sent, strict=True)]
        build.begin_alternative([*zip(order, loads, strict=True)])
        _two_levels(build, teams, size_bytes, order)


def _two_levels(build: ScheduleBuilder, members: NDArray[np.int64], size_bytes: int, order: tuple[int, int]) -> None:
    """Scatter among the members of each row, all-reduce those of each column, gather among those of each row.

    Parameters
    ----------
    members : i64[rows, columns], group coordinates.
    order : the level of the rows, and that of the columns.
    """
    rows, columns = members.shape
    blocks = np.arange(rows * columns).reshape(columns, rows)
    part_bytes = segment_bytes(size_bytes, rows * columns).reshape(columns, rows)
    along_rows = Teams(
        members,
        np.broadcast_to(part_bytes.sum(axis=1), members.shape),
        np.broadcast_to(blocks, (rows, columns, rows)),
    )
    along_columns = Teams(members.T, part_bytes, blocks[..., np.newaxis])
    first, second = (_NAMES[level] for level in order)
    algorithms = (build.system.all_reduce_inside, *build.system.between_algorithms(1))
    if columns > 1:
        build.begin_phase(f"reduce_scatter {first}")
        scatter(build, along_rows, algorithms[order[0]])
    if rows > 1:
        build.begin_phase(f"all_reduce {second}")
        if algorithms[order[1]] == "halving_doubling":
            require_halves(along_columns)
        TOP[algorithms[order[1]]](build, along_columns, scatter=None, gather=None)
    if columns > 1:
        build.begin_phase(f"all_gather {first}")
        gather(build, along_rows, algorithms[order[0]])
