# SPDX-License-Identifier: GPL-2.0-only
"""The parts of collectives' times, as a stacked bar each."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from astra_py.analysis.comparison import Comparison
from astra_py.analysis.comparison_text import row_names
from astra_py.analysis.stretches import Part
from astra_py.errors import ConfigError
from astra_py.plots.caption import caption_of
from astra_py.plots.figure import POINTS_PER_INCH, drawing, legend_above, most_rows, rows_height, shortened, width_pt
from astra_py.plots.style import INK, PARTS, WHITE, FigureSize, Fill, figure_size
from astra_py.plots.units import time_unit
from astra_py.results.provenance import provenance

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_why", "read_why"]

#: Bars that are drawn, those that take longest; more cannot be read.
_MOST_BARS = 40
#: Share of a figure's width that names beside the bars may have; longer ones stand above them,
#: and that they have there.
_NAMES_WIDTH, _HEADS_WIDTH = 0.5, 0.85
#: Height of a bar among others and of a name above it, in rows that have a name beside them.
_BAR, _HEAD = 0.6, 0.75
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

    The first one is on top. Where several variants are compared, the bars of a collective stand together, each with the
    letter of its variant, which the title explains. Parts that no row has are left out; what is unexplained is hatched.
    Of more than can be read the collectives that take longest are drawn.

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
    names, title = _without_common([_bare(name, row) for name, row in zip(names, rows, strict=True)])
    variants = list(dict.fromkeys(str(row["variant"]) for row in rows))
    key = _key(variants)
    shown = _longest(rows, names, len(variants), most_rows(size, len(key)))
    unit = time_unit(max(rows[row]["packet_us"] for row in shown) * 1e6)
    layout = _lay_out(rows, names, shown, variants, figure_size(size))
    with drawing(ax, size, rows_height(layout.height, size), under) as axes:
        left = np.zeros(len(shown))
        handles = []
        for part in Part:
            time = np.array([rows[row][f"{part}_us"] for row in shown]) * 1e6 / unit.size
            if time.any():
                handles.append(
                    _bars(axes, layout.place, time, left, PARTS[part], part.replace("_", " "), layout.thickness)
                )
                left += time
        axes.set_yticks(layout.place, layout.labels)
        for place, name in layout.heads:
            axes.annotate(name, (0, place), (0.2, 0), textcoords="offset fontsize", va="center")
        axes.tick_params(axis="y", length=0)
        axes.set(xlabel=f"time on the critical path ({unit.name})", ylim=(layout.height, 0))
        axes.grid(axis="x")
        legend_above(axes, handles, "\n".join([*_said(rows, names, shown, title), *key]) or None)
    return axes


class _Layout(NamedTuple):
    """Where bars are, downwards, in rows that have a name beside them.

    Attributes
    ----------
    place, labels : the middle of each bar, and what is beside it.
    heads : middles of names above bars, and the names.
    height : of all.
    thickness : of a bar.
    """

    place: list[float]
    labels: list[str]
    heads: list[tuple[float, str]]
    height: float
    thickness: float


def _lay_out(
    rows: Sequence[dict[str, Any]],
    names: Sequence[str],
    shown: Sequence[int],
    variants: Sequence[str],
    look: FigureSize,
) -> _Layout:
    width_in_pt = POINTS_PER_INCH * look.width_in
    widest = max(width_pt(names[row], look.font_pt) for row in shown)
    is_headed = len(variants) > 1 or widest > _NAMES_WIDTH * width_in_pt
    place: list[float] = []
    labels: list[str] = []
    heads: list[tuple[float, str]] = []
    top, last = 0.0, None
    for row in shown:
        if is_headed and (last is None or names[row] != names[last] or len(variants) == 1):
            heads.append((top + 0.5 * _HEAD, shortened(names[row], _HEADS_WIDTH * width_in_pt, look.font_pt)))
            top += _HEAD
        last = row
        each = _BAR if is_headed else 1.0
        place.append(top + 0.5 * each)
        labels.append(_letter(variants.index(str(rows[row]["variant"]))) if len(variants) > 1 else names[row])
        top += each
    if is_headed and len(variants) == 1:
        labels = [""] * len(shown)
    return _Layout(place, labels, heads, top, 0.8 * (_BAR if is_headed else 1.0))


def _longest(rows: Sequence[dict[str, Any]], names: Sequence[str], variants: int, room: float) -> list[int]:
    """Rows that are drawn, those of a collective one after another: of as many collectives as have room."""
    longest: dict[str, float] = {}
    for row, name in enumerate(names):
        longest[name] = max(longest.get(name, 0.0), float(rows[row]["packet_us"]))
    # rows of one name and variant stand for themselves
    each = max(variants, -(-len(rows) // len(longest)))
    most = min(_MOST_BARS // each, int(room / (_HEAD + _BAR * each) if variants > 1 else room))
    kept = set(sorted(longest, key=lambda name: -longest[name])[: max(1, most)])
    mine = [row for row, name in enumerate(names) if name in kept]
    mine = sorted(sorted(mine, key=lambda row: -float(rows[row]["packet_us"]))[:_MOST_BARS])
    order = list(longest)
    return sorted(mine, key=lambda row: order.index(names[row]))


def _bare(name: str, row: dict[str, Any]) -> str:
    """The name of a row without its variant."""
    return name.removesuffix(f", {row['variant']}")


def _without_common(names: Sequence[str]) -> tuple[list[str], str]:
    """Names without the last words that all have in common, such as the iteration, and these words."""
    ends = {name.rpartition(", ")[2] if ", " in name else "" for name in names}
    if len(ends) != 1 or "" in ends or len(names) == 1:
        return list(names), ""
    (end,) = ends
    return [name.removesuffix(f", {end}") for name in names], end


def _said(rows: Sequence[dict[str, Any]], names: Sequence[str], shown: Sequence[int], common: str) -> list[str]:
    """What the title says of the bars: what all are of, and which are left out."""
    kept, whole = len({names[row] for row in shown}), len(set(names))
    text = "" if len(shown) == len(rows) else f"the {kept} of {whole} collectives that take longest"
    if len(shown) < len(rows) and kept == whole:
        text = f"the {len(shown)} of {len(rows)} bars that are longest"
    text = ", ".join(filter(None, (common, text)))
    return [text] if text else []


def _key(variants: Sequence[str]) -> list[str]:
    """A line a variant with its letter; keys without their tables, where no two of a line are then one."""
    if len(variants) == 1:
        return []
    lines = []
    for number, variant in enumerate(variants):
        short = [part.split("=")[0].rpartition(".")[2] for part in variant.split(", ")]
        is_clear = "=" in variant and len(set(short)) == len(short)
        text = re.sub(r"(^|, )(?:\w+\.)+(\w+=)", r"\1\2", variant) if is_clear else variant
        lines.append(f"{_letter(number)}  {text or 'as it is'}")
    return lines


def _letter(number: int) -> str:
    """A to Z, then AA to ZZ."""
    first, second = divmod(number, len(ascii_uppercase))
    return (ascii_uppercase[first - 1] if first else "") + ascii_uppercase[second]


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


def _bars(axes: Axes, place: Any, time: Any, left: Any, fill: Fill, label: str, thickness: float) -> Any:
    # hatches are in the colour of edges
    is_hatched = bool(fill.hatch)
    return axes.barh(
        place,
        time,
        left=left,
        height=thickness,
        facecolor=WHITE if is_hatched else fill.colour,
        edgecolor=(INK if fill.colour == WHITE else fill.colour) if is_hatched else "none",
        hatch=fill.hatch or None,
        label=label,
    )
