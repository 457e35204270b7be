# SPDX-License-Identifier: GPL-2.0-only
"""The table of flows by size: completion times and slowdowns of each list, of all of its flows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from astra_py.results.columns import TABLES, Columns
from astra_py.results.flows import flows_table

if TYPE_CHECKING:
    from astra_py.results.record import RunRecord

__all__ = ["flow_sizes_table"]

#: Shares of the flows whose times are below the figures that are told; each is a time that a flow had.
_PERCENTILES = (50, 95, 99)


def flow_sizes_table(record: RunRecord) -> Columns:
    """Columns of the table ``flow_sizes``: of each list a row of all sizes, then one a decade where there are several.

    Percentiles are nearest ranks: times and slowdowns that some flow had.
    """
    flows = flows_table(record)
    rows: list[dict[str, Any]] = []
    for collective in dict.fromkeys(flows["collective"].tolist()):
        mine = np.flatnonzero(flows["collective"] == collective)
        decade = _decades(flows["size_bytes"][mine])
        classes = [mine, *(mine[decade == each] for each in np.unique(decade).tolist())]
        call = record.trace.calls[int(record.schedule.instance_call[collective])]
        about = {"job": str(flows["job"][mine[0]]), "name": call.name, "collective": collective}
        rows += [{**about, **_figures(flows, part)} for part in (classes if len(classes) > 2 else classes[:1])]
    dtypes = {"int64": np.int64, "float64": np.float64, "str": np.object_}
    return {
        column.name: np.array([row[column.name] for row in rows], dtype=dtypes[column.dtype])
        for column in TABLES["flow_sizes"]
    }


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
        "last_end_ps": int((flows["start_ps"] + flows["time_ps"])[part].max()),
    }
    for percent in _PERCENTILES:
        row[f"p{percent}_us"] = float(np.percentile(time, percent, method="inverted_cdf"))
        row[f"slowdown_p{percent}"] = float(np.percentile(slowdown, percent, method="inverted_cdf"))
    return row
