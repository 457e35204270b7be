# SPDX-License-Identifier: GPL-2.0-only
"""What the report says of flows: completion times and slowdowns of each list, by size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from astra_py.results.text import figure, grid
from astra_py.units import format_size
from astra_py.workloads.calls import FLOWS

if TYPE_CHECKING:
    from astra_py.results.result import Result

__all__ = ["flow_rows", "flows_section"]

#: Columns of ``flow_sizes`` that are not told of.
_UNTOLD = ("collective", "last_end_ps")


def flow_rows(result: Result) -> list[dict[str, Any]]:
    """One row a list of flows and decade of sizes, and one of all sizes first; plain JSON."""
    table = {name: column.tolist() for name, column in result.columns("flow_sizes").items() if name not in _UNTOLD}
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


def flows_section(result: Result) -> list[str]:
    """Lines of the table of flows; none where there is no flow."""
    header = ["flows", "sizes", "number", "mean us", "p50", "p99", "max", "slowdown", "p50", "p95", "p99"]
    rows, last = [], None
    for row in flow_rows(result):
        sizes = _span(row["size_bytes_min"], row["size_bytes_max"])
        times = [row["mean_us"], row["p50_us"], row["p99_us"], row["max_us"]]
        slowdowns = [row[f"slowdown_{name}"] for name in ("mean", "p50", "p95", "p99")]
        rows.append(
            [
                "" if row["name"] == last else _title(row),
                sizes,
                f"{row['flows']:,}",
                *(figure(time, 2) for time in times),
                *(figure(slowdown, 2) for slowdown in slowdowns),
            ]
        )
        last = row["name"]
    if not rows:
        return []
    return [
        *grid(header, rows, left=2),
        "completion times in us, and slowdowns: times over those alone on the same ways",
        *_ends(result),
    ]


def _ends(result: Result) -> list[str]:
    """A line for each list whose flows are all over before the jobs are."""
    flows, iterations = result.columns("flow_sizes"), result.columns("iterations")
    worked = flows["job"][0] in iterations["job"]
    if worked or not len(iterations["job"]):
        return []
    over = int(np.rint(1e6 * (iterations["start_us"] + iterations["time_us"]).max()))
    lines = []
    for job in dict.fromkeys(flows["job"].tolist()):
        last = int(flows["last_end_ps"][flows["job"] == job].max())
        if last < over:
            lines.append(f"{job}: its last flow ends at {figure(last / 1e6)} us, the jobs at {figure(over / 1e6)} us")
    return lines


def _title(row: dict[str, Any]) -> str:
    """The job's name is enough for its one list."""
    job, name = str(row["job"]), str(row["name"])
    return job if name == f"{job}/{FLOWS}" else name


def _span(least: int, most: int) -> str:
    return format_size(least) if least == most else f"{_short(least)} - {_short(most)}"


def _short(size_bytes: int) -> str:
    """A size in three digits."""
    for unit, power in (("GB", 9), ("MB", 6), ("kB", 3)):
        if size_bytes >= 0.9995 * 10**power:  # what would be read as 1,000 of the unit below
            return f"{size_bytes / 10**power:.3g} {unit}"
    return f"{size_bytes} B"
