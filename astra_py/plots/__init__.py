# SPDX-License-Identifier: GPL-2.0-only
"""Pictures of results: functions that draw on axes of matplotlib, which is imported when one is called.

Each draws from the tables and the manifest of results alone, so that a saved result gives the picture that the run
gives. Without axes it makes a figure for paper or a slide, with a caption; ``docs/plots.md`` shows them all.
"""

from __future__ import annotations

from astra_py.plots.busbw import plot_busbw, read_rows
from astra_py.plots.caption import caption
from astra_py.plots.figure import save_figure
from astra_py.plots.flows import plot_flows
from astra_py.plots.kinds import KINDS, draw
from astra_py.plots.links import plot_links
from astra_py.plots.queues import plot_queues
from astra_py.plots.timeline import plot_timeline
from astra_py.plots.topology import plot_topology
from astra_py.plots.traffic import plot_traffic
from astra_py.plots.why import plot_why, read_why

__all__ = [
    "KINDS",
    "caption",
    "draw",
    "plot_busbw",
    "plot_flows",
    "plot_links",
    "plot_queues",
    "plot_timeline",
    "plot_topology",
    "plot_traffic",
    "plot_why",
    "read_rows",
    "read_why",
    "save_figure",
]
