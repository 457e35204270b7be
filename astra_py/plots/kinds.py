# SPDX-License-Identifier: GPL-2.0-only
"""The kinds of pictures by name, drawn from what is on disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from astra_py.errors import ConfigError, did_you_mean
from astra_py.plots.busbw import plot_busbw, read_rows
from astra_py.plots.flows import plot_flows
from astra_py.plots.links import plot_links
from astra_py.plots.queues import plot_queues
from astra_py.plots.timeline import plot_timeline
from astra_py.plots.topology import plot_topology
from astra_py.plots.traffic import plot_traffic
from astra_py.plots.why import plot_why, read_why
from astra_py.results.store import read_result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from astra_py.results.result import Result

__all__ = ["KINDS", "draw", "require_options"]

#: Each kind, and the options that it takes.
KINDS: Mapping[str, tuple[str, ...]] = {
    "timeline": ("rank", "iteration", "job"),
    "busbw": ("log",),
    "why": (),
    "topology": (),
    "links": (),
    "queues": ("ports",),
    "flows": ("of",),
    "traffic": (),
}
#: Those that draw one result.
_OF_ONE: Mapping[str, Callable[..., Axes]] = {
    "timeline": plot_timeline,
    "links": plot_links,
    "topology": plot_topology,
    "queues": plot_queues,
    "flows": plot_flows,
    "traffic": plot_traffic,
}


def require_options(kind: str, sources: int, options: Mapping[str, Any]) -> None:
    """Check that there is such a kind, and that it takes so many sources and these options.

    Raises
    ------
    ConfigError : it does not.
    """
    if kind not in KINDS:
        raise ConfigError(f"plot {kind!r}{did_you_mean(kind, KINDS)}; allowed: {', '.join(KINDS)}")
    for name in options:
        if name not in KINDS[kind]:
            takers = ", ".join(taker for taker, names in KINDS.items() if name in names)
            raise ConfigError(f"plot {kind} does not take {name}; allowed: with {takers or 'none'}")
    if sources != 1 and (kind != "busbw" or not sources):
        raise ConfigError(f"plot {kind}: {sources} results are given; allowed: one; several with busbw")


def draw(
    kind: str, sources: Sequence[str | Path], *, size: str = "paper", ax: Axes | None = None, **options: Any
) -> Axes:
    """Draw results that are on disk, as ``astra-py plot`` does.

    Parameters
    ----------
    kind : one of :data:`KINDS`.
    sources : the folder of a result; for why, what ``astra-py compare --out`` wrote; for busbw, any number of
        folders of results and of files with rows of ``astra-py collective --json``.
    size : of a new figure: "column", "paper" (two columns) or "slide".
    ax : where to draw; new axes, with a caption, where None.
    options : of the kind, as its function takes them; ``log`` of busbw is a file.

    Raises
    ------
    ConfigError : there is no such kind, it does not take such sources or options, these cannot be read or have nothing
        to draw, or matplotlib is not installed.
    """
    require_options(kind, len(sources), options)
    paths = [Path(source) for source in sources]
    if kind == "busbw":
        return _busbw(paths, options.get("log"), size, ax)
    if kind == "why":
        return plot_why(read_why(paths[0]), ax=ax, size=size)
    return _OF_ONE[kind](read_result(paths[0]), **options, ax=ax, size=size)


def _busbw(paths: Sequence[Path], log: str | Path | None, size: str, ax: Axes | None) -> Axes:
    from astra_py.formats import Kind, read

    sources: list[Result | Any] = [read_result(path) if path.is_dir() else read_rows(path) for path in paths]
    measured = None if log is None else read(Path(log), kinds=(Kind.MEASUREMENTS,)).content
    names = [path.name if path.is_dir() else path.stem for path in paths] if len(paths) > 1 else []
    log_name = "" if log is None else Path(log).name
    return plot_busbw(*sources, names=names, log=measured, log_name=log_name, ax=ax, size=size)
