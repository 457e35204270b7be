# SPDX-License-Identifier: GPL-2.0-only
"""The picture of what a run costs: CPU seconds and packet-hops a CPU second, by ranks and by bytes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from astra_py.plots.style import SERIES
from measure import Measured
from rows import ROWS, Figure, Series

__all__ = ["draw_cost"]

_BY_RANKS = (Series.ALL_TO_ALL, Series.PERMUTATION, Series.RING)


def draw_cost(results: Mapping[str, Measured], path: Path) -> None:
    """Draw the series that ``results`` has, by names of rows, as an SVG file.

    Raises
    ------
    ImportError : matplotlib is missing.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Drawing

    # ids by a fixed salt and no date, so that equal figures are equal files
    with mpl.rc_context({"svg.hashsalt": "astra-py", "font.size": 8}):
        drawing = Drawing(figsize=(6.9, 4.6), layout="constrained")
        FigureCanvasSVG(drawing)
        axes = drawing.subplots(2, 2, sharex="col")
        for column, (group, label) in enumerate(((_BY_RANKS, "ranks"), ((Series.BYTES,), "MiB a rank"))):
            seconds, rates = axes[0][column], axes[1][column]
            for number, series in enumerate(group):
                _draw_line(seconds, rates, series, results, SERIES[number + 3 * column])
            seconds.set(ylabel="CPU s")
            rates.set(xlabel=label, ylabel="M packet-hops a CPU s", ylim=(0, None))
            if seconds.lines:
                seconds.set(xscale="log", yscale="log")
                seconds.legend(frameon=False)
            for ax in (seconds, rates):
                ax.spines[["top", "right"]].set_visible(False)
                ax.xaxis.set_major_formatter("{x:g}")
                ax.grid(alpha=0.3, linewidth=0.5)
        drawing.savefig(path, format="svg", metadata={"Date": None})


def _draw_line(seconds: Any, rates: Any, series: Series, results: Mapping[str, Measured], colour: str) -> None:
    unit = 2**20 if series is Series.BYTES else 1
    points = []
    for row in ROWS:
        if row.series is series and row.name in results:
            measured = results[row.name]
            hops = measured.figure(Figure.HOPS_PER_S, row)
            # None where noise is more than what the bytes cost
            if hops is not None:
                points.append((row.place / unit, measured.net_cpu_s, hops / 1e6))
    if points:
        places, cpu_s, rate = zip(*sorted(points), strict=True)
        style = {"color": colour, "marker": "o", "markersize": 3, "linewidth": 1.2}
        seconds.plot(places, cpu_s, label=str(series), **style)
        rates.plot(places, rate, **style)
