# SPDX-License-Identifier: GPL-2.0-only
"""What figures have in common: their look, a legend and a caption outside the data, files that are the same twice."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from astra_py.errors import ConfigError
from astra_py.plots.style import INK, FigureSize, figure_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

__all__ = [
    "FORMATS",
    "POINTS_PER_INCH",
    "are_beside",
    "drawing",
    "figure_of",
    "legend_above",
    "most_rows",
    "plain_log",
    "require_format",
    "require_pyplot",
    "rows_height",
    "save_figure",
    "shortened",
    "side_bar",
    "whole_numbers",
    "width_pt",
]

#: Endings of the files that a figure can be written to.
FORMATS = ("svg", "pdf", "png")
#: Of text and lines.
POINTS_PER_INCH = 72
_DECADE = 10
#: In sizes of the font: width of a legend's handle and its gaps, height of a line of text, and of a row with a name.
_HANDLE, _LINE, _ROW = 3.8, 1.6, 1.9
#: Lines of a legend with its title, of a caption, and of all that is around the data, that a figure's height is for.
_LEGEND_LINES, _CAPTION_LINES, _LINES = 3, 2, 8.5
#: Share of a figure's width that text has.
_TEXT_WIDTH = 0.97
#: Share of its width that axes keep at least, when names and ticks have taken their room.
_DATA_WIDTH = 0.9
#: So that the ids in an SVG are the same each time.
_SALT = "astra-py"


def require_pyplot() -> Any:
    """Matplotlib's pyplot.

    Raises
    ------
    ConfigError : matplotlib is not installed.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ConfigError("a plot needs matplotlib: pip install 'astra-py[plot]'") from None
    return plt


def _look(size: FigureSize) -> dict[str, Any]:
    """Matplotlib's parameters of a figure of this size."""
    thin = size.line_pt / 2
    return {
        "font.size": size.font_pt,
        **{f"{part}size": size.font_pt for part in ("axes.title", "axes.label", "xtick.label", "ytick.label")},
        "axes.titlelocation": "left",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "legend.fontsize": size.font_pt,
        "legend.title_fontsize": size.font_pt,
        "legend.frameon": False,
        "lines.linewidth": size.line_pt,
        "lines.markersize": 3.5 * size.line_pt,
        "hatch.linewidth": thin,
        **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK),
        **dict.fromkeys(("axes.linewidth", "xtick.major.width", "ytick.major.width", "grid.linewidth"), thin),
        **dict.fromkeys(("xtick.minor.width", "ytick.minor.width"), thin / 2),
        "grid.color": "#DDDDDD",
    }


def figure_of(ax: Axes) -> Figure:
    """The whole figure that ``ax`` is in."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    return figure


def whole_numbers(axis: Axis) -> None:
    """Let an axis have ticks at whole numbers alone, as of ranks."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(nbins="auto", steps=[1, 2, 5, 10], integer=True))


@contextmanager
def drawing(ax: Axes | None, size: str, height: float, caption: str) -> Iterator[Axes]:
    """Give the axes to draw on: ``ax``, or new ones of a figure with a caption, which is dropped where drawing fails.

    Parameters
    ----------
    ax : where to draw, in the look of its own figure; a new figure where None.
    size : one of :data:`~astra_py.plots.style.SIZES`, of a new figure.
    height : of a new figure of that size, as a share of its width.
    caption : under a new figure.

    Raises
    ------
    ConfigError : matplotlib is not installed, or there is no such size.
    """
    look = figure_size(size)
    plt = require_pyplot()
    if ax is not None:
        yield ax
        return
    with plt.rc_context(_look(look)):
        figure = plt.figure(figsize=(look.width_in, look.width_in * height * look.stretch), layout="constrained")
        try:
            yield figure.add_subplot()
        except BaseException:
            plt.close(figure)
            raise
        _add_caption(figure, caption, look)


def _add_caption(figure: Figure, caption: str, look: FigureSize) -> None:
    """Write a caption below everything else, in as many lines as it needs."""
    font_pt = look.font_pt - 1
    text = _wrapped(caption, _TEXT_WIDTH * look.width_in * POINTS_PER_INCH, font_pt)
    _grow(figure, text.count("\n") + 1 - _CAPTION_LINES, font_pt)
    # the layout makes room for the figure's own label, and for no other text
    figure.supxlabel(text, x=0.01, ha="left", fontsize=font_pt, color=INK)


def rows_height(rows: float, size: str) -> float:
    """Height of a figure with so many rows whose names are written beside them, as a share of its width."""
    look = figure_size(size)
    return (_LINE * _LINES + _ROW * rows) * look.font_pt / (POINTS_PER_INCH * look.width_in * look.stretch)


def most_rows(size: str, lines: int = 0) -> float:
    """Rows with names that the highest figure of a size has, whose legend has so many more lines."""
    look = figure_size(size)
    return (look.tallest_in * POINTS_PER_INCH / look.font_pt - _LINE * (_LINES + lines)) / _ROW


def _font_pt(key: Literal["legend.fontsize", "xtick.labelsize"]) -> float:
    """Size of a font that one of matplotlib's parameters has, as a number or a word."""
    import matplotlib as mpl
    from matplotlib.font_manager import FontProperties

    return float(FontProperties(size=mpl.rcParams[key]).get_size_in_points())


def width_pt(text: str, font_pt: float) -> float:
    """How wide a line of text is, in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    width, _, _ = text_to_path.get_text_width_height_descent(text, FontProperties(size=font_pt), ismath=False)
    return float(width)


def are_beside(ax: Axes, labels: Sequence[str]) -> bool:
    """Whether so many labels, evenly below ``ax``, have room side by side; the first and last stand out by a half."""
    font_pt = _font_pt("xtick.labelsize")
    room_pt = _DATA_WIDTH * figure_of(ax).get_figwidth() * ax.get_position().width * POINTS_PER_INCH
    widest = max((width_pt(label, font_pt) for label in labels), default=0.0)
    return len(labels) < 2 or (widest + 0.5 * font_pt) * (len(labels) - 1) <= room_pt


def shortened(text: str, room_pt: float, font_pt: float) -> str:
    """``text`` without as much of its middle as does not fit into this width."""
    kept, short = len(text), text
    while kept > 1 and width_pt(short, font_pt) > room_pt:
        kept -= 1
        short = f"{text[: kept - kept // 2]}…{text[len(text) - kept // 2 :]}"
    return short


def _wrapped(text: str, room_pt: float, font_pt: float) -> str:
    """``text`` with its words in as many lines as it needs, of this width; its own lines begin new ones."""
    lines: list[str] = []
    for given in text.splitlines():
        line = ""
        for word in given.split(" "):
            if line and width_pt(f"{line} {word}", font_pt) > room_pt:
                lines.append(line)
                line = word
            else:
                line = f"{line} {word}" if line else word
        lines.append(line)
    return "\n".join(lines)


def _grow(figure: Figure, lines: int, font_pt: float) -> None:
    """Make a figure higher by so many lines of text, if any, so that they take nothing from the data."""
    figure.set_figheight(figure.get_figheight() + max(0, lines) * _LINE * font_pt / POINTS_PER_INCH)


def legend_above(ax: Axes, handles: Sequence[Any], title: str | None = None) -> None:
    """Put a legend above the data, in as few rows as fit; above all of the figure where nothing else is in it.

    A figure that has nothing else in it becomes higher where the legend has more than a few lines.

    Parameters
    ----------
    ax : the axes that are explained.
    handles : what is explained, each with a label; where there is none, the title stands alone.
    title : of the legend: what the figure shows.
    """
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure = figure_of(ax)
    font_pt = _font_pt("legend.fontsize")
    room_pt = _TEXT_WIDTH * figure.get_figwidth() * POINTS_PER_INCH
    is_alone = figure.axes == [ax] and isinstance(figure.get_layout_engine(), ConstrainedLayoutEngine)
    place: dict[str, Any] = {"loc": "outside upper left"}
    if not is_alone:
        place = {"loc": "lower left", "bbox_to_anchor": (0, 1)}
    labels = [_wrapped(str(handle.get_label()), room_pt - _HANDLE * font_pt, font_pt) for handle in handles]
    columns = _columns(labels, room_pt, font_pt)
    if labels:
        # matplotlib takes no empty list
        place["labels"] = labels
    title = title and _wrapped(title, room_pt, font_pt)
    if is_alone:
        lines = sum(label.count("\n") + 1 for label in labels) / columns
        _grow(figure, math.ceil(lines) + (title.count("\n") + 1 if title else 0) - _LEGEND_LINES, font_pt)
    (figure if is_alone else ax).legend(
        handles=handles,
        ncols=columns,
        borderaxespad=0.2,
        borderpad=0.2,
        columnspacing=1.2,
        handlelength=1.6,
        title=title,
        alignment="left",
        **place,
    )


def _columns(labels: Sequence[str], room_pt: float, font_pt: float) -> int:
    """The most columns of a legend, filled one after another, that ``room_pt`` holds."""
    longest = np.array([max(width_pt(line, font_pt) for line in label.splitlines() or [""]) for label in labels])
    for columns in range(len(labels), 1, -1):
        # as matplotlib fills them
        widths = [float(part.max()) + _HANDLE * font_pt for part in np.array_split(longest, columns)]
        if sum(widths) <= room_pt:
            return columns
    return 1


def plain_log(ax: Axes, axis: Literal["x", "y"]) -> None:
    """Make an axis logarithmic where its data go beyond a factor of ten, with plain numbers either way."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = (float(end) for end in (ax.dataLim.intervalx if axis == "x" else ax.dataLim.intervaly))
    which = ax.xaxis if axis == "x" else ax.yaxis
    if low > 0 and high > _DECADE * low:
        ax.set(**{f"{axis}scale": "log"})
        which.set_major_locator(LogLocator(subs=(1, 2, 5) if high < _DECADE**2 * low else (1,)))
        which.set_minor_formatter(NullFormatter())
    which.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))


def side_bar(ax: Axes, image: Any, label: str) -> Any:
    """Put the scale of the colours of ``image`` beside ``ax``, as high as that, with plain numbers."""
    from matplotlib.colors import LogNorm
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    figure = figure_of(ax)
    bar = figure.colorbar(image, cax=ax.inset_axes((1.03, 0, 0.03, 1)), label=label)
    low, high = image.get_clim()
    if isinstance(image.norm, LogNorm) and high < _DECADE**2 * low:
        bar.ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        bar.ax.yaxis.set_minor_formatter(NullFormatter())
    bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    return bar


def require_format(path: Path) -> str:
    """The format that a file's name asks for.

    Raises
    ------
    ConfigError : its ending is none of :data:`FORMATS`.
    """
    form = path.suffix.lower().removeprefix(".")
    if form not in FORMATS:
        allowed = ", ".join(f".{name}" for name in FORMATS)
        raise ConfigError(f"{path}: a figure is written by its name's ending; allowed: {allowed}")
    return form


def save_figure(ax: Axes, path: str | Path) -> Path:
    """Write the figure of ``ax`` as SVG, PDF or PNG, by the name's ending, and close it.

    The same figure gives the same file, byte for byte.

    Raises
    ------
    ConfigError : the ending is none of :data:`FORMATS`, or the file cannot be written.
    """
    plt = require_pyplot()
    path = Path(path)
    form = require_format(path)
    figure = figure_of(ax)
    # without the moment at which it is written
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[form]
    # papers ask for fonts that are no Type 3
    steady = {"svg.hashsalt": _SALT, "pdf.fonttype": 42, "savefig.dpi": 300}
    try:
        with plt.rc_context(steady):
            figure.savefig(path, format=form, metadata=metadata)
    except OSError as error:
        raise ConfigError(f"{path}: the figure cannot be written: {error.strerror or error}") from error
    finally:
        plt.close(figure)
    return path
