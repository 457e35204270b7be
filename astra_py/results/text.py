# SPDX-License-Identifier: GPL-2.0-only
"""Plain text tables for a terminal of 100 columns."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["WIDTH", "figure", "grid"]

WIDTH = 100


def figure(value: float, digits: int = 3) -> str:
    """A number to read: thousands apart, ``digits`` decimals; a dash where there is none."""
    return "-" if value != value else f"{value:,.{digits}f}"


def grid(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Lines of a table: the first ``left`` columns flush left, the others flush right.

    Columns stand two spaces apart, or one where the terminal is too narrow for two.
    """
    table = [header, *rows]
    widths = [max(len(row[i]) for row in table) for i in range(len(header))]
    gap = "  " if sum(widths) + 2 * (len(widths) - 1) <= WIDTH else " "
    lines = []
    for row in table:
        cells = [
            cell.ljust(w) if i < left else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append(gap.join(cells).rstrip())
    lines.insert(1, gap.join("-" * width for width in widths))
    return lines
