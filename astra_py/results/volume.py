# SPDX-License-Identifier: GPL-2.0-only
"""How many rows the large tables keep: an even sample of rows, whole ranks, or wider bins; what was cut is said.

What a run is judged by (iterations, collectives, phases, links, queues, flow_sizes) is never from a sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from astra_py.results.columns import Columns

__all__ = ["Cut", "Volume", "evenly"]


@dataclass(frozen=True)
class Cut:
    """What a table that was cut keeps.

    Attributes
    ----------
    rows, of : its rows, and those that there were.
    how : "rows", evenly spaced ones in the table's order; "ranks", all rows of evenly spaced ranks; "bins", all, with
        as many bins of time taken together as were needed.
    """

    rows: int
    of: int
    how: str

    def __str__(self) -> str:
        kept = {
            "rows": "evenly spaced rows",
            "ranks": "all rows of evenly spaced ranks",
            "bins": "neighbouring bins added up",
        }
        return f"{self.rows:,} of {self.of:,} rows ({kept[self.how]})"


def evenly(kept: int, of: int) -> NDArray[np.int64]:
    """``kept`` of the numbers 0 to ``of`` - 1, evenly spaced, the first among them: a systematic sample."""
    return np.arange(kept, dtype=np.int64) * of // max(kept, 1)


class Volume:
    """Keeps tables to a number of rows, and notes which were cut.

    Parameters
    ----------
    most_rows : of a table, or None for no limit.
    bounds : tables that may have more than that, and for each a number that its rows do not exceed.
    ends_last : a rank whose operations are kept whichever others are; -1 for none.
    """

    def __init__(self, most_rows: int | None, bounds: Mapping[str, int], ends_last: int = -1) -> None:
        self._most = most_rows
        self._bounds = bounds
        self._ends_last = ends_last
        self.cut: dict[str, Cut] = {}

    def doubtful(self) -> list[str]:
        """Tables that have to be looked at to know whether they are cut."""
        most = self._most
        return [] if most is None else [table for table, bound in self._bounds.items() if bound > most]

    def limit(self, table: str, rows: Columns) -> Columns:
        """The rows that are kept of ``table``."""
        there = _length(rows)
        if self._most is None or there <= self._most or table not in self._bounds:
            return rows
        if table == "operations":
            kept, how = self._of_ranks(rows["rank"]), "ranks"
        elif table == "link_bins":
            merged = _merged_bins(rows, self._most)
            self.cut[table] = Cut(_length(merged), there, "bins")
            return merged
        else:
            kept, how = evenly(self._most, there), "rows"
        self.cut[table] = Cut(len(kept), there, how)
        return {name: column[kept] for name, column in rows.items()}

    def _of_ranks(self, rank: NDArray[Any]) -> NDArray[np.int64]:
        """Rows of as many ranks as fit, at least of the one that ends the run."""
        assert self._most is not None
        ranks, count = np.unique(rank, return_counts=True)
        chosen = ranks[evenly(max(1, self._most * len(ranks) // len(rank)), len(ranks))]
        if self._ends_last >= 0:
            chosen[np.abs(chosen - self._ends_last).argmin()] = self._ends_last
        size = dict(zip(ranks.tolist(), count.tolist(), strict=True))
        order = sorted(chosen.tolist(), key=lambda each: each != self._ends_last)
        fits = np.cumsum([size[each] for each in order]) <= self._most
        fits[0] = True
        return np.flatnonzero(np.isin(rank, np.array(order)[fits]))


def _length(rows: Columns) -> int:
    return len(next(iter(rows.values())))


def _merged_bins(rows: Columns, most: int) -> Columns:
    """``link_bins`` with neighbouring bins added up, until there are at most ``most`` rows or one bin is left."""
    bins = int(rows["bin"].max()) + 1
    channels = _length(rows) // bins
    width = 1
    while -(-bins // width) * channels > most and width < bins:
        width *= 2
    first = np.arange(0, bins, width)

    def per_bin(name: str, add: np.ufunc) -> NDArray[Any]:
        return add.reduceat(rows[name].reshape(channels, bins), first, axis=1)

    time_us = per_bin("time_us", np.add)
    carried = np.add.reduceat((rows["utilisation_percent"] * rows["time_us"]).reshape(channels, bins), first, axis=1)
    return {
        "channel": np.repeat(rows["channel"][::bins], len(first)),
        "bin": np.tile(np.arange(len(first)), channels),
        "start_us": rows["start_us"].reshape(channels, bins)[:, first].ravel(),
        "time_us": time_us.ravel(),
        "line_bytes": per_bin("line_bytes", np.add).ravel(),
        "utilisation_percent": (carried / time_us).ravel(),
        "max_queue_bytes": per_bin("max_queue_bytes", np.maximum).ravel(),
    }
