# SPDX-License-Identifier: GPL-2.0-only
"""Colours of everything that is shown, and the sizes of figures.

The palette is that of Okabe and Ito, "Color Universal Design", 2008: eight colours that people with any common form of
colour blindness tell apart. One thing has one colour, in plots and reports alike; where a picture has two
things of one colour, such as two kinds of all-to-all, the second takes another. Amounts are shown in cividis (Nunez,
Anderton, Renslow, PLOS ONE 13(7), 2018), whose lightness changes evenly for everybody; the more, the darker.

Nothing here needs matplotlib, so that whatever is no plot may use it too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from astra_py.errors import ConfigError, did_you_mean

__all__ = [
    "AMOUNTS",
    "BOTTLENECKS",
    "COLLECTIVES",
    "COMMUNICATION",
    "COMPUTE",
    "DASHES",
    "EXPOSED",
    "IDLE",
    "INK",
    "MEASURED",
    "MEMORY",
    "MOST_SERIES",
    "OTHERS",
    "PARTS",
    "SERIES",
    "SIZES",
    "STEPS",
    "FigureSize",
    "Fill",
    "collective_colour",
    "collective_colours",
    "figure_size",
    "line_look",
]

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILLION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
GREY, DARK_GREY, LIGHT_GREY, WHITE = "#B0B0B0", "#707070", "#E4E4E4", "#FFFFFF"

#: Text and lines that are no data.
INK = "#222222"
#: Operations that compute.
COMPUTE = GREEN
#: Communication of any kind, where kinds of collectives are not told apart.
COMMUNICATION = BLUE
#: Communication that nothing hides.
EXPOSED = VERMILLION
#: Memory work alone, such as an update delay.
MEMORY = YELLOW
#: Neither computes nor communicates.
IDLE = LIGHT_GREY
#: What was measured on a machine.
MEASURED = BLACK

#: Collectives by kind; :func:`collective_colour` has one for any kind.
COLLECTIVES: Mapping[str, str] = {
    "all_reduce": BLUE,
    "all_to_all": SKY,
    "all_to_all_v": SKY,
    "reduce_scatter": PURPLE,
    "all_gather": ORANGE,
}


#: Colours of kinds that have none of their own, or not alone, beside those of kinds that are not in the picture.
_SPARE = (BLACK, DARK_GREY, PURPLE, ORANGE, SKY)


class Fill(NamedTuple):
    """How an area is filled: a colour, and matplotlib's hatch or "" for none."""

    colour: str
    hatch: str = ""


#: What bounds a collective (``bottleneck`` of the table ``collectives``).
BOTTLENECKS: Mapping[str, str] = {
    "link": BLUE,
    "core": ORANGE,
    "copy": YELLOW,
    "pcie": SKY,
    "window": PURPLE,
    "congestion": GREEN,
    "pause": BLACK,
    "latency": GREY,
}
#: Parts of a critical path (:class:`astra_py.analysis.stretches.Part`), coloured as the bottlenecks that they are like.
PARTS: Mapping[str, Fill] = {
    "payload": Fill(BLUE),
    "headers": Fill(SKY),
    "propagation": Fill(GREY),
    "switching": Fill(DARK_GREY),
    "queueing": Fill(VERMILLION),
    "host": Fill(ORANGE),
    "pools": Fill(YELLOW),
    "window": Fill(PURPLE),
    "pauses": Fill(BLACK),
    "congestion_control": Fill(GREEN),
    "loss_recovery": Fill(VERMILLION, "xxxx"),
    "waiting_for_others": Fill(LIGHT_GREY),
    "unexplained": Fill(WHITE, "////"),
}
#: Lines side by side in which more is darker, such as percentiles.
STEPS = (SKY, BLUE, BLACK)
#: What no line of :data:`SERIES` may be taken for.
OTHERS = BLACK
#: Lines side by side that are of no kind of their own, in order.
SERIES = (BLUE, ORANGE, GREEN, VERMILLION, PURPLE, SKY, DARK_GREY, YELLOW)
#: Dashes of lines whose colours of :data:`SERIES` come again, time by time.
DASHES = ("-", (0, (4, 1.5)), (0, (1, 1)))
#: Lines that can be told apart.
MOST_SERIES = len(SERIES) * len(DASHES)
#: matplotlib's name of the colours of amounts.
AMOUNTS = "cividis_r"


def collective_colour(kind: str) -> str:
    """Colour of a kind of collective: of :data:`COLLECTIVES`, else :data:`COMMUNICATION`."""
    return COLLECTIVES.get(kind, COMMUNICATION)


def collective_colours(kinds: Iterable[str]) -> dict[str, str]:
    """A colour for each of ``kinds`` in one picture: their own; where that is taken, one that no kind has.

    Kinds beyond the number of colours are all grey.
    """
    listed = list(dict.fromkeys(kinds))
    found: dict[str, str] = {}
    for kind in listed:
        if kind in COLLECTIVES and COLLECTIVES[kind] not in found.values():
            found[kind] = COLLECTIVES[kind]
    free = [colour for colour in (COMMUNICATION, *_SPARE) if colour not in found.values()]
    for kind in listed:
        if kind not in found:
            found[kind] = free.pop(0) if free else GREY
    return {kind: found[kind] for kind in listed}


def line_look(number: int) -> dict[str, Any]:
    """Colour and dashes of line ``number``, from 0, of up to :data:`MOST_SERIES` that are of no kind of their own."""
    turn, place = divmod(number, len(SERIES))
    return {"color": SERIES[place], "linestyle": DASHES[turn]}


@dataclass(frozen=True)
class FigureSize:
    """How wide a figure is, and how large what is written in it.

    Attributes
    ----------
    width_in, tallest_in : inches; how high a figure is at most, if what is in it can be less.
    font_pt : points, of ticks, legends and labels; the caption is a point smaller.
    line_pt : points, of lines of data.
    stretch : how much higher a figure is for its width than one of two columns, so that its text has room.
    """

    width_in: float
    tallest_in: float
    font_pt: float
    line_pt: float
    stretch: float


#: One and two columns of a paper (IEEE's template has 3.5 in and 7.16 in, ACM's 3.33 in and 7 in), and a slide of 16:9.
SIZES: Mapping[str, FigureSize] = {
    "column": FigureSize(width_in=3.35, tallest_in=8.5, font_pt=7, line_pt=1.0, stretch=1.5),
    "paper": FigureSize(width_in=6.9, tallest_in=8.5, font_pt=8, line_pt=1.2, stretch=1.0),
    "slide": FigureSize(width_in=12, tallest_in=9, font_pt=16, line_pt=2.4, stretch=1.1),
}


def figure_size(name: str) -> FigureSize:
    """A size by its name.

    Raises
    ------
    ConfigError : there is none of this name.
    """
    if name not in SIZES:
        raise ConfigError(f"a figure of size {name!r}{did_you_mean(name, SIZES)}; allowed: {', '.join(SIZES)}")
    return SIZES[name]
