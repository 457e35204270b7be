# SPDX-License-Identifier: GPL-2.0-only
"""Random Traces, and what the tests of their transforms look at."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import hypothesis.strategies as st
import numpy as np

from astra_py.api import Run
from astra_py.config import load_scenario
from astra_py.workloads import CollectiveCall, FlowList, Trace, TraceBuilder
from astra_py.workloads.flow_job import flow_call

RANKS = 4


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    """Computes, memory work, collectives and flows of four ranks over up to three iterations, waiting at random."""
    build = TraceBuilder(RANKS)
    last: list[int] = [-1] * RANKS
    older: list[int] = [-1] * RANKS
    for number in range(draw(st.integers(1, 10))):
        iteration, phase = draw(st.integers(0, 2)), draw(st.sampled_from(["forward", "backward"]))
        kind = draw(st.sampled_from(["compute", "memory", "all_reduce", "all_gather", "all_to_all_v", "flows"]))
        group = draw(st.lists(st.integers(0, RANKS - 1), min_size=2, max_size=RANKS, unique=True))
        matrix = np.arange(len(group) ** 2).reshape(len(group), -1) * draw(st.integers(0, 1000))
        size = draw(st.integers(0, 10**6))
        name = f"{kind}{number}"
        if kind == "flows":
            flows = FlowList([group[0]] * 2, [group[1]] * 2, [size, 3], [draw(st.integers(0, 100)), 0])
            call = flow_call(name, flows)
            group = list(call.group)
        after = [np.array([(last if draw(st.booleans()) else older)[rank] for rank in group])]
        if kind == "compute":
            ids = build.compute(group, size, name=name, after=after, iteration=iteration, phase=phase)
        elif kind == "memory":
            ids = build.memory(group, size, name=name, after=after, iteration=iteration, phase=phase)
        else:
            if kind != "flows":
                payload = {"matrix": matrix} if kind == "all_to_all_v" else {"size_bytes": size}
                call = CollectiveCall(name=name, kind=kind, group=tuple(group), iteration=iteration, **payload)
            ids = build.collective(call, after=after, phase=phase)
        for rank, node in zip(group, ids.tolist(), strict=True):
            older[rank], last[rank] = last[rank], node
    return build.build()


def ancestors(trace: Trace) -> list[set[int]]:
    """Per node, all nodes that are over before it starts."""
    found: list[set[int]] = []
    for node in range(len(trace)):
        before = trace.dep_node[trace.dep_ptr[node] : trace.dep_ptr[node + 1]].tolist()
        found.append(set(before).union(*(found[each] for each in before)))
    return found


def total_bytes(trace: Trace) -> int:
    """Bytes in all buffers of all calls."""
    return sum(call.buffer_bytes for call in trace.calls)


def same(one: Trace, other: Trace) -> bool:
    """Whether two Traces are equal, label by label."""
    columns = one.to_pandas().equals(other.to_pandas())
    return columns and [call.name for call in one.calls] == [call.name for call in other.calls]


class TraceRun(Run):
    """A scenario whose work is ``trace``."""

    def __init__(self, trace: Trace, *overrides: str, source: Mapping[str, Any] | None = None) -> None:
        super().__init__(load_scenario(source or {}, overrides), alone=("sendrecv", 1, (0, 1)))
        self._given = trace

    @cached_property
    def trace(self) -> Trace:
        return self._given
