# SPDX-License-Identifier: GPL-2.0-only
"""The levels of a group: members inside each machine, rails of equal local index between them, groups of machines."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.registry import Group
from astra_py.errors import ConfigError

__all__ = ["local_index", "members_by_machine", "units_by_level"]


def members_by_machine(group: Group, what: str) -> NDArray[np.int64]:
    """Group coordinates i64[N, L]: row = machine in order of first appearance, column = local index, in group order.

    Parameters
    ----------
    what : the algorithm, for the error message.

    Raises
    ------
    ConfigError : the machines have unequal numbers of members.
    """
    count = np.bincount(group.machines)
    if (count != count[0]).any():
        raise ConfigError(
            f"{what} needs equally many members of its group on each machine, not {', '.join(map(str, count))}; flat "
            "algorithms such as ring and direct take any group"
        )
    return np.argsort(group.machines, kind="stable").reshape(len(count), -1)


def local_index(machines: NDArray[np.int32]) -> NDArray[np.int64]:
    """i64[n], each member's place among those of its machine, in group order."""
    order = np.argsort(machines, kind="stable")
    count = np.bincount(machines)
    index = np.empty(len(machines), dtype=np.int64)
    index[order] = np.arange(len(machines)) - np.repeat(np.cumsum(count) - count, count)
    return index


def units_by_level(machines: NDArray[np.int32], machines_per_group: tuple[int, ...]) -> list[NDArray[np.int64]]:
    """What each level is made of: the machine of each member, then the group of each machine, the group of each group.

    Machines form groups of ``machines_per_group[0]`` in order of their numbers, these groups of
    ``machines_per_group[1]``, and so on; the last of a level may have fewer.
    """
    levels = [machines.astype(np.int64)]
    for size in machines_per_group:
        levels.append(np.arange(int(levels[-1].max()) + 1) // size)
    return levels
