# SPDX-License-Identifier: GPL-2.0-only
"""Small runs that pages speak of as ``run``: between them they have rows in every table."""

from __future__ import annotations

from functools import cache

import astra_py as ap
from astra_py.results import Result
from documents import ROOT

#: Two machines of four, a DLRM with uneven tables, an incast beside it, and switches with little room: everything that
#: RoCE has to tell. A step of the DLRM of 2020 over lossy TCP whose bytes are copied to host memory: what hosts have.
RUNS: dict[str, tuple[str, ...]] = {
    "roce": (
        "workloads/zionex_2x8.toml",
        "platform.accelerators_per_node=4",
        "platform.ranks_per_leaf=4",
        "workload.local_batch=64",
        "switch.buffer=400kB",
        "switch.lossless=[0]",
        "switch.ecn_kmin=20kB",
        "switch.ecn_kmax=80kB",
        "transport.congestion_control=dcqcn",
        "background.incast.kind=incast",
        "background.incast.receiver=0",
        "background.incast.size=200kB",
    ),
    "tcp": (
        "workloads/astra2020_16.toml",
        "platform.ranks=4",
        "platform.ranks_per_leaf=2",
        "platform.link_loss=0.001",
        "transport.kind=tcp",
        "host.preset=kernel_tcp",
        "host.staging=always",
    ),
}


@cache
def run_named(name: str) -> Result:
    """The run of a page's comment ``<!-- run: NAME -->``, made once in a process.

    Raises
    ------
    KeyError : there is no such run.
    """
    scenario, *overrides = RUNS[name]
    return ap.load(ROOT / scenario, *overrides).run()
