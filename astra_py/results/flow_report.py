# SPDX-License-Identifier: GPL-2.0-only
"""What the report says of flows: completion times and slowdowns of each list, by size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from astra_py.results.text import figure, grid
from astra_py.units import format_size
from astra_py.workloads.calls import FLOWS

if TYPE_CHECKING:
    from astra_py.results.columns import Columns
    from astra_py.results.result import Result

__all__ = ["flow_rows", "flows_section"]

#: Shares of the flows whose times are below the figures that are told; each is a time that a flow had.
_PERCENTILES = (50, 95, 99)


def flow_rows(result: Result) -> list[dict[str, Any]]:
    """One row a list of flows and decade of sizes, and one of all sizes first; plain JSON.

    Percentiles are nearest ranks: times and slowdowns that some flow had.
    """
    flows, collectives = result.columns("flows"), result.columns("collectives")
    rows: list[dict[str, Any]] = []
    for collective in dict.fromkeys(flows["collective"].tolist()):
        mine = np.flatnonzero(flows["collective"] == collective)
        decade = _decades(flows["size_bytes"][mine])
        classes = [mine, *(mine[decade == each] for each in np.unique(decade).tolist())]
        about = {"job": str(flows["job"][mine[0]]), "name": str(collectives["name"][collective])}
        rows += [{**about, **_figures(flows, part)} for part in (classes if len(classes) > 2 else classes[:1])]
    return rows


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
    flows, iterations = result.columns("flows"), result.columns("iterations")
    worked = flows["job"][0] in iterations["job"]
    if worked or not len(iterations["job"]):
        return []
    over = int(np.rint(1e6 * (iterations["start_us"] + iterations["time_us"]).max()))
    lines = []
    for job in dict.fromkeys(flows["job"].tolist()):
        last = int((flows["start_ps"] + flows["time_ps"])[flows["job"] == job].max())
        if last < over:
            lines.append(f"{job}: its last flow ends at {figure(last / 1e6)} us, the jobs at {figure(over / 1e6)} us")
    return lines


def _title(row: dict[str, Any]) -> str:
    """The job's name is enough for its one list."""
    job, name = str(row["job"]), str(row["name"])
    return job if name == f"{job}/{FLOWS}" else name


def _decades(size_bytes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Power of ten that each size is at least; 0 of sizes below 10 B."""
    powers = 10 ** np.arange(1, 17, dtype=np.int64)
    return np.searchsorted(powers, size_bytes, side="right")


def _figures(flows: Columns, part: NDArray[np.int64]) -> dict[str, Any]:
    size, time, slowdown = (flows[name][part] for name in ("size_bytes", "time_us", "slowdown"))
    row: dict[str, Any] = {
        "flows": len(part),
        "size_bytes_min": int(size.min()),
        "size_bytes_max": int(size.max()),
        "mean_us": float(time.mean()),
        "max_us": float(time.max()),
        "slowdown_mean": float(slowdown.mean()),
        "slowdown_max": float(slowdown.max()),
    }
    for percent in _PERCENTILES:
        row[f"p{percent}_us"] = float(np.percentile(time, percent, method="inverted_cdf"))
        row[f"slowdown_p{percent}"] = float(np.percentile(slowdown, percent, method="inverted_cdf"))
    return row


def _span(least: int, most: int) -> str:
    return format_size(least) if least == most else f"{_short(least)} - {_short(most)}"


def _short(size_bytes: int) -> str:
    """A size in three digits."""
    for unit, power in (("GB", 9), ("MB", 6), ("kB", 3)):
        if size_bytes >= 0.9995 * 10**power:  # what would be read as 1,000 of the unit below
            return f"{size_bytes / 10**power:.3g} {unit}"
    return f"{size_bytes} B"
