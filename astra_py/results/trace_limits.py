# SPDX-License-Identifier: GPL-2.0-only
"""How much a timeline draws of what there may be very much of, so that a viewer opens it; what is left out is said."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_BYTES", "Limits", "Section", "longest", "said"]

#: A timeline has fewer bytes than that, before it is compressed.
MOST_BYTES = 50_000_000


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How many of each are drawn at most.

    Attributes
    ----------
    iterations, collectives, operations, exposed, messages, pauses : slices. One takes some 200 B to 400 B.
    arrows : messages with an arrow, some 200 B each.
    link_slices : of all links together.
    queue_values, link_values : values of counters, of all ranks and of all links together; some 100 B each.
    """

    iterations: int = 20_000
    collectives: int = 20_000
    operations: int = 60_000
    exposed: int = 30_000
    messages: int = 60_000
    arrows: int = 30_000
    pauses: int = 20_000
    link_slices: int = 30_000
    queue_values: int = 60_000
    link_values: int = 100_000

    def scaled(self, factor: float) -> Limits:
        """Limits that are ``factor`` as high, but none below 1."""
        return Limits(**{name: max(int(most * factor), 1) for name, most in asdict(self).items()})


@dataclass(frozen=True)
class Section:
    """A part of a timeline.

    Attributes
    ----------
    left_out : what it does not draw, a line each.
    events : gives the texts of its events.
    """

    left_out: tuple[str, ...]
    events: Callable[[], Iterator[str]]


def longest(time_ps: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """The rows of what takes longest, at most ``most``, in order; of equals the first ones.

    Those are what is wide enough to be seen.
    """
    return np.sort(np.argsort(-time_ps, kind="stable")[:most])


def said(what: str, most: int, count: int, how: str = "that take longest are drawn") -> tuple[str, ...]:
    """The line that says that of ``count`` only ``most`` are drawn; none where all are."""
    return () if count <= most else (f"{what}: the {most:,} of {count:,} {how}",)
