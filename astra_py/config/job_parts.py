# SPDX-License-Identifier: GPL-2.0-only
"""Keys of ``[workload]`` that take a part of a job, or make more of it, whichever kind of workload it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from astra_py.config.rules import Count, WordRule
from astra_py.config.spans import SpansRule
from astra_py.config.table import Table, parameter

__all__ = ["JobParts"]


@dataclass(frozen=True)
class NamesRule(WordRule):
    """Names with commas between them."""

    type_name = "text"
    what: str

    @property
    def ordinary(self) -> str:
        return f"names of {self.what} with commas between them"

    def read_ordinary(self, value: Any) -> tuple[str, ...]:
        if not isinstance(value, str):
            raise ValueError(f"{value!r} is not a text")
        names = tuple(name.strip() for name in value.split(","))
        if not all(names) or len(set(names)) != len(names):
            raise ValueError(f"{value!r} is no list of different names")
        return names

    def write_ordinary(self, value: tuple[str, ...]) -> str:
        return ",".join(value)


class JobParts(Table):
    """What is made of a job once it is read; in this order."""

    key: ClassVar[str] = "workload"

    weak_scaling_from: Annotated[int | None, Count(least=1, words={"none": None})] = parameter(
        "none",
        "Make the job for so many ranks, and let each of those that it runs on do what one of these does. Of jobs in "
        "which all ranks do the same.",
        source="the job of the ranks that it runs on",
    )
    keep_iterations: Annotated[tuple[int, ...] | None, SpansRule("iteration", "'1-2'", words={"all": None})] = (
        parameter("all", "Iterations that are run, by their numbers; the others are cut.")
    )
    keep_phases: Annotated[tuple[str, ...] | None, NamesRule("phases", words={"all": None})] = parameter(
        "all", "Phases that are run, such as 'forward'; the others are cut."
    )
    repeat: Annotated[int, Count(least=1, most=10_000)] = parameter(
        1,
        "How often all of it is done; each rank begins again when it is through.",
        source="once",
    )
