# SPDX-License-Identifier: GPL-2.0-only
"""Reduce-scatter algorithms: rank i ends with segment i of the whole array, added up over all ranks."""

from __future__ import annotations

from astra_py.collectives.builder import ScheduleBuilder
from astra_py.collectives.patterns import Teams, direct_scatter, ring_steps
from astra_py.collectives.registry import Group, collective

__all__ = ["direct", "ring"]


@collective("reduce_scatter", name="ring")
def ring(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
    """Go n - 1 steps round one ring: a segment starts behind its owner, and each rank it passes adds its part."""
    teams = Teams.whole_group(group.size, size_bytes)
    ring_steps(build, teams, range(1, group.size), None, is_reducing=True, phase="reduce_scatter")


@collective("reduce_scatter", name="direct")
def direct(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
    """One step: every rank sends each segment to its owner, in the order own + 1, own + 2, ..., all posted at once."""
    direct_scatter(build, Teams.whole_group(group.size, size_bytes), phase="reduce_scatter")
