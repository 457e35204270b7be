# SPDX-License-Identifier: GPL-2.0-only
"""All-gather algorithms: rank i begins with segment i of the whole array, and every rank ends with all of it."""

from __future__ import annotations

from astra_py.collectives.builder import ScheduleBuilder
from astra_py.collectives.halving import doubling_gather, is_power_of_two
from astra_py.collectives.patterns import Teams, direct_gather, ring_steps
from astra_py.collectives.registry import Group, collective
from astra_py.collectives.rings import ring_orders, teams_of_rings
from astra_py.errors import ConfigError

__all__ = ["direct", "doubling", "ring"]


@collective("all_gather", name="ring")
def ring(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
    """Go n - 1 steps round one ring: each rank passes on what it has received a step before, its own segment first."""
    teams = teams_of_rings(ring_orders(group, build.system.rings), size_bytes, is_by_owner=True)
    ring_steps(build, teams, range(group.size - 1), None, is_reducing=False, phase="all_gather")


@collective("all_gather", name="direct")
def direct(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
    """One step: every rank sends its segment to all others, in the order own + 1, own + 2, ..., all posted at once."""
    direct_gather(build, Teams.whole_group(group.size, size_bytes), None, phase="all_gather")


@collective("all_gather", name="doubling")
def doubling(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
    """Recursive doubling (Thakur, Rabenseifner and Gropp 2005): log2 n steps, the larger part to the nearer rank.

    Raises
    ------
    ConfigError : the number of ranks is no power of two.
    """
    if not is_power_of_two(group.size):
        raise ConfigError(
            f"all_gather algorithm 'doubling' doubles among a power of two of ranks, not {group.size}; allowed for "
            "that many: ring, direct"
        )
    doubling_gather(build, Teams.whole_group(group.size, size_bytes), phase=None)
