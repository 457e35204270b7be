# SPDX-License-Identifier: GPL-2.0-only
"""Ranks, or iterations, as a scenario names them: numbers and spans of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from astra_py.config.rules import WordRule

__all__ = ["RanksRule", "SpansRule", "spans_text"]

#: A span longer than this is a slip of the pen: more ranks than any platform has.
_MOST_NUMBERS = 2**20


@dataclass(frozen=True)
class SpansRule(WordRule):
    """Numbers and spans of them, such as ``"0-7,12"``; held as a tuple in the order given."""

    type_name = "text"
    what: str
    example: str

    @property
    def ordinary(self) -> str:  # noqa: D102  (as the base)
        return f"{self.what}s and spans of them such as {self.example}, each once"

    def read_ordinary(self, value: Any) -> tuple[int, ...]:  # noqa: D102  (as the base)
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)  # as key=3 on the command line has it
        if not isinstance(value, str):
            raise ValueError(f"{value!r} is not a text")
        numbers: list[int] = []
        for part in value.split(","):
            found = re.fullmatch(r"\s*([0-9]{1,9})(?:\s*-\s*([0-9]{1,9}))?\s*", part)
            if found is None:
                raise ValueError(f"{value!r}: {part.strip()!r} is neither a number nor a span of {self.what}s")
            first, last = int(found[1]), int(found[2] or found[1])
            if not first <= last < first + _MOST_NUMBERS:
                raise ValueError(f"{value!r}: {part.strip()!r} is no span of {self.what}s")
            numbers += range(first, last + 1)
        if len(set(numbers)) != len(numbers):
            twice = next(number for i, number in enumerate(numbers) if number in numbers[:i])
            raise ValueError(f"{value!r} has {self.what} {twice} twice")
        return tuple(numbers)

    def write_ordinary(self, value: tuple[int, ...]) -> str:  # noqa: D102  (as the base)
        return spans_text(value)


@dataclass(frozen=True)
class RanksRule(SpansRule):
    """Ranks of the platform."""

    what: str = "rank"
    example: str = "'0-7,12'"


def spans_text(numbers: Iterable[int]) -> str:
    """Numbers as they are written in a scenario: spans of those that follow one another."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)
