# SPDX-License-Identifier: GPL-2.0-only
"""Reduce-scatter algorithms: rank i ends with segment i of the whole array, added up over all ranks."""

from __future__ import annotations

from astra_py.collectives.builder import ScheduleBuilder
from astra_py.collectives.halving import halving_scatter, is_power_of_two
from astra_py.collectives.patterns import Teams, direct_scatter, ring_steps
from astra_py.collectives.registry import Group, collective
from astra_py.collectives.rings import ring_orders, teams_of_rings
from astra_py.errors import ConfigError

__all__ = ["direct", "halving", "ring"]


@collective("reduce_scatter", name="ring")
def ring(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
    """Go n - 1 steps round one ring: a segment starts behind its owner, and each rank it passes adds its part."""
    teams = teams_of_rings(ring_orders(group, build.system.rings), size_bytes, is_by_owner=True)
    ring_steps(build, teams, range(1, group.size), None, is_reducing=True, phase="reduce_scatter")


@collective("reduce_scatter", name="direct")
def direct(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
    """One step: every rank sends each segment to its owner, in the order own + 1, own + 2, ..., all posted at once."""
    direct_scatter(build, Teams.whole_group(group.size, size_bytes), phase="reduce_scatter")


@collective("reduce_scatter", name="halving")
def halving(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
    """Recursive halving (Thakur, Rabenseifner and Gropp 2005): log2 n steps, the larger half to the nearer rank.

    Raises
    ------
    ConfigError : the number of ranks is no power of two.
    """
    if not is_power_of_two(group.size):
        raise ConfigError(
            f"reduce_scatter algorithm 'halving' halves among a power of two of ranks, not {group.size}; allowed for "
            "that many: ring, direct"
        )
    halving_scatter(build, Teams.whole_group(group.size, size_bytes), phase=None)
