# SPDX-License-Identifier: GPL-2.0-only
"""Pictures of a report: those of ``astra_py.plots``, as SVG inside the page."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from astra_py import plots
from astra_py.errors import ConfigError

if TYPE_CHECKING:
    from astra_py.analysis.comparison import Comparison
    from astra_py.results.result import Result

__all__ = ["Picture", "has_pictures", "pictures_of", "why_picture"]

#: Each picture of a result: its title and its function, and what it shows in words.
_OF_A_RESULT: tuple[tuple[str, Callable[..., Any], str], ...] = (
    ("Bus bandwidth", plots.plot_busbw, "Bus bandwidth of the collectives against their size"),
    ("Topology", plots.plot_topology, "The platform, its links coloured by their utilisation"),
    ("Links over time", plots.plot_links, "Utilisation of each direction of each link over time, the busiest on top"),
    ("Queues over time", plots.plot_queues, "Most bytes that waited at the fullest ports over time"),
    ("Flows", plots.plot_flows, "Distribution of completion times of flows, or of messages where there are no flows"),
    ("Traffic", plots.plot_traffic, "Bytes that each rank, or each machine, sends to each other one"),
)


@dataclass(frozen=True)
class Picture:
    """A picture as the page has it: a title, words for who does not see it, and an SVG as a data URL."""

    title: str
    alt: str
    url: str


def has_pictures() -> bool:
    """Whether matplotlib is installed, which pictures need."""
    return find_spec("matplotlib") is not None


def pictures_of(result: Result) -> Iterator[Picture]:
    """The pictures of a result that have something to draw; none without matplotlib."""
    if not has_pictures():
        return
    for title, draw, alt in _OF_A_RESULT:
        try:
            axes = draw(result)
        except ConfigError:
            # this run has nothing of the kind, such as queues of an engine without ports
            continue
        yield Picture(title, alt, _data_url(axes))


def why_picture(comparison: Comparison) -> Picture | None:
    """The bars of where the time of packet runs went; None where there is nothing to draw, or no matplotlib."""
    if not has_pictures() or not len(comparison.why):
        return None
    axes = plots.plot_why(comparison)
    return Picture("Where the time went", "Parts of each collective's critical path, a bar each", _data_url(axes))


def _data_url(axes: Any) -> str:
    with tempfile.TemporaryDirectory() as folder:
        picture = plots.save_figure(axes, Path(folder) / "picture.svg").read_bytes()
    return f"data:image/svg+xml;base64,{base64.b64encode(picture).decode()}"
