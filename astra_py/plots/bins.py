# SPDX-License-Identifier: GPL-2.0-only
"""Links over time: the table ``link_bins`` as a matrix of channels by bins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.errors import ConfigError

if TYPE_CHECKING:
    from astra_py.results.result import Result

__all__ = ["LinkBins", "link_bins"]


@dataclass(frozen=True)
class LinkBins:
    """What channels did, bin by bin.

    Attributes
    ----------
    edges_us : f64[bins + 1], from the run's start to its end.
    values : f64[channels, bins], of the channels of the table ``links``, in its order; 0 where there is no row.
    """

    edges_us: NDArray[np.float64]
    values: NDArray[np.float64]


def link_bins(result: Result, column: str) -> LinkBins:
    """One column of ``link_bins`` as a matrix.

    Raises
    ------
    ConfigError : the run kept no bins.
    """
    table = result.columns("link_bins")
    if not len(table["bin"]):
        raise ConfigError(
            "the run has no link_bins: nothing is known of its links over time; allowed: of runs of the engine packet "
            "with results.link_bins above 0"
        )
    bins = int(table["bin"].max()) + 1
    starts = np.full(bins, np.nan)
    starts[table["bin"]] = table["start_us"]
    # all but the last are of one length; what nobody has a row of lies between the others
    width = float(table["time_us"].max())
    starts = np.where(np.isnan(starts), np.arange(bins) * width, starts)
    last = table["bin"] == bins - 1
    end = float((table["start_us"] + table["time_us"])[last].max())
    values = np.zeros((len(result.columns("links")["channel"]), bins))
    values[table["channel"], table["bin"]] = table[column]
    return LinkBins(np.append(starts, end), values)
