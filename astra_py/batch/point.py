# SPDX-License-Identifier: GPL-2.0-only
"""A point of a sweep: one run, by what is different in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["SEED", "Point"]

#: The key whose values are repetitions of one point, over which a spread is taken.
SEED = "seed"


@dataclass(frozen=True)
class Point:
    """One run of a sweep.

    Attributes
    ----------
    index : its place in the sweep, from 0; rows of tables are in this order.
    values : text of each key of the design, as ``key.path=value`` takes it.
    digest : SHA-256 of the run's effective configuration and of the bytes of its input files. Points of one digest
        are one run.
    """

    index: int
    values: Mapping[str, str]
    digest: str

    @property
    def title(self) -> str:
        """The point in a line: its index and what is different in it."""
        return f"point {self.index} ({', '.join(f'{key}={text}' for key, text in self.values.items())})"
