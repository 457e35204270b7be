# SPDX-License-Identifier: GPL-2.0-only
"""Sets of ranks as a scenario names them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from astra_py.config.rules import WordRule

__all__ = ["RanksRule", "ranks_text"]

#: A span longer than this is a slip of the pen: more ranks than any platform has.
_MOST_RANKS = 2**20


@dataclass(frozen=True)
class RanksRule(WordRule):
    """Ranks and spans of them, such as ``"0-7,12"``; held as a tuple in the order given."""

    type_name = "text"

    @property
    def ordinary(self) -> str:  # noqa: D102  (as the base)
        return "ranks and spans of ranks such as '0-7,12', each rank once"

    def read_ordinary(self, value: Any) -> tuple[int, ...]:  # noqa: D102  (as the base)
        if not isinstance(value, str):
            raise ValueError(f"{value!r} is not a text")
        ranks: list[int] = []
        for part in value.split(","):
            found = re.fullmatch(r"\s*([0-9]{1,9})(?:\s*-\s*([0-9]{1,9}))?\s*", part)
            if found is None:
                raise ValueError(f"{value!r}: {part.strip()!r} is neither a rank nor a span of ranks")
            first, last = int(found[1]), int(found[2] or found[1])
            if not first <= last < first + _MOST_RANKS:
                raise ValueError(f"{value!r}: {part.strip()!r} is no span of ranks")
            ranks += range(first, last + 1)
        if len(set(ranks)) != len(ranks):
            twice = next(rank for i, rank in enumerate(ranks) if rank in ranks[:i])
            raise ValueError(f"{value!r} has rank {twice} twice")
        return tuple(ranks)

    def write_ordinary(self, value: tuple[int, ...]) -> str:  # noqa: D102  (as the base)
        return ranks_text(value)


def ranks_text(ranks: Iterable[int]) -> str:
    """Ranks as they are written in a scenario: spans of those that follow one another."""
    spans: list[list[int]] = []
    for rank in ranks:
        if spans and rank == spans[-1][1] + 1:
            spans[-1][1] = rank
        else:
            spans.append([rank, rank])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)
