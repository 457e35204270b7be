# SPDX-License-Identifier: GPL-2.0-only
"""An iteration over time: of one rank in lanes, or of all ranks as a map of what each does when."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.errors import ConfigError
from astra_py.plots.caption import caption
from astra_py.plots.figure import drawing, legend_above, rows_height
from astra_py.plots.iteration import Iteration, find_iteration
from astra_py.plots.rank_map import draw_rank_map
from astra_py.plots.style import COMPUTE, EXPOSED, INK, MEMORY, collective_colours
from astra_py.plots.units import time_unit
from astra_py.results.intervals import IntervalSet
from astra_py.results.trace_lanes import gaps, lanes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from astra_py.results.columns import Columns
    from astra_py.results.result import Result

__all__ = ["plot_timeline"]

#: Lanes of collectives that are told apart by name; of more, one a kind is drawn.
_MOST_LANES = 16
#: Characters of a lane's name.
_LONGEST_NAME = 30
#: Rows that operations of one lane, at once, make it higher by; more share the height.
_MOST_ROWS = 5
#: How strongly operations of other iterations, and the moments without compute, are drawn.
_FAINT, _SHADE = 0.4, 0.13
#: Edge of a bar, in points.
_EDGE_PT = 0.4


def plot_timeline(
    result: Result,
    rank: int | str | None = None,
    iteration: int | None = None,
    *,
    job: str | None = None,
    ax: Axes | None = None,
    size: str = "paper",
) -> Axes:
    """Draw what a rank does in an iteration, compute and each collective in a lane; or what all ranks do.

    Of one rank: collectives whose names differ in numbers alone share a lane. Moments without compute of the iteration
    are shaded: their sum is ``exposed_us`` of the table ``iterations``, where none of its compute ran before it began;
    else the title says how much did, which the table takes off. Operations of other iterations are faint. Of all
    ranks: a row a rank, or of a few ranks, a cell in the colour of what they do for most of its time.

    Parameters
    ----------
    result : of a run.
    rank : whose, or "all"; where None, the one that ends the run.
    iteration : which one; the last one where None.
    job : of which job, where there are several; the one that ends last where None.
    ax : where to draw; new axes, with a caption, where None.
    size : of a new figure: "column", "paper" (two columns) or "slide".

    Raises
    ------
    ConfigError : the run has no such rank, iteration or job, or matplotlib is not installed.
    """
    if isinstance(rank, str) and rank != "all":
        raise ConfigError(f"rank {rank!r}; allowed: a number, or all")
    shown = find_iteration(result, iteration, job)
    if isinstance(rank, str):
        with drawing(ax, size, 0.5, caption(result, tables=["operations"])) as axes:
            draw_rank_map(axes, shown)
        return axes
    return _plot_rank(shown, shown.last_rank if rank is None else rank, ax, size)


def _plot_rank(shown: Iteration, rank: int, ax: Axes | None, size: str) -> Axes:
    table = shown.of_rank(rank)
    begin, end = (int(bound) for bound in shown.bounds[rank])
    unit = time_unit(end)
    tracks = list(_lanes(table))
    height = rows_height(sum(lane.height for lane in tracks), size)
    with drawing(ax, size, height, caption(shown.result, tables=["operations"])) as axes:
        from matplotlib.patches import Patch

        handles: dict[str, Patch] = {}
        top = 0.0
        for lane in tracks:
            _draw_lane(axes, lane, table, shown.number, top, unit.size)
            handles.setdefault(lane.kind, Patch(color=lane.colour, label=lane.kind))
            top += lane.height
        if (table["iteration"] != shown.number).any():
            handles["other"] = Patch(color=INK, alpha=_FAINT, linewidth=0, label="faint: of another iteration")
        shaded = _shade_gaps(axes, shown.compute(rank), begin, end, unit.size)
        shade = Patch(color=EXPOSED, alpha=2 * _SHADE, linewidth=0, label="no compute of this iteration")
        centres = np.cumsum([lane.height for lane in tracks]) - np.array([lane.height for lane in tracks]) / 2
        axes.set_yticks(centres, [_shortened(lane.name) for lane in tracks])
        axes.tick_params(axis="y", length=0)
        axes.set(xlim=(begin / unit.size, end / unit.size), ylim=(top, 0), xlabel=f"time since the start ({unit.name})")
        of_job = f"{shown.job}, " if shown.job else ""
        time, exposed = end - begin, shown.exposed_ps(rank)
        title = (
            f"{of_job}rank {rank}, iteration {shown.number}: {_duration(time)}, "
            f"exposed {_duration(exposed)} ({exposed / time if time else 0:.1%})"
        )
        if early := shaded - exposed:
            title += f"\nshaded {_duration(shaded)}: {_duration(early)} of its compute ran earlier"
        legend_above(axes, [*handles.values(), shade], title)
    return axes


def _shade_gaps(axes: Axes, computes: IntervalSet, begin: int, end: int, unit: float) -> int:
    """Shade the moments from ``begin`` to ``end`` that ``computes`` leaves; gives their sum, in ps."""
    found = list(gaps(computes, begin, end))
    for start, stop in found:
        axes.axvspan(start / unit, stop / unit, color=EXPOSED, alpha=_SHADE, linewidth=0, zorder=0)
    return sum(stop - start for start, stop in found)


@dataclass(frozen=True)
class _Lane:
    """Operations that share a lane.

    Attributes
    ----------
    name, kind : of the lane, and what its colour stands for.
    colour : of the bars.
    rows : i64[n], indices of its operations.
    row : i64[n], the row that each is drawn in, so that none covers another.
    """

    name: str
    kind: str
    colour: str
    rows: NDArray[np.int64]
    row: NDArray[np.int64]

    @property
    def height(self) -> float:
        """Of the lane, in lanes of one row."""
        return 1 + 0.4 * (min(int(self.row.max()) + 1, _MOST_ROWS) - 1)


def _lanes(table: Columns) -> Iterator[_Lane]:
    """Compute, then collectives in order of their first start, then memory work."""
    kinds = table["kind"]
    for kind, colour in (("compute", COMPUTE), ("collective", ""), ("memory", MEMORY)):
        rows = np.flatnonzero(kinds == kind)
        if not len(rows):
            continue
        if kind != "collective":
            yield _lane(kind, kind, colour, rows, table)
            continue
        yield from _collective_lanes(table, rows)


def _collective_lanes(table: Columns, rows: NDArray[np.int64]) -> Iterator[_Lane]:
    ordered = rows[np.argsort(table["start_ps"][rows], kind="stable")]
    by_name: dict[tuple[str, str], list[int]] = {}
    by_kind: dict[tuple[str, str], list[int]] = {}
    for row in ordered.tolist():
        kind = str(table["collective_kind"][row])
        by_name.setdefault((kind, re.sub(r"_?[0-9]+", "", str(table["name"][row]))), []).append(row)
        by_kind.setdefault((kind, kind), []).append(row)
    colours = collective_colours(kind for kind, _ in by_kind)
    for (kind, name), members in (by_name if len(by_name) <= _MOST_LANES else by_kind).items():
        yield _lane(name, kind, colours[kind], np.array(members), table)


def _lane(name: str, kind: str, colour: str, rows: NDArray[np.int64], table: Columns) -> _Lane:
    """A lane whose operations are put into as few rows as they need."""
    return _Lane(name, kind, colour, rows, lanes(table["start_ps"][rows], table["end_ps"][rows]))


def _draw_lane(axes: Axes, lane: _Lane, table: Columns, iteration: int, top: float, unit: float) -> None:
    """Draw the bars of a lane, whose upper edge is at ``top``."""
    margin = 0.12
    each = (lane.height - 2 * margin) / (int(lane.row.max()) + 1)
    start = table["start_ps"][lane.rows] / unit
    length = (table["end_ps"][lane.rows] - table["start_ps"][lane.rows]) / unit
    is_own = table["iteration"][lane.rows] == iteration
    for row in np.unique(lane.row):
        for own in (True, False):
            seen = (lane.row == row) & (is_own == own)
            if seen.any():
                axes.broken_barh(
                    list(zip(start[seen], length[seen], strict=True)),
                    (top + margin + row * each, 0.9 * each),
                    facecolors=lane.colour,
                    alpha=1 if own else _FAINT,
                    # so that what is short is seen
                    edgecolors=lane.colour,
                    linewidth=_EDGE_PT,
                )


def _shortened(name: str) -> str:
    """``name``, without its middle where it is long."""
    half = _LONGEST_NAME // 2
    return name if len(name) <= _LONGEST_NAME else f"{name[:half]}…{name[-half + 1 :]}"


def _duration(time_ps: float) -> str:
    """A time in the unit that suits it, with four digits."""
    unit = time_unit(abs(time_ps))
    value = time_ps / unit.size
    places = max(0, 3 - math.floor(math.log10(abs(value)))) if value else 0
    return f"{value:,.{places}f} {unit.name}"
