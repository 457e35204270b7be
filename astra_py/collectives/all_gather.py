# SPDX-License-Identifier: GPL-2.0-only
"""All-gather algorithms: rank i begins with segment i of the whole array, and every rank ends with all of it."""

from __future__ import annotations

from astra_py.collectives.builder import ScheduleBuilder
from astra_py.collectives.patterns import Teams, direct_gather, ring_steps
from astra_py.collectives.registry import Group, collective

__all__ = ["direct", "ring"]


@collective("all_gather", name="ring")
def ring(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
    """Go n - 1 steps round one ring: each rank passes on what it has received a step before, its own segment first."""
    teams = Teams.whole_group(group.size, size_bytes)
    ring_steps(build, teams, range(group.size - 1), None, is_reducing=False, phase="all_gather")


@collective("all_gather", name="direct")
def direct(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
    """One step: every rank sends its segment to all others, in the order own + 1, own + 2, ..., all posted at once."""
    direct_gather(build, Teams.whole_group(group.size, size_bytes), None, phase="all_gather")
