# SPDX-License-Identifier: GPL-2.0-only
"""A job that is a list of flows and nothing else."""

from __future__ import annotations

import numpy as np

from astra_py.workloads.calls import FLOWS, CollectiveCall
from astra_py.workloads.flows import FlowList
from astra_py.workloads.trace import Trace
from astra_py.workloads.trace_builder import TraceBuilder

__all__ = ["flow_call", "flow_trace"]


def flow_call(name: str, flows: FlowList, *, priority: int = 0) -> CollectiveCall:
    """One call for all of ``flows``, whose ends are ranks of the job: its group are the ranks that take part.

    Raises
    ------
    WorkloadError : there is no flow, or a value that a call does not allow.
    """
    if not len(flows):
        raise flows.error(f"{name!r} has no flow")
    group, within = flows.compact()
    return CollectiveCall(name=name, kind=FLOWS, group=group, flows=within, priority=priority, source=flows.source)


def flow_trace(ranks: int, flows: FlowList, *, name: str = FLOWS, priority: int = 0) -> Trace:
    """The Trace of ``ranks`` ranks in which all that happens are ``flows``, from the job's start on.

    Raises
    ------
    WorkloadError : there is no flow, or one is of a rank that the job does not have.
    """
    build = TraceBuilder(ranks)
    known = flows.between(np.arange(ranks, dtype=np.int32))
    build.collective(flow_call(name, known, priority=priority))
    return build.build()
