# SPDX-License-Identifier: GPL-2.0-only
"""Units of axes: those in which the numbers on them are short."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Unit", "byte_unit", "time_unit"]


class Unit(NamedTuple):
    """A unit as it is written on an axis, and how many base units it is."""

    name: str
    size: float


_TIMES = (Unit("ns", 1e3), Unit("µs", 1e6), Unit("ms", 1e9), Unit("s", 1e12))
_BYTES = (Unit("B", 1), Unit("kB", 1e3), Unit("MB", 1e6), Unit("GB", 1e9), Unit("TB", 1e12))
#: Up to how many of a unit are shown before the next one is taken.
_MOST = 2_000


def time_unit(largest_ps: float) -> Unit:
    """Unit of an axis that goes to ``largest_ps``; its size is in picoseconds."""
    return _unit(_TIMES, largest_ps)


def byte_unit(largest_bytes: float) -> Unit:
    """Unit of an axis that goes to ``largest_bytes``: powers of 1,000, as GB is 10^9 B."""
    return _unit(_BYTES, largest_bytes)


def _unit(units: tuple[Unit, ...], largest: float) -> Unit:
    return next((unit for unit in units if largest < _MOST * unit.size), units[-1])
