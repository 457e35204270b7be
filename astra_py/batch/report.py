# SPDX-License-Identifier: GPL-2.0-only
"""The printed report of a sweep: its points' headline figures, over seeds where there are several, and what failed."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from astra_py.batch.point import SEED
from astra_py.batch.spread import spread_table
from astra_py.results.text import WIDTH, figure, grid

if TYPE_CHECKING:
    from astra_py.batch.sweep import Sweep

__all__ = ["report"]

#: So many rows of a table are printed; the files have all.
_MOST_ROWS = 40
#: Figures that are printed where a sweep has them, and what their columns are called.
_FIGURES = {
    "time_us": "run us",
    "iteration_time_us": "iteration us",
    "compute_us": "compute us",
    "exposed_us": "exposed us",
    "exposed_percent": "exposed %",
    "flows_p50_us": "flows p50 us",
    "flows_p99_us": "flows p99 us",
}


def report(sweep: Sweep) -> str:
    """The report of ``sweep``, at most so wide as its keys allow."""
    results, failures = sweep.results, sweep.failures
    points, rows = len(sweep.manifest.points), len(results.rows)
    lines = [f"{sweep.manifest.title}: {rows:,} of {points:,} points, {len(failures):,} failed", ""]
    spread = spread_table(results, sweep.keys)
    lines += _spread_lines(sweep, spread.rows) if spread is not None and spread.rows else _point_lines(sweep)
    for _, row in failures.iloc[:_MOST_ROWS].iterrows():
        values = ", ".join(f"{key}={row[key]}" for key in sweep.keys)
        what = f"point {row['point']} ({values}): {row['status']}: {row['reason']}"
        lines += wrap(what, WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    if len(failures) > _MOST_ROWS:
        lines.append(f"... and {len(failures) - _MOST_ROWS:,} more failures")
    return "\n".join([*lines, f"tables, journal and manifest: {sweep.folder}"])


def _point_lines(sweep: Sweep) -> list[str]:
    """One row a point that is ok."""
    results = sweep.results
    columns = [column for column in _FIGURES if column in results.columns]
    rows = [
        [str(row["point"]), *(str(row[key]) for key in sweep.keys), *(_cell(row.get(column)) for column in columns)]
        for row in results.rows
        if row["status"] == "ok"
    ]
    return _table(["point", *sweep.keys, *(_FIGURES[column] for column in columns)], rows, 1 + len(sweep.keys))


def _spread_lines(sweep: Sweep, spread: tuple[Mapping[str, Any], ...]) -> list[str]:
    """One row a point without its seed: the figure that matters most, over its seeds."""
    figures = {row["figure"] for row in spread}
    chosen = "iteration_time_us" if "iteration_time_us" in figures else "time_us"
    keys = [key for key in sweep.keys if key != SEED]
    names = ("mean", "std", "min", "p50", "max", "ci_low", "ci_high")
    rows = [
        [*(str(row[key]) for key in keys), str(row["seeds"]), *(_cell(row.get(name)) for name in names)]
        for row in spread
        if row["figure"] == chosen
    ]
    lines = _table([*keys, "seeds", *names], rows, len(keys))
    return [f"{chosen} over seeds; ci: 95 % interval of the mean (Student's t)", *lines]


def _table(header: list[str], rows: list[list[str]], left: int) -> list[str]:
    if not rows:
        return []
    lines = grid(header, rows[:_MOST_ROWS], left=left)
    if len(rows) > _MOST_ROWS:
        lines.append(f"... and {len(rows) - _MOST_ROWS:,} more rows in the tables")
    return [*lines, ""]


def _cell(value: Any) -> str:
    return "-" if value is None else figure(float(value), 2)
