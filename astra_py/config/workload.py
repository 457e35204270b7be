# SPDX-License-Identifier: GPL-2.0-only
"""``[workload]``: the training job."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar

from astra_py.config.rules import Choice, Count, Number, QuantityRule, Text
from astra_py.config.table import Table, parameter
from astra_py.units import TIME, parse_time

__all__ = ["WorkloadConfig"]


class WorkloadConfig(Table):
    """What the ranks do: a file in a format of the field, and how its numbers are read."""

    key: ClassVar[str] = "workload"

    kind: Annotated[str, Choice("file")] = parameter("file", "Where the job comes from.")
    file: Annotated[str, Text("the path of a workload file")] = parameter(
        ...,
        "Workload file. In a scenario file the path is relative to that file's folder, on the command line to the "
        "current one.",
    )
    format: Annotated[str, Choice("astra_text")] = parameter(
        "astra_text", "Format of the file: ASTRA-sim 1.0's text of a layer per line."
    )
    compute_unit: Annotated[int, QuantityRule(TIME, least=1, most=parse_time("1s"))] = parameter(
        "1ns", "Time that one unit of compute in the file means.", source="ASTRA-sim 1.0: cycles of 1 ns"
    )
    compute_scale: Annotated[float, Number(least=0, is_least_allowed=False)] = parameter(
        1.0, "Factor on every compute time of the file.", source="the file as it is"
    )
    comm_scale: Annotated[float, Number(least=0, is_least_allowed=False)] = parameter(
        1.0, "Factor on the bytes of every collective of the file.", source="the file as it is"
    )
    iterations: Annotated[int, Count(least=1)] = parameter(
        2,
        "Training iterations; the first is reported apart from the others.",
        source="the fewest that show a steady state",
    )

    @property
    def path(self) -> Path:
        """Path of the workload file."""
        return Path(self.file)
