# SPDX-License-Identifier: GPL-2.0-only
"""How long flows, or messages, take: the distribution of completion times, and percentiles of slowdown by size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from astra_py.errors import ConfigError
from astra_py.plots.caption import caption
from astra_py.plots.collective_kinds import kinds_of
from astra_py.plots.figure import drawing, legend_above, plain_log
from astra_py.plots.style import INK, MOST_SERIES, STEPS, collective_colours, line_look
from astra_py.plots.units import byte_unit, time_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from astra_py.results.result import Result

__all__ = ["SLOWDOWN", "TIME", "plot_flows"]

#: What is drawn of the flows.
TIME, SLOWDOWN = "time", "slowdown"
#: Points of a distribution; more are not told apart on paper.
_MOST_POINTS = 1000
#: Percentiles of slowdown, as the papers on congestion control give them.
_PERCENTILES = (50, 95, 99)
#: Groups of flows of equal number by size, and how many flows one has at least.
_MOST_GROUPS, _FEWEST_FLOWS = 20, 10


def plot_flows(result: Result, of: str = TIME, *, ax: Axes | None = None, size: str = "paper") -> Axes:
    """Draw the distribution of completion times of a run's flows, or percentiles of their slowdown by size.

    Times are of the table ``flows``, a line a job; where a run has none, of its messages, from posting to delivery, a
    line a kind of collective. Slowdown is the completion time over that of the flow alone; flows are put into groups of
    equal number by size, of one size in one group.

    Parameters
    ----------
    result : of a run.
    of : "time" or "slowdown".
    ax, size : as :func:`~astra_py.plots.timeline.plot_timeline` takes them.

    Raises
    ------
    ConfigError : the run has no flows and no messages, or no flows for their slowdown, or matplotlib is not installed.
    """
    if of not in (TIME, SLOWDOWN):
        raise ConfigError(f"flows: of {of!r}; allowed: {TIME}, {SLOWDOWN}")
    if of == SLOWDOWN:
        return _plot_slowdown(result, ax, size)
    what, times = _times(result)
    with drawing(ax, size, 0.5, caption(result, tables=[f"{what}s"])) as axes:
        largest = max(float(each.max()) for each in times.values())
        unit = time_unit(largest)
        handles: list[Any] = []
        colours = collective_colours(times)
        drawn = sorted(sorted(times, key=lambda name: -len(times[name]))[:MOST_SERIES], key=list(times).index)
        for number, name in enumerate(drawn):
            each = times[name]
            shares = np.linspace(0, 100, min(len(each), _MOST_POINTS))
            label = f"{name or 'all'}: {len(each):,} {what}{'' if len(each) == 1 else 's'}"
            look = line_look(number) if what == "flow" else {"color": colours[name]}
            values = np.percentile(each, shares) / unit.size
            # from 0: below the shortest time there is nothing
            handles += axes.plot(np.append(values[:1], values), np.append(0, shares), label=label, **look)
        plain_log(axes, "x")
        everything = np.concatenate(list(times.values()))
        marks = ", ".join(f"p{share} {_figure(np.percentile(everything, share) / unit.size)}" for share in (50, 99))
        axes.set(xlabel=f"{what} completion time ({unit.name})", ylabel=f"{what}s (%)", ylim=(0, 100))
        axes.grid(True)
        some = f"the {len(drawn)} of {len(times)} jobs with most flows; all: " if len(drawn) < len(times) else ""
        legend_above(axes, handles, f"{some}{marks} {unit.name}, longest {_figure(largest / unit.size)} {unit.name}")
    return axes


def _times(result: Result) -> tuple[str, dict[str, NDArray[np.float64]]]:
    """What is timed, and times in ps by job or kind of collective."""
    flows = result.columns("flows")
    if len(flows["flow"]):
        done = flows["time_ps"] >= 0
        names, times, what = flows["job"][done], flows["time_ps"][done], "flow"
    else:
        messages = result.columns("messages")
        done = (messages["posted_ps"] >= 0) & (messages["delivered_ps"] >= 0)
        names = kinds_of(result, messages["collective"][done])
        times, what = (messages["delivered_ps"] - messages["posted_ps"])[done], "message"
    if not len(times):
        raise ConfigError("the run has no flows and no messages that were delivered: there is nothing to draw")
    return what, {str(name): times[names == name].astype(float) for name in dict.fromkeys(names.tolist())}


def _plot_slowdown(result: Result, ax: Axes | None, size: str) -> Axes:
    flows = result.columns("flows")
    done = np.isfinite(flows["slowdown"])
    if not done.any():
        raise ConfigError(
            "the run has no flows with a slowdown; allowed: of runs whose workload or background is lists of flows, "
            "or completion times (of time)"
        )
    sizes, slowdowns = flows["size_bytes"][done], flows["slowdown"][done]
    groups = _by_size(sizes)
    with drawing(ax, size, 0.5, caption(result, tables=["flows"])) as axes:
        unit = byte_unit(float(np.sqrt(float(sizes.min()) * float(sizes.max()))))
        middles = [float(np.median(sizes[group])) / unit.size for group in groups]
        handles: list[Any] = []
        for number, share in enumerate(_PERCENTILES):
            values = [float(np.percentile(slowdowns[group], share)) for group in groups]
            look: dict[str, Any] = {"color": STEPS[number], "marker": "osD"[number]}
            handles += axes.plot(middles, values, label=f"p{share}", **look)
        axes.axhline(1, color=INK, linewidth=0.5, zorder=0)
        plain_log(axes, "x")
        plain_log(axes, "y")
        if len(groups) == 1:
            axes.set_xticks(middles)
        axes.set(xlabel=f"flow size ({unit.name})", ylabel="slowdown (time / time alone)")
        axes.grid(True)
        legend_above(
            axes, handles, f"{len(sizes):,} flows in {len(groups)} group{'s' if len(groups) > 1 else ''} by size"
        )
    return axes


def _by_size(sizes: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Indices of flows in groups by size, of about equal number; flows of one size are never parted."""
    order = np.argsort(sizes, kind="stable")
    count = max(1, min(_MOST_GROUPS, len(sizes) // _FEWEST_FLOWS))
    cuts = np.searchsorted(sizes[order], sizes[order][np.arange(1, count) * len(sizes) // count])
    return [group for group in np.split(order, np.unique(cuts)) if len(group)]


def _figure(value: float) -> str:
    return f"{value:,.3g}" if value < 1000 else f"{value:,.0f}"
