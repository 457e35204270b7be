# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra_py.results.pools import check_limits, check_priorities, most_at_once
from astra_py.results.record import RunRecord
from astra_py.workloads import CollectiveCall, TraceBuilder
from result_cases import one_collective, with_columns

moments = st.tuples(st.integers(0, 2), st.integers(0, 12), st.integers(0, 4))


@given(st.lists(moments, max_size=12))
def test_the_sweep_is_a_count_at_every_moment(rows: list[tuple[int, int, int]]) -> None:
    pool, start, length = (
        (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
        if rows
        else (np.zeros(0, dtype=np.int64) for _ in range(3))
    )
    counted = [
        max(sum(p == which and s <= now < s + long for p, s, long in rows) for now in range(20)) for which in range(3)
    ]
    assert most_at_once(pool, start, start + length, 3).tolist() == counted


def _two_at(starts: list[int], *, streams: tuple[str, str] = ("compute", "compute")) -> RunRecord:
    """A collective of two ranks, and two computes of 10 ps on rank 0."""
    record = one_collective(ranks=2)
    build = TraceBuilder(2)
    build.collective(record.trace.calls[0])
    for stream in streams:
        build.compute([0], 10, name=stream, stream=stream)
    start = np.concatenate([record.columns.op_start_ps, starts])
    end = np.concatenate([record.columns.op_end_ps, np.array(starts) + 10])
    return with_columns(replace(record, trace=build.build()), op_start_ps=start, op_end_ps=end)


def test_a_stream_runs_one_node_at_a_time() -> None:
    assert check_limits(_two_at([0, 10])).passed
    assert check_limits(_two_at([5, 5], streams=("one", "other"))).passed
    failed = check_limits(_two_at([0, 9]))
    assert not failed.passed
    assert "stream 'compute' of rank 0, 2 at once: declared 1, measured 2" in str(failed)


@pytest.mark.parametrize(("limit", "passes"), [(None, True), (2, True), (1, False)])
def test_active_collectives_are_held_to_the_limit(limit: int | None, passes: bool) -> None:
    record = one_collective(ranks=2)
    build = TraceBuilder(2)
    for _ in range(2):
        build.collective(record.trace.calls[0])
    limited = replace(record, trace=build.build(), max_active_collectives=limit)
    times = {name: np.tile(getattr(record.columns, name), 2) for name in ("op_start_ps", "op_end_ps")}
    check = check_limits(with_columns(limited, **times))
    assert check.passed == passes
    assert passes or "active collectives of rank 0, 2 at once: declared 1, measured 2" in str(check)


def test_priorities_are_those_of_the_calls() -> None:
    record = one_collective(ranks=3)
    build = TraceBuilder(3)
    build.collective(CollectiveCall(name="urgent", kind="all_reduce", group=(0, 1, 2), size_bytes=40_000, priority=6))
    raised = replace(
        record.schedule, instance_priority=np.array([6], dtype=np.uint8), priority=np.full(3, 6, dtype=np.uint8)
    )
    assert check_priorities(record).passed
    assert check_priorities(replace(record, trace=build.build(), schedule=raised)).passed
    lost = replace(record, trace=build.build(), schedule=replace(raised, priority=np.array([6, 0, 6], dtype=np.uint8)))
    assert "urgent on rank 1: declared 6, measured 0" in str(check_priorities(lost))
    assert "urgent: declared 6, measured 0" in str(check_priorities(replace(record, trace=build.build())))
