# SPDX-License-Identifier: GPL-2.0-only
"""The two levels of a group: members inside each machine, and rails of equal local index between machines."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.registry import Group
from astra_py.errors import ConfigError

__all__ = ["members_by_machine"]


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
