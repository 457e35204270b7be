# SPDX-License-Identifier: GPL-2.0-only
"""What all ranks do in an iteration, as a map: ranks over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.plots.style import COMMUNICATION, COMPUTE, EXPOSED, IDLE
from astra_py.plots.units import time_unit
from astra_py.results.intervals import IntervalSet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from astra_py.plots.iteration import Iteration

__all__ = ["STATES", "draw_rank_map", "rank_states"]

#: What a cell shows, by its number, and in which colour.
STATES = (
    ("neither", IDLE),
    ("compute alone", COMPUTE),
    ("compute that hides communication", COMMUNICATION),
    ("exposed communication", EXPOSED),
)
#: Cells of a map: more are not told apart on paper.
_MOST_ROWS, _COLUMNS = 256, 480


def rank_states(shown: Iteration) -> tuple[NDArray[np.uint8], NDArray[np.int64], int]:
    """What ranks do for most of each stretch of time.

    Returns
    -------
    states : u8[rows, columns], numbers of :data:`STATES`.
    edges : i64[columns + 1], the stretches' edges, in ps: from the first rank's begin to the last one's end.
    together : ranks a row; the last row may have fewer.
    """
    table, bounds = shown.operations, shown.bounds
    ranks = len(bounds)
    begin, end = int(bounds[:, 0].min()), int(bounds[:, 1].max())
    edges = begin + (end - begin) * np.arange(_COLUMNS + 1, dtype=np.int64) // _COLUMNS
    together = -(-ranks // _MOST_ROWS)
    rows = -(-ranks // together)
    order = np.argsort(table["rank"], kind="stable")
    first = np.searchsorted(table["rank"][order], np.arange(ranks + 1))
    spent = np.zeros((rows, len(STATES), _COLUMNS), dtype=np.int64)
    for rank in range(ranks):
        own = order[first[rank] : first[rank + 1]]
        kind, start, stop = (table[name][own] for name in ("kind", "start_ps", "end_ps"))
        compute, communication = (
            IntervalSet(start[kind == name], stop[kind == name]) for name in ("compute", "collective")
        )
        computes, communicates, either = (
            each.covered(edges[:-1], edges[1:]) for each in (compute, communication, compute | communication)
        )
        exposed = either - computes
        hidden = communicates - exposed
        spent[rank // together] += (np.diff(edges) - either, computes - hidden, hidden, exposed)
    return spent.argmax(axis=1).astype(np.uint8), edges, together


def draw_rank_map(axes: Axes, shown: Iteration) -> None:
    """Draw the map of an iteration on ``axes``."""
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    from astra_py.plots.figure import legend_above, whole_numbers

    states, edges, together = rank_states(shown)
    ranks = len(shown.bounds)
    unit = time_unit(int(edges[-1]))
    axes.imshow(
        states,
        cmap=ListedColormap([colour for _, colour in STATES]),
        vmin=-0.5,
        vmax=len(STATES) - 0.5,
        aspect="auto",
        interpolation="nearest",
        extent=(edges[0] / unit.size, edges[-1] / unit.size, len(states) * together - 0.5, -0.5),
    )
    # the last row may stand for fewer ranks than the others
    axes.set_ylim(ranks - 0.5, -0.5)
    rows = "rank" if together == 1 else f"rank ({together} a row)"
    axes.set(xlabel=f"time since the start ({unit.name})", ylabel=rows)
    whole_numbers(axes.yaxis)
    time = (shown.bounds[:, 1] - shown.bounds[:, 0]) / unit.size
    of_job = f"{shown.job}, " if shown.job else ""
    legend_above(
        axes,
        [Patch(color=colour, label=name) for name, colour in STATES],
        f"{of_job}iteration {shown.number} of {ranks:,} ranks: {time.min():,.1f} to {time.max():,.1f} {unit.name}",
    )
