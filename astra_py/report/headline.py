# SPDX-License-Identifier: GPL-2.0-only
"""What a run comes down to: the collective that is most exposed, the link that it needs longest, and what bounds it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from astra_py.results.text import figure
from astra_py.units import format_size
from astra_py.workloads.calls import FLOWS

if TYPE_CHECKING:
    from astra_py.results.result import Result

__all__ = ["CAUSES", "Headline", "headline"]

#: What bounds a collective, in words; the table ``collectives`` has the keys in ``bottleneck``.
CAUSES = {
    "link": "the bandwidth of a link",
    "core": "a core of a host that works for TCP/IP",
    "copy": "the copy between an accelerator and its host",
    "pcie": "PCIe between an accelerator and its NIC",
    "window": "the window of a sender: it waits for acknowledgements",
    "congestion": "congestion control: it slows a sender",
    "pause": "PFC: a sender is made to pause",
    "latency": "latency: ways, switches, steps that wait for one another or for ranks that come late",
}


#: Share of what bounds a collective above which that is its own doing.
_MOSTLY = 0.8


@dataclass(frozen=True)
class Headline:
    """The most exposed collective of a run, as its row of the table ``collectives`` has it.

    Attributes
    ----------
    collective : row of the table.
    name, kind, algorithm : of the collective.
    size_bytes : as nccl-tests has it.
    iteration : that it belongs to.
    exposed_us, time_us : how much of its time is exposed.
    cause : ``bottleneck``; empty where nothing bounds it.
    cause_percent, cause_at : ``bottleneck_percent`` and ``bottleneck_at``.
    payload_link : ``bottleneck_link``, the link that its own payload needs longest.
    own_percent : of its time, what its own payload needs of its most loaded link (``ideal_time_us``).
    beside : other collectives that are under way in its time.
    """

    collective: int
    name: str
    kind: str
    algorithm: str
    size_bytes: int
    iteration: int
    exposed_us: float
    time_us: float
    cause: str
    cause_percent: float
    cause_at: str
    payload_link: str
    own_percent: float
    beside: int

    @property
    def busiest_link(self) -> str:
        """What bounds it where that is a link, else the one that its payload needs longest."""
        return self.cause_at if self.cause == "link" else self.payload_link

    @property
    def busiest_link_column(self) -> str:
        """Where the table ``collectives`` has :attr:`busiest_link`."""
        return "bottleneck_at" if self.cause == "link" else "bottleneck_link"

    @property
    def cause_in_words(self) -> str:
        """What bounds it, and for how much of its time."""
        return f"{CAUSES[self.cause]}, for {figure(self.cause_percent, 1)} % of its time" if self.cause else ""

    @property
    def sentence(self) -> str:
        """All of it in one sentence."""
        what = f"{self.name} ({self.kind}, {self.algorithm}, {format_size(self.size_bytes)})"
        start = (
            f"The most exposed collective is {what} of iteration {self.iteration}: {figure(self.exposed_us)} us of its "
            f"{figure(self.time_us)} us are exposed"
        )
        if not self.cause:
            return f"{start}."
        at = f", {self.cause_at}," if self.cause_at else ""
        bound = f"{start}, bound by {CAUSES[self.cause]}{at} for {figure(self.cause_percent, 1)} % of its time."
        if self.cause != "link" or self.beside == 0 or self.own_percent > _MOSTLY * self.cause_percent:
            return bound
        return (
            f"{bound} It shares that link with {self.beside} other collectives that are under way meanwhile: its own "
            f"payload needs {figure(self.own_percent, 1)} % of its time, the rest is waiting behind theirs."
        )


def headline(result: Result) -> Headline | None:
    """The most exposed collective of ``result``, the first of equals; None where no communication is exposed."""
    table = result.columns("collectives")
    exposed = np.where((table["kind"] == FLOWS) | np.isnan(table["exposed_us"]), 0, table["exposed_us"])
    if not (exposed > 0).any():
        return None
    row = int(np.argmax(exposed))
    cause, at = table["bottleneck"][row], table["bottleneck_at"][row]
    start, end = table["start_us"], table["start_us"] + table["time_us"]
    with np.errstate(invalid="ignore"):  # what never ended is under way with nobody
        is_beside = (start < end[row]) & (end > start[row]) & (table["kind"] != FLOWS)
    return Headline(
        collective=int(table["collective"][row]),
        name=table["name"][row],
        kind=table["kind"][row],
        algorithm=table["algorithm"][row],
        size_bytes=int(table["size_bytes"][row]),
        iteration=int(table["iteration"][row]),
        exposed_us=float(table["exposed_us"][row]),
        time_us=float(table["time_us"][row]),
        cause=cause,
        cause_percent=float(table["bottleneck_percent"][row]),
        cause_at=at,
        payload_link=table["bottleneck_link"][row],
        own_percent=float(100 * table["ideal_time_us"][row] / table["time_us"][row]),
        beside=int(is_beside.sum()) - 1,
    )
