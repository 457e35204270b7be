# SPDX-License-Identifier: GPL-2.0-only
"""The parts of collectives' times, as a stacked bar each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from astra_py.analysis.comparison import Comparison
from astra_py.analysis.comparison_text import row_names
from astra_py.analysis.stretches import Part
from astra_py.errors import ConfigError
from astra_py.plots.caption import caption_of
from astra_py.plots.figure import drawing, legend_above
from astra_py.plots.style import INK, PARTS, WHITE, Fill
from astra_py.plots.units import time_unit
from astra_py.results.provenance import provenance

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_why", "read_why"]

#: Rows that are drawn, those that take longest; more cannot be read.
_MOST_ROWS = 40
#: File of a folder that :meth:`astra_py.analysis.comparison.Comparison.save` wrote.
_FILE = "comparison.json"


#: The engine whose runs have parts.
_EXPLAINED = "packet"


class Why(NamedTuple):
    """What is drawn: rows of :attr:`~astra_py.analysis.comparison.Comparison.why`, their names, what was run."""

    rows: Sequence[dict[str, Any]]
    names: Sequence[str]
    caption: str


def plot_why(source: Comparison | Why, *, ax: Axes | None = None, size: str = "paper") -> Axes:
    """Draw a stacked bar for each collective of each packet run: where the time on its critical path went.

    The first one is on top. Parts that no row has are left out; what is unexplained is hatched. Of more rows than can
    be read those that take longest are drawn.

    Parameters
    ----------
    source : a comparison, or one that was saved, see :func:`read_why`.
    ax, size : as :func:`~astra_py.plots.timeline.plot_timeline` takes them.

    Raises
    ------
    ConfigError : no packet run is compared, or matplotlib is not installed.
    """
    rows, names, under = _of(source) if isinstance(source, Comparison) else source
    if not rows:
        raise ConfigError("no collective of a packet run over RoCE is explained: there is nothing to draw")
    shown = sorted(sorted(range(len(rows)), key=lambda row: -rows[row]["packet_us"])[:_MOST_ROWS])
    unit = time_unit(max(rows[row]["packet_us"] for row in shown) * 1e6)
    with drawing(ax, size, 0.2 + 0.028 * len(shown), under) as axes:
        place = np.arange(len(shown))
        left = np.zeros(len(shown))
        handles = []
        for part in Part:
            time = np.array([rows[row][f"{part}_us"] for row in shown]) * 1e6 / unit.size
            if time.any():
                handles.append(_bars(axes, place, time, left, PARTS[part], part.replace("_", " ")))
                left += time
        axes.set_yticks(place, [names[row] for row in shown])
        axes.tick_params(axis="y", length=0)
        axes.set(xlabel=f"time on the critical path ({unit.name})", ylim=(len(shown) - 0.4, -0.6))
        axes.grid(axis="x")
        left_out = len(rows) - len(shown)
        title = f"the {len(shown)} of {len(rows)} collectives that take longest" if left_out else None
        legend_above(axes, handles, title)
    return axes


def read_why(folder: str | Path) -> Why:
    """What :meth:`astra_py.analysis.comparison.Comparison.save` wrote of a comparison, to draw.

    Raises
    ------
    ConfigError : the folder holds no comparison, or one that explains nothing.
    """
    path = Path(folder) / _FILE
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        rows, names = content["why"], content["why_names"]
        under = caption_of(run for run in content["runs"] if run["engine"] == _EXPLAINED)
    except FileNotFoundError:
        raise ConfigError(
            f"{folder}: no comparison here: there is no {_FILE}; allowed: what astra-py compare --out wrote"
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{path}: not a comparison: {error}") from None
    return Why(rows, names, under)


def _of(comparison: Comparison) -> Why:
    rows = comparison.why.to_dict("records")
    runs = [provenance(result) for results in comparison.results for result in results]
    return Why(
        [{str(key): value for key, value in row.items()} for row in rows],
        row_names(comparison),
        caption_of(run for run in runs if run["engine"] == _EXPLAINED),
    )


def _bars(axes: Axes, place: Any, time: Any, left: Any, fill: Fill, label: str) -> Any:
    # hatches are in the colour of edges
    is_hatched = bool(fill.hatch)
    return axes.barh(
        place,
        time,
        left=left,
        height=0.75,
        facecolor=WHITE if is_hatched else fill.colour,
        edgecolor=(INK if fill.colour == WHITE else fill.colour) if is_hatched else "none",
        hatch=fill.hatch or None,
        label=label,
    )
