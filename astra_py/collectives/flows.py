# SPDX-License-Identifier: GPL-2.0-only
"""A list of flows as a template: one message a flow, posted at the flow's start, and waiting for nothing.

Flows are not a collective library's: neither its protocol nor its limits are theirs.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from astra_py.collectives.builder import ScheduleBuilder
from astra_py.collectives.closed_forms import Pairs
from astra_py.collectives.schedule import Template
from astra_py.collectives.system import SystemModel
from astra_py.workloads.calls import FLOWS
from astra_py.workloads.flows import FlowList

__all__ = ["ALGORITHM", "flow_pairs", "flow_template"]

#: What tables call the way in which flows are sent.
ALGORITHM = "direct"


def flow_template(ranks: int, flows: FlowList, system: SystemModel | None = None) -> Template:
    """The template of a group of ``ranks`` members with these flows in its coordinates; message ``i`` is flow ``i``."""
    build = ScheduleBuilder(FLOWS, ALGORITHM, ranks, system)
    if len(flows):
        build.send(flows.src, flows.dst, flows.size_bytes, blocks=np.arange(len(flows)), delay_ps=flows.start_ps)
    return replace(build.build(), payload=flows)


def flow_pairs(flows: FlowList) -> Pairs:
    """Sender, receiver and bytes of each flow: what a list declares, which needs no template."""
    return flows.src.astype(np.int64), flows.dst.astype(np.int64), flows.size_bytes
