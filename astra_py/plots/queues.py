# SPDX-License-Identifier: GPL-2.0-only
"""The fullest queues over time, and when their ports were made to pause."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from astra_py.errors import ConfigError
from astra_py.plots.bins import link_bins
from astra_py.plots.caption import caption
from astra_py.plots.figure import drawing, legend_above
from astra_py.plots.style import OTHERS, SERIES
from astra_py.plots.units import byte_unit, time_unit
from astra_py.results.intervals import IntervalSet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from astra_py.results.result import Result

__all__ = ["plot_queues"]

_PORTS = 6
#: Of the highest queue: ports without as much as this would be lines at zero.
_LEAST_SHARE = 0.01
#: Height of a strip of pauses, as a share of the highest queue.
_STRIP = 0.035


def plot_queues(result: Result, ports: int = _PORTS, *, ax: Axes | None = None, size: str = "paper") -> Axes:
    """Draw the most bytes that waited, or were being sent, at the fullest egress ports in each bin of time.

    Ports whose queue never had a hundredth of the highest one's bytes are left out.
    Below are strips: when each of these ports was made to pause by PFC, and, in black, when any other was.

    Parameters
    ----------
    result : of a run.
    ports : how many, those with the fullest queues.
    ax, size : as :func:`~astra_py.plots.timeline.plot_timeline` takes them.

    Raises
    ------
    ConfigError : the run kept no ``link_bins``, no port had a queue, ``ports`` is not from 1 to the number of colours,
        or matplotlib is not installed.
    """
    if not 1 <= ports <= len(SERIES):
        raise ConfigError(f"queues of {ports} ports; allowed: 1 to {len(SERIES)}, which can be told apart")
    bins = link_bins(result, "max_queue_bytes")
    fullest = bins.values.max(axis=1)
    ordered = np.argsort(-fullest, kind="stable")[:ports].tolist()
    shown = [each for each in ordered if fullest[each] > _LEAST_SHARE * fullest.max()]
    if not shown:
        raise ConfigError("no port had a queue: there is nothing to draw")
    links, pauses = result.columns("links"), result.columns("pauses")
    with drawing(ax, size, 0.5, caption(result, tables=["link_bins", "pauses"])) as axes:
        from matplotlib.patches import Patch

        time = time_unit(float(bins.edges_us[-1]) * 1e6)
        amount = byte_unit(float(fullest.max()))
        edges = bins.edges_us * 1e6 / time.size
        highest = float(fullest.max()) / amount.size
        handles: list[Any] = []
        strips = 0
        for colour, channel in zip(SERIES, shown, strict=False):
            label = f"{links['from'][channel]} to {links['to'][channel]}"
            handles.append(
                axes.stairs(bins.values[channel] / amount.size, edges, color=colour, label=label, baseline=None)
            )
            strips += _strip(axes, pauses, pauses["channel"] == channel, colour, strips, highest, time.size)
        is_other = ~np.isin(pauses["channel"], shown)
        if is_other.any():
            strips += _strip(axes, pauses, is_other, OTHERS, strips, highest, time.size)
            handles.append(Patch(color=OTHERS, label="another port was held"))
        axes.set(xlabel=f"time since the start ({time.name})", ylabel=f"longest queue ({amount.name})")
        axes.set(xlim=(edges[0], edges[-1]), ylim=(-(strips + 0.5) * _STRIP * highest if strips else 0, 1.05 * highest))
        axes.set_yticks([tick for tick in axes.get_yticks() if 0 <= tick <= 1.05 * highest])
        axes.grid(axis="y")
        held = ", strips below: held by PFC" if strips else ""
        legend_above(
            axes, handles, f"the {len(shown)} fullest ports{held}" if len(shown) > 1 else f"the fullest port{held}"
        )
    return axes


def _strip(axes: Axes, pauses: Any, rows: Any, colour: str, number: int, highest: float, unit: float) -> bool:
    """Draw the pauses ``rows`` as strip ``number`` below the axis; whether there are any."""
    if not rows.any():
        return False
    held = IntervalSet(pauses["start_ps"][rows], pauses["end_ps"][rows])
    low = -(number + 1) * _STRIP * highest
    axes.broken_barh(
        list(zip(held.start / unit, (held.end - held.start) / unit, strict=True)),
        (low, 0.7 * _STRIP * highest),
        facecolors=colour,
        linewidth=0,
    )
    return True
