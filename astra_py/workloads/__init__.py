# SPDX-License-Identifier: GPL-2.0-only
"""Workloads: what every rank computes and which collectives it takes part in, as a :class:`Trace`."""

from astra_py.workloads import jobs  # noqa: F401  (it registers the built-in ones)
from astra_py.workloads.astra_text import AstraLayer, AstraPass, AstraTextModel, read_astra_text
from astra_py.workloads.calls import COLLECTIVE_KINDS, CollectiveCall
from astra_py.workloads.flow_job import flow_call, flow_trace
from astra_py.workloads.flows import FlowList
from astra_py.workloads.joining import JobTrace, joined
from astra_py.workloads.registry import Job, build_job, workload
from astra_py.workloads.scaling import scaled, weakly_scaled
from astra_py.workloads.trace import NodeKind, PlacedJob, Trace
from astra_py.workloads.trace_builder import TraceBuilder
from astra_py.workloads.training_loop import training_trace
from astra_py.workloads.trimming import repeated, trimmed

__all__ = [
    "COLLECTIVE_KINDS",
    "AstraLayer",
    "AstraPass",
    "AstraTextModel",
    "CollectiveCall",
    "FlowList",
    "Job",
    "JobTrace",
    "NodeKind",
    "PlacedJob",
    "Trace",
    "TraceBuilder",
    "build_job",
    "flow_call",
    "flow_trace",
    "joined",
    "read_astra_text",
    "repeated",
    "scaled",
    "training_trace",
    "trimmed",
    "weakly_scaled",
    "workload",
]
