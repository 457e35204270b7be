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
    busiest_link : what bounds it where that is a link, else the one that its payload needs longest.
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
    busiest_link: str

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
        return f"{start}, bound by {CAUSES[self.cause]}{at} for {figure(self.cause_percent, 1)} % of its time."


def headline(result: Result) -> Headline | None:
    """The most exposed collective of ``result``, the first of equals; None where no communication is exposed."""
    table = result.columns("collectives")
    exposed = np.where((table["kind"] == FLOWS) | np.isnan(table["exposed_us"]), 0, table["exposed_us"])
    if not (exposed > 0).any():
        return None
    row = int(np.argmax(exposed))
    cause, at = table["bottleneck"][row], table["bottleneck_at"][row]
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
        busiest_link=at if cause == "link" else table["bottleneck_link"][row],
    )
