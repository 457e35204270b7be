# SPDX-License-Identifier: GPL-2.0-only
"""Figures as notes and messages write them: rounded, for people."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from numpy.typing import NDArray

__all__ = ["rounded_size", "span", "widths"]


def rounded_size(size_bytes: int) -> str:
    """Write a size to four figures in decimal units, or whole bytes below 1 MB."""
    for unit, factor in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6)):
        if size_bytes >= factor:
            return f"{size_bytes / factor:.4g} {unit}"
    return f"{size_bytes:,} B"


def span(values: NDArray[Any], form: str = ",") -> str:
    """Write the smallest and the largest value, or the one where they are equal."""
    low, high = format(values.min(), form), format(values.max(), form)
    return low if low == high else f"{low} to {high}"


def widths(layers: tuple[int, ...]) -> str:
    """Write layer widths, runs of equal ones short: ``13-512x3-16``."""
    runs = [(width, len(list(equal))) for width, equal in groupby(layers)]
    return "-".join(f"{width}" if count == 1 else f"{width}x{count}" for width, count in runs)
