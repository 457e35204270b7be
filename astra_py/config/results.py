# SPDX-License-Identifier: GPL-2.0-only
"""``[results]``: what a run keeps of what it measures."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from astra_py.config.rules import Count
from astra_py.config.table import Table, parameter

__all__ = ["ResultsConfig"]

#: More would be less than a pixel each, and as many looks at every port.
_MOST_BINS = 4096


class EvenCount(Count):
    """An even whole number."""

    @property
    def ordinary(self) -> str:  # noqa: D102
        return f"an even number from {self.least} to {self.most}"

    def read_ordinary(self, value: Any) -> int:  # noqa: D102
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
        source="chosen: some 1 % of a run's time, see docs/results.md",
    )
