# SPDX-License-Identifier: GPL-2.0-only
"""``[jobs.NAME]``: one of several jobs that share the network."""

from __future__ import annotations

from typing import Annotated, ClassVar

from astra_py.config.rules import QuantityRule
from astra_py.config.spans import RanksRule
from astra_py.config.table import Table, parameter
from astra_py.config.workload import WorkloadConfig
from astra_py.units import TIME, parse_time

__all__ = ["JobConfig"]


class JobConfig(Table):
    """A job, its ranks and its start. Its workload is ``[jobs.NAME.workload]``, or the scenario's ``[workload]``."""

    key: ClassVar[str] = "jobs.NAME"

    ranks: Annotated[tuple[int, ...] | None, RanksRule(words={"all": None})] = parameter(
        "all", "Ranks of the platform that it runs on, in order of its own ranks; a rank has one job."
    )
    start: Annotated[int, QuantityRule(TIME, most=parse_time("1000s"))] = parameter(
        "0ns", "When it starts.", source="all jobs start together"
    )
    workload: WorkloadConfig | None = None
