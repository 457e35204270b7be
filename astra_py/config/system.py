# SPDX-License-Identifier: GPL-2.0-only
"""``[system]``: what happens at a rank between the training job and the network."""

from __future__ import annotations

from typing import Annotated, ClassVar

from astra_py.config.rules import Choice, Count, QuantityRule
from astra_py.config.table import Condition, Table, parameter
from astra_py.units import RATE, TIME, parse_time

__all__ = ["SystemConfig"]

_ONLY_LIMITED = Condition(
    "max_active_collectives", "system.max_active_collectives other than 'none'", lambda most: most is not None
)


class SystemConfig(Table):
    """Costs and limits at each rank."""

    key: ClassVar[str] = "system"

    endpoint_delay: Annotated[int, QuantityRule(TIME, most=parse_time("100s"))] = parameter(
        "0ns",
        "Time between a rank joining a collective and its first post, and after each notification of a message.",
        source="ideal endpoints",
    )
    local_memory_bandwidth: Annotated[int | None, QuantityRule(RATE, least=1, words={"none": None})] = parameter(
        "none",
        "Memory rate for local reductions: one of S bytes takes 3 S / rate, two reads and one write. 'none': no time.",
        source="ideal endpoints",
    )
    max_active_collectives: Annotated[int | None, Count(least=1, words={"none": None})] = parameter(
        "none", "Most collectives that a rank takes part in at a time; others wait.", source="no limit"
    )
    scheduling: Annotated[str, Choice("fifo", "lifo", "priority")] = parameter(
        "fifo",
        "Order in which collectives that wait for system.max_active_collectives start.",
        only=_ONLY_LIMITED,
    )
