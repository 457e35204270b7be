# SPDX-License-Identifier: GPL-2.0-only
"""How busy links are over time, as a map: directions of links by class, the busiest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from astra_py.plots.bins import link_bins
from astra_py.plots.caption import caption
from astra_py.plots.figure import drawing, legend_above, side_bar
from astra_py.plots.style import AMOUNTS
from astra_py.plots.units import time_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from astra_py.results.result import Result

__all__ = ["plot_links"]

#: Rows of a map: more are not told apart on paper.
_MOST_ROWS = 240
#: Rows that a class has at least, where links are so many that they share rows.
_FEWEST_ROWS = 12


def plot_links(result: Result, *, ax: Axes | None = None, size: str = "paper") -> Axes:
    """Draw the utilisation of each direction of each link over time.

    Rows are grouped by link class and sorted by their mean over the run, the busiest on top. Of more than some hundred,
    neighbours in this order share a row, which shows their mean.

    Parameters
    ----------
    result : of a run.
    ax, size : as :func:`~astra_py.plots.timeline.plot_timeline` takes them.

    Raises
    ------
    ConfigError : the run kept no ``link_bins``, or matplotlib is not installed.
    """
    bins = link_bins(result, "utilisation_percent")
    blocks = list(_blocks(result.columns("links")["link_class"], bins.values, np.diff(bins.edges_us)))
    with drawing(ax, size, 0.55, caption(result, tables=["link_bins"])) as axes:
        unit = time_unit(float(bins.edges_us[-1]) * 1e6)
        edges = bins.edges_us * 1e6 / unit.size
        rows = np.concatenate([block.rows for block in blocks])
        # a class is as high as it has rows
        mesh = axes.pcolormesh(edges, np.arange(len(rows) + 1), rows, cmap=AMOUNTS, vmin=0, vmax=100, rasterized=True)
        ends = np.cumsum([len(block.rows) for block in blocks])
        axes.hlines(ends[:-1], edges[0], edges[-1], colors="white", linewidth=2)
        names = [
            f"{block.name}: {block.links:,}" + (f"\n{block.together} a row" if block.together > 1 else "")
            for block in blocks
        ]
        axes.set_yticks(ends - np.array([len(block.rows) for block in blocks]) / 2, names)
        axes.tick_params(axis="y", length=0)
        axes.set(xlabel=f"time since the start ({unit.name})", ylim=(len(rows), 0), xlim=(edges[0], edges[-1]))
        side_bar(axes, mesh, "utilisation (%)")
        legend_above(axes, [], "directions of links by class, the busiest of each on top")
    return axes


class _Block(NamedTuple):
    """Rows of a class of links.

    Attributes
    ----------
    name, links : of the class, and how many directions of links it has.
    rows : f64[rows, bins], in percent.
    together : how many links a row has at most.
    """

    name: str
    links: int
    rows: NDArray[np.float64]
    together: int


def _blocks(classes: NDArray[np.object_], values: NDArray[np.float64], widths: NDArray[np.float64]) -> list[_Block]:
    mean = values @ widths
    share = min(1.0, _MOST_ROWS / len(classes))
    blocks = []
    for name in dict.fromkeys(classes.tolist()):
        mine = np.flatnonzero(classes == name)
        ordered = mine[np.argsort(-mean[mine], kind="stable")]
        rows = min(len(mine), max(_FEWEST_ROWS, int(share * len(mine))))
        parts = np.array_split(ordered, rows)
        blocks.append(
            _Block(str(name), len(mine), np.array([values[part].mean(axis=0) for part in parts]), len(parts[0]))
        )
    return blocks
