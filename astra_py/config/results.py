# SPDX-License-Identifier: GPL-2.0-only
"""``[results]``: what a run keeps of what it measures."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from astra_py.config.rules import Choice, Count
from astra_py.config.table import Table, parameter

__all__ = ["ResultsConfig"]

#: More would be less than a pixel each, and as many looks at every port.
_MOST_BINS = 4096


class EvenCount(Count):
    """An even whole number."""

    @property
    def ordinary(self) -> str:
        return f"an even number from {self.least} to {self.most}"

    def read_ordinary(self, value: Any) -> int:
        number: int = super().read_ordinary(value)
        if number % 2:
            raise ValueError(f"{number} is odd, and each two bins become one")
        return number


class ResultsConfig(Table):
    """``[results]``: what a run keeps; nothing of it changes what happens in the run."""

    key: ClassVar[str] = "results"

    link_bins: Annotated[int, EvenCount(most=_MOST_BINS)] = parameter(
        64,
        "Most bins of time of the table link_bins; when they are full, each two become one. 0: the table is empty.",
        source="chosen: no measurable time of a run on 64 ranks; not measured on more",
    )
    max_rows: Annotated[int | None, Count(least=1000, words={"none": None})] = parameter(
        200_000,
        "Most rows of each of the large tables messages, operations, pairs, flows, pauses and link_bins; of more, an "
        "even sample is kept, which is said. What a run is judged by is never from a sample.",
        source="chosen: an all-to-all of 1,024 ranks leaves some 40 MB as CSV, by the measured size of a row",
    )
    format: Annotated[str, Choice("csv", "parquet", "both")] = parameter(
        "csv",
        "What saved tables are written as; parquet needs the extra astra-py[parquet].",
    )
