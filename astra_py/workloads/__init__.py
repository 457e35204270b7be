# SPDX-License-Identifier: GPL-2.0-only
"""Workloads: what every rank computes and which collectives it takes part in, as a :class:`Trace`."""

from astra_py.workloads import jobs  # noqa: F401  (it registers the built-in ones)
from astra_py.workloads.astra_text import AstraLayer, AstraPass, AstraTextModel, read_astra_text
from astra_py.workloads.calls import COLLECTIVE_KINDS, CollectiveCall
from astra_py.workloads.flows import FlowList
from astra_py.workloads.registry import Job, build_job, workload
from astra_py.workloads.trace import NodeKind, Trace
from astra_py.workloads.trace_builder import TraceBuilder
from astra_py.workloads.training_loop import training_trace

__all__ = [
    "COLLECTIVE_KINDS",
    "AstraLayer",
    "AstraPass",
    "AstraTextModel",
    "CollectiveCall",
    "FlowList",
    "Job",
    "NodeKind",
    "Trace",
    "TraceBuilder",
    "build_job",
    "read_astra_text",
    "training_trace",
    "workload",
]
