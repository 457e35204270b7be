# SPDX-License-Identifier: GPL-2.0-only
"""``[system]``: what happens at a rank between the training job and the network."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from astra_py.config.presets import presets
from astra_py.config.rules import Choice, Count, FileRule, Number, QuantityRule, Rule
from astra_py.config.stragglers import Stragglers, StragglersRule
from astra_py.config.table import Condition, Table, parameter
from astra_py.units import RATE, TIME, parse_time

__all__ = ["SystemConfig"]

_ONLY_LIMITED = Condition(
    "max_active_collectives", "system.max_active_collectives other than 'none'", lambda most: most is not None
)


class ProtocolRule(Rule):
    """A protocol's name, or none."""

    type_name = "name"
    names = ("none", "auto", "ll", "ll128", "simple")
    allowed = Choice(*names).allowed

    def read(self, value: Any) -> str | None:
        name = Choice(*self.names).read(value)
        return None if name == "none" else name

    def write(self, value: str | None) -> str:
        return "none" if value is None else value


class SystemPresetRule(Rule):
    """The name of a system preset that ships with the package."""

    type_name = "name"

    @property
    def allowed(self) -> str:
        return " or ".join(map(repr, presets("system")))

    def read(self, value: Any) -> str:
        return Choice(*presets("system")).read(value)


class SystemConfig(Table):
    """Costs and limits at each rank."""

    key: ClassVar[str] = "system"

    preset: Annotated[str, SystemPresetRule()] = parameter(
        "ideal", "A named set of values for the keys of this table; keys that are given override it."
    )
    file: Annotated[str | None, FileRule("a file of system settings", words={"none": None})] = parameter(
        "none",
        "File of ASTRA-sim's system settings (JSON), for this table and [collective]. Keys that are given override it, "
        "and it overrides the preset.",
    )
    protocol: Annotated[str | None, ProtocolRule()] = parameter(
        "none",
        "Protocol of NCCL whose costs messages have: a time to start each collective, one for each step, and flags on "
        "the wire. 'auto': the one that is likely to end first. 'none': messages cost nothing beside the network.",
        source="ideal endpoints",
    )
    channels: Annotated[int | None, Count(least=1, most=65_535, words={"none": None})] = parameter(
        "none", "Most messages of a rank on the way at a time, over all its collectives.", source="no limit"
    )
    admission: Annotated[int | None, Count(least=1, most=65_535, words={"none": None})] = parameter(
        "none",
        "Most messages from other machines that a rank clears to be sent to it at a time; each is sent only after a "
        "clear-to-send message from its receiver. 'none': senders do not ask.",
        source="RNICs do not ask; Meta, SIGCOMM 2024, 5.3, has it in the collective library",
    )
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
    priority: Annotated[str, Choice("workload", "all_to_all_first", "none")] = parameter(
        "workload",
        "Who gives collectives their priorities: the workload, or a rule. They count in NICs, in switches, and for "
        "system.scheduling.",
    )
    compute_slowdown: Annotated[float, Number(least=1, most=1000)] = parameter(
        1.0,
        "How many times as long a rank's compute and memory work takes while it takes part in a collective, from "
        "joining to the end of its part; background flows slow nothing.",
        source="accelerators whose collectives cost no compute",
    )
    stragglers: Annotated[Stragglers, StragglersRule(words={"none": Stragglers()})] = parameter(
        "none",
        "Ranks whose compute and memory work takes longer, each by its factor, or a spread from which each rank's "
        "factor is drawn with the run's seed.",
        source="equal ranks",
    )
