# SPDX-License-Identifier: GPL-2.0-only
"""Streams and limits of each rank: what may be under way together, and in which order the rest comes."""

from __future__ import annotations

import numpy as np
import pytest

from astra_py.collectives.schedule import PoolOrder
from astra_py.engines.base import ExitReason
from astra_py.workloads import TraceBuilder
from astra_py.workloads.adjusted import prioritised
from shared_jobs import ENGINES, call_of, run_trace

RANKS = 4


@pytest.mark.parametrize("engine", ENGINES)
def test_collectives_of_one_stream_go_one_after_another(engine: str) -> None:
    build = TraceBuilder(RANKS)
    for name, stream in (("a", "nccl"), ("b", "nccl"), ("c", "other"), ("d", None)):
        build.collective(call_of("all_to_all", 80_000, range(RANKS), "direct", name=name), stream=stream)
    _, columns = run_trace(engine, build.build())
    start, end = columns.op_start_ps.reshape(4, RANKS), columns.op_end_ps.reshape(4, RANKS)
    assert columns.exit_reason == ExitReason.COMPLETED
    assert (start[[0, 2, 3]] == 0).all()
    assert np.array_equal(start[1], end[0]), "each rank goes on when it is done itself"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("order", "rule", "names"),
    [
        (PoolOrder.FIFO, "workload", "abcd"),
        (PoolOrder.LIFO, "workload", "adcb"),
        (PoolOrder.PRIORITY, "workload", "abcd"),
        (PoolOrder.PRIORITY, "all_to_all_first", "acbd"),
    ],
)
def test_the_order_of_those_that_wait(engine: str, order: PoolOrder, rule: str, names: str) -> None:
    """The first one is there before any other waits; of the rest, ``c`` is the all-to-all."""
    build = TraceBuilder(RANKS)
    for name in "abcd":
        kind = "all_to_all" if name == "c" else "all_reduce"
        build.collective(call_of(kind, 80_000, range(RANKS), "direct", name=name))
    trace = prioritised(build.build(), rule)
    schedule, columns = run_trace(engine, trace, scheduling=order, max_active_collectives=1)
    assert columns.exit_reason == ExitReason.COMPLETED
    for rank in range(RANKS):
        mine = np.flatnonzero(schedule.rank == rank)
        by_start = mine[np.argsort(columns.op_start_ps[mine])]
        assert "".join(schedule.names[schedule.name[op]] for op in by_start) == names
