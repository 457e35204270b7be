# SPDX-License-Identifier: GPL-2.0-only
"""Workloads: what every rank computes and which collectives it takes part in, as a :class:`Trace`."""

from astra_py.workloads.astra_text import AstraLayer, AstraPass, AstraTextModel, read_astra_text
from astra_py.workloads.calls import COLLECTIVE_KINDS, CollectiveCall
from astra_py.workloads.trace import NodeKind, Trace
from astra_py.workloads.trace_builder import TraceBuilder
from astra_py.workloads.training_loop import training_trace

__all__ = [
    "COLLECTIVE_KINDS",
    "AstraLayer",
    "AstraPass",
    "AstraTextModel",
    "CollectiveCall",
    "NodeKind",
    "Trace",
    "TraceBuilder",
    "read_astra_text",
    "training_trace",
]
