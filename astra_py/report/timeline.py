# SPDX-License-Identifier: GPL-2.0-only
"""Timelines of a report as SVG: one rank's last iteration in lanes, and what all ranks do meanwhile."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.plots.style import COMPUTE, EXPOSED, MEMORY, collective_colour
from astra_py.results.intervals import IntervalSet
from astra_py.results.trace_lanes import gaps

if TYPE_CHECKING:
    from astra_py.results.result import Result

__all__ = ["rank_timeline", "ranks_timeline"]

#: Sizes in SVG's own units: of a lane and its gap, of the names at the left, of the whole.
_LANE, _GAP, _NAMES, _WIDTH, _AXIS = 16, 4, 190, 960, 26
#: Lanes of collectives and ranks that are drawn.
_MOST_LANES, _MOST_RANKS = 24, 32
#: Slices narrower than this are drawn so wide: less would not be seen.
_THINNEST = 0.6
_TICKS = 8


class _Scale:
    """From picoseconds to places, and the ticks of the axis."""

    def __init__(self, begin: int, end: int) -> None:
        self.begin, self.end = begin, max(end, begin + 1)

    def x(self, moment: float) -> float:
        share = (min(max(moment, self.begin), self.end) - self.begin) / (self.end - self.begin)
        return _NAMES + share * (_WIDTH - _NAMES - 10)

    def axis(self, bottom: int) -> Iterator[str]:
        """Ticks at round numbers of microseconds, from the window's begin."""
        length = (self.end - self.begin) / 1e6
        step = 10 ** np.floor(np.log10(length / _TICKS))
        step = next(step * each for each in (1, 2, 5, 10) if length / (step * each) <= _TICKS)
        for number in range(int(length / step) + 1):
            x = self.x(self.begin + number * step * 1e6)
            yield f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{bottom}"/>'
            yield f'<text x="{x:.1f}" y="{bottom + 13}" text-anchor="middle">{number * step:,.10g}</text>'
        yield f'<text x="{_WIDTH - 8}" y="{bottom + 25}" text-anchor="end">µs from the start of the iteration</text>'

    def bar(self, start: int, end: int, top: float, height: float, colour: str, title: str) -> str:
        """A slice; its title is shown where a pointer rests on it."""
        left, right = self.x(start), self.x(end)
        width = max(right - left, _THINNEST)
        shown = f"<title>{escape(title)}</title>" if title else ""
        place = f'x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}"'
        return f'<rect {place} fill="{colour}">{shown}</rect>'


def _svg(label: str, height: int, parts: list[str]) -> str:
    return (
        f'<svg class="timeline" role="img" viewBox="0 0 {_WIDTH} {height}" aria-label="{escape(label)}">'
        f"{''.join(parts)}</svg>"
    )


def _name(text: str, top: float) -> str:
    shown = text if len(text) <= 30 else text[:29] + "…"
    return f'<text x="{_NAMES - 6}" y="{top + 12:.1f}" text-anchor="end">{escape(shown)}</text>'


def _window(result: Result) -> tuple[int, int, int, int]:
    """The last iteration that ends last: its rank, number, begin and end in ps."""
    table = result.columns("iterations")
    begins = np.round(table["start_us"] * 1e6).astype(np.int64)
    row = int(np.argmax(begins + table["time_ps"]))
    begin = int(begins[row])
    return int(table["rank"][row]), int(table["iteration"][row]), begin, begin + int(table["time_ps"][row])


def _slices(result: Result, begin: int, end: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of operations that run in the window, and the end of each operation."""
    table = result.columns("operations")
    ends = np.where(table["end_ps"] < 0, result.manifest["run"]["time_ps"], table["end_ps"])
    return np.flatnonzero((table["start_ps"] >= 0) & (table["start_ps"] < end) & (ends > begin)), ends


def rank_timeline(result: Result) -> tuple[str, str]:
    """The last iteration of the rank that ends the run, and what the picture is of; empty texts without iterations.

    Operations whose names differ in numbers alone share a lane. Where nothing is computed, all lanes are shaded.
    """
    if not len(result.columns("iterations")["rank"]):
        return "", ""
    rank, iteration, begin, end = _window(result)
    table = result.columns("operations")
    rows, ends = _slices(result, begin, end)
    rows = rows[table["rank"][rows] == rank]
    starts = table["start_ps"]
    lanes: dict[tuple[str, str], list[int]] = {}
    for row in rows[np.argsort(starts[rows], kind="stable")].tolist():
        kind = str(table["kind"][row])
        name = re.sub(r"[._]?[0-9]+", "", str(table["name"][row])) if kind == "collective" else kind
        lanes.setdefault((kind, name), []).append(row)
    shown = dict(sorted(lanes.items(), key=lambda lane: lane[0][0] != "compute")[:_MOST_LANES])
    scale = _Scale(begin, end)
    bottom = len(shown) * (_LANE + _GAP) + _GAP
    computes = rows[table["kind"][rows] == "compute"]
    exposed = list(gaps(IntervalSet(starts[computes], ends[computes]), begin, end))
    parts = [
        scale.bar(low, high, 0, bottom, EXPOSED, "").replace("<rect", '<rect class="shade"') for low, high in exposed
    ]
    parts += scale.axis(bottom)
    kinds = dict(zip(*(result.columns("collectives")[key].tolist() for key in ("collective", "kind")), strict=True))
    for number, ((kind, name), operations) in enumerate(shown.items()):
        top = _GAP + number * (_LANE + _GAP)
        parts.append(_name(name, top))
        for row in operations:
            colour = {"compute": COMPUTE, "memory": MEMORY}.get(kind) or collective_colour(
                kinds.get(int(table["collective"][row]), "")
            )
            title = f"{table['name'][row]}: {(ends[row] - starts[row]) / 1e6:,.3f} µs"
            parts.append(scale.bar(int(starts[row]), int(ends[row]), top, _LANE, colour, title))
    share = sum(high - low for low, high in exposed) / max(end - begin, 1)
    iterations = result.columns("iterations")
    own = iterations["exposed_percent"][(iterations["iteration"] == iteration) & (iterations["rank"] == rank)][-1]
    said = (
        f"Rank {rank}, which ends the run, in iteration {iteration}: {(end - begin) / 1e6:,.3f} µs, of which it does "
        f"not compute for {100 * share:.1f} %, shaded"
    )
    if abs(100 * share - own) >= 0.05:
        # a rank computes for iterations ahead, or has done so
        said += f"; its exposed communication is {own:.1f} %, since compute counts for the iteration that it is of"
    if len(shown) < len(lanes):
        said += f"; {len(shown)} of {len(lanes)} lanes"
    return _svg(said, bottom + _AXIS + 4, parts), said


def ranks_timeline(result: Result) -> tuple[str, str]:
    """What each rank does in the last iteration, a bar a rank; of many ranks some, evenly apart; and what it shows.

    Ranks of which the table has no operations (``results.max_rows``) are not among them.
    """
    ranks = int(result.manifest["platform"]["ranks"])
    if not len(result.columns("iterations")["rank"]) or ranks < 2:
        return "", ""
    _, iteration, begin, end = _window(result)
    table = result.columns("operations")
    rows, ends = _slices(result, begin, end)
    scale = _Scale(begin, end)
    there = np.unique(table["rank"])
    shown = there[np.unique(np.linspace(0, len(there) - 1, _MOST_RANKS).round().astype(int))].tolist()
    height = _LANE * 0.75
    bottom = round(len(shown) * (height + 2)) + _GAP
    parts = list(scale.axis(bottom))
    for number, rank in enumerate(shown):
        top = number * (height + 2) + 2
        parts.append(_name(f"rank {rank}", top - 2))
        mine = rows[table["rank"][rows] == rank]
        for kind, colour in (("collective", EXPOSED), ("memory", MEMORY), ("compute", COMPUTE)):
            which = mine[table["kind"][mine] == kind]
            union = IntervalSet(table["start_ps"][which], ends[which])
            parts += [
                scale.bar(low, high, top, height, colour, "")
                for low, high in zip(union.start.tolist(), union.end.tolist(), strict=True)
                if low < high
            ]
    some = f"{len(shown)} of {ranks:,} ranks, evenly apart" if len(shown) < ranks else "all ranks"
    said = f"Iteration {iteration}, {some}: computing, or communicating without computing"
    return _svg(said, bottom + _AXIS + 4, parts), said
