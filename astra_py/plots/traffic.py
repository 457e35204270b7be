# SPDX-License-Identifier: GPL-2.0-only
"""Who sends how much to whom: a matrix of bytes, of ranks or of machines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.errors import ConfigError
from astra_py.plots.caption import caption, cut_tables
from astra_py.plots.figure import drawing, legend_above, side_bar, whole_numbers
from astra_py.plots.platform import platform_of
from astra_py.plots.style import AMOUNTS
from astra_py.plots.units import byte_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from astra_py.results.result import Result

__all__ = ["plot_traffic", "traffic_matrix"]

#: Ranks that have a row each; of more, rows are machines, and if these are too many, or there are none, several ranks.
_MOST_ROWS = 256


def traffic_matrix(result: Result, most_rows: int = _MOST_ROWS) -> tuple[NDArray[np.int64], str]:
    """Bytes of payload from each to each, and what a row is.

    Returns
    -------
    matrix : i64[rows, rows], from row to column.
    unit : "rank", "machine", or how many ranks or machines a row has.
    """
    pairs = result.columns("pairs")
    ranks = int(result.manifest["platform"]["ranks"])
    row_of, unit = np.arange(ranks), "rank"
    if ranks > most_rows:
        machines = platform_of(result).arrays().rank_machine
        if machines[-1] + 1 < ranks:
            row_of, unit = machines.astype(np.int64), "machine"
    rows = int(row_of.max()) + 1
    if (together := -(-rows // most_rows)) > 1:
        row_of, unit = row_of // together, f"{together} {unit}s"
    rows = int(row_of.max()) + 1
    matrix = np.zeros((rows, rows), dtype=np.int64)
    np.add.at(matrix, (row_of[pairs["src"]], row_of[pairs["dst"]]), pairs["size_bytes"])
    return matrix, unit


def plot_traffic(result: Result, *, ax: Axes | None = None, size: str = "paper") -> Axes:
    """Draw the matrix of bytes that each rank sends to each other one, or each machine where ranks are many.

    Pairs that exchange nothing are white. On the diagonal of machines is what stays inside.

    Parameters
    ----------
    result : of a run.
    ax, size : as :func:`~astra_py.plots.timeline.plot_timeline` takes them.

    Raises
    ------
    ConfigError : the run has no messages, or matplotlib is not installed.
    """
    matrix, row = traffic_matrix(result)
    if not matrix.any():
        raise ConfigError("no rank sends anything: there is nothing to draw")
    unit = byte_unit(float(matrix.max()))
    with drawing(ax, size, 0.6, caption(result, tables=["pairs"])) as axes:
        from matplotlib.colors import LogNorm

        shown = np.ma.masked_equal(matrix / unit.size, 0)
        low, high = float(shown.min()), float(shown.max())
        # where all is within a factor of ten, steps of equal bytes say more
        norm = LogNorm(low, high) if high > 10 * low else None
        image = axes.imshow(shown, cmap=AMOUNTS, norm=norm, interpolation="nearest")
        if norm is None:
            image.set_clim(0, high)
        whole = byte_unit(float(matrix.sum()))
        of_what = "by the pairs that are kept" if cut_tables(result, ["pairs"]) else "in all"
        legend_above(axes, [], f"payload sent, {matrix.sum() / whole.size:,.1f} {whole.name} {of_what}")
        side_bar(axes, image, f"sent ({unit.name})")
        what = row if row in ("rank", "machine") else f"group of {row}"
        axes.set(xlabel=f"receiving {what}", ylabel=f"sending {what}")
        whole_numbers(axes.xaxis)
        whole_numbers(axes.yaxis)
        axes.spines[["top", "right"]].set_visible(True)
    return axes
