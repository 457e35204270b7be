# SPDX-License-Identifier: GPL-2.0-only
"""One check of a run: a name, two sides, and the first place where they differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Check", "compare"]


@dataclass(frozen=True)
class Check:
    """A check and its outcome.

    Attributes
    ----------
    name, meaning : what is compared, in a word and in a line.
    declared, measured : the two sides, each summed up over all places.
    passed : whether they agree in every place.
    where : the first place where they do not, with both sides there.
    """

    name: str
    meaning: str
    declared: int
    measured: int
    passed: bool
    where: str = ""

    def __str__(self) -> str:
        line = f"{self.name} ({self.meaning}): declared {self.declared:,}, measured {self.measured:,}"
        return line if self.passed else f"{line}; {self.where}"


def compare(
    name: str,
    meaning: str,
    declared: NDArray[np.int64],
    measured: NDArray[np.int64],
    place: Callable[[int], str],
    *,
    is_exact: bool = True,
) -> Check:
    """Check that two columns are equal, or, where not exact, that none is measured below what is declared.

    Parameters
    ----------
    name, meaning : see :class:`Check`.
    declared, measured : i64[n], the two sides, place by place.
    place : names the place of an index.
    is_exact : whether more than declared is wrong too.
    """
    differs = np.flatnonzero(declared != measured if is_exact else measured < declared)
    where = ""
    if len(differs):
        first = int(differs[0])
        places = "1 place differs" if len(differs) == 1 else f"{len(differs):,} places differ"
        where = f"{places}, the first is {place(first)}: declared {declared[first]:,}, measured {measured[first]:,}"
    return Check(name, meaning, int(declared.sum()), int(measured.sum()), not len(differs), where)
