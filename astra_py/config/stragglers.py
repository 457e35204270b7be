# SPDX-License-Identifier: GPL-2.0-only
"""Ranks whose compute takes longer than it should, as a scenario names them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from astra_py.config.rules import WordRule
from astra_py.errors import did_you_mean

__all__ = ["Stragglers", "StragglersRule"]

_LOGNORMAL = "lognormal:"
#: A factor or a spread beyond these is a slip of the pen.
_MOST_FACTOR = 1000.0
_MOST_SIGMA = 2.0


@dataclass(frozen=True)
class Stragglers:
    """How long compute takes on each rank, as a factor.

    Attributes
    ----------
    factors : (rank, factor) of some ranks; the others have 1.
    sigma : or the spread of a distribution that every rank's factor is drawn from, ``exp(N(0, sigma))``.
    """

    factors: tuple[tuple[int, float], ...] = ()
    sigma: float | None = None


@dataclass(frozen=True)
class StragglersRule(WordRule):
    """The texts of :class:`Stragglers`."""

    type_name = "text"

    @property
    def ordinary(self) -> str:  # noqa: D102  (as the base)
        return (
            f"'RANK:FACTOR,...' with factors above 0 and up to {_MOST_FACTOR:g}, or 'lognormal:SIGMA' with a sigma "
            f"above 0 and up to {_MOST_SIGMA:g}"
        )

    def read_ordinary(self, value: Any) -> Stragglers:  # noqa: D102  (as the base)
        if not isinstance(value, str):
            raise ValueError(f"{value!r} is not a text")
        if value.startswith(_LOGNORMAL):
            return Stragglers(sigma=_number(value.removeprefix(_LOGNORMAL), value, _MOST_SIGMA))
        factors: dict[int, float] = {}
        for part in value.split(","):
            found = re.fullmatch(r"\s*([0-9]{1,9})\s*:\s*(\S+)\s*", part)
            if found is None:
                raise ValueError(f"{value!r} is unknown{did_you_mean(value, [*self.words, 'lognormal:SIGMA'])}")
            rank = int(found[1])
            if rank in factors:
                raise ValueError(f"{value!r} has rank {rank} twice")
            factors[rank] = _number(found[2], value, _MOST_FACTOR)
        return Stragglers(tuple(sorted(factors.items())))

    def write_ordinary(self, value: Stragglers) -> str:  # noqa: D102  (as the base)
        if value.sigma is not None:
            return f"{_LOGNORMAL}{value.sigma:g}"
        return ",".join(f"{rank}:{factor:g}" for rank, factor in value.factors)


def _number(text: str, value: str, most: float) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number <= most:
        raise ValueError(f"{value!r}: {text!r} is out of range")
    return number
