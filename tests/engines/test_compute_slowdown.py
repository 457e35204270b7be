# SPDX-License-Identifier: GPL-2.0-only
"""Compute beside collectives at a slower pace: cases by hand, a plain model of random ones, and what does not slow."""

from __future__ import annotations

from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import astra_py as ap
from astra_py.errors import CheckError, ConfigError
from astra_py.workloads import CollectiveCall, FlowList, Trace, TraceBuilder, flow_call
from trace_cases import RANKS, TraceRun, traces

ENGINES = ("packet", "analytic")
US = 10**6
#: At 8 Gb/s a byte is a nanosecond; the analytic engine has no packets, so that 1 MB and its headers take about 1 ms.
STAR = {"platform": {"kind": "single_switch", "ranks": RANKS, "link_rate": "8Gbps"}}


def run(trace: Trace, *overrides: str) -> ap.Result:
    return TraceRun(trace, *overrides, source=STAR).run()


def beside_a_message(compute_ps: int, size_bytes: int = 10**5) -> Trace:
    """Ranks 0 and 1 compute from time 0 on, beside a message from the one to the other."""
    build = TraceBuilder(RANKS)
    build.compute([0, 1], compute_ps, name="work")
    build.collective(CollectiveCall(name="send", kind="sendrecv", group=(0, 1), size_bytes=size_bytes))
    return build.build()


def ends(result: ap.Result, name: str) -> list[int]:
    operations = result.operations
    return operations[operations["name"] == name]["end_ps"].tolist()


@pytest.mark.parametrize("engine", ENGINES)
def test_work_within_a_collective_takes_its_factor(engine: str) -> None:
    result = run(beside_a_message(7), "system.compute_slowdown=1.5", f"engine={engine}")
    assert ends(result, "work") == [11, 11]  # 10.5, and it ends in the first picosecond by which all is done


@pytest.mark.parametrize("engine", ENGINES)
def test_work_that_outlasts_a_collective_goes_on_at_full_pace(engine: str) -> None:
    compute_ps = 10**9
    result = run(beside_a_message(compute_ps), "system.compute_slowdown=1.25", f"engine={engine}")
    for part, end in zip(ends(result, "send"), ends(result, "work"), strict=True):
        assert 10**8 < part < 2 * 10**8
        assert end == compute_ps + part - part * 4 // 5


@pytest.mark.parametrize("engine", ENGINES)
def test_a_collective_may_begin_in_the_middle_of_work(engine: str) -> None:
    build = TraceBuilder(RANKS)
    wait = build.memory([0, 1], 30 * US, name="wait")
    build.compute([0, 1], 50 * US, name="work")
    build.collective(CollectiveCall(name="send", kind="sendrecv", group=(0, 1), size_bytes=10**6), after=wait)
    result = run(build.build(), "system.compute_slowdown=3", f"engine={engine}")
    assert ends(result, "work") == [(30 + 3 * 20) * US] * 2


def test_an_iteration_is_the_slowed_compute_that_hides_its_collective() -> None:
    # forward 100 us, then backward 300 us beside the all-reduce: all of the 300 us are beside it, or all but its rest
    build = TraceBuilder(RANKS)
    everyone = tuple(range(RANKS))
    forward = build.compute(everyone, 100 * US, name="forward")
    build.compute(everyone, 300 * US, name="backward", after=forward)
    call = CollectiveCall(name="sum", kind="all_reduce", group=everyone, size_bytes=10**5)
    build.collective(call, after=forward)
    trace = build.build()
    plain = run(trace)
    part = int(plain.collectives["time_ps"][0])
    assert part < 300 * US
    slowed = run(trace, "system.compute_slowdown=1.6")
    assert slowed.collectives["time_ps"][0] == part
    assert slowed.iterations["time_ps"][0] == 400 * US + part - part * 5 // 8
    assert slowed.iterations["compute_us"][0] == slowed.iterations["time_us"][0]


@pytest.mark.parametrize("engine", ENGINES)
def test_flows_slow_nothing(engine: str) -> None:
    build = TraceBuilder(RANKS)
    build.compute([0, 1], 50 * US, name="work")
    build.collective(flow_call("background", FlowList([0], [1], [10**5], [0])))
    result = run(build.build(), "system.compute_slowdown=2", f"engine={engine}")
    assert ends(result, "work") == [50 * US] * 2


def model(result: ap.Result, trace: Trace, factor: Fraction) -> list[int]:
    """When each local operation ends, from its start and the times of the collectives at its rank, step by step."""
    operations = result.operations
    found = []
    for node in np.flatnonzero(trace.call < 0).tolist():
        own = trace.is_collective & (trace.rank == trace.rank[node])
        spans = operations[["start_ps", "end_ps"]].to_numpy()[own].tolist()
        now, left = Fraction(int(operations["start_ps"][node])), Fraction(int(trace.duration_ps[node]))
        while left > 0:
            pace = 1 / factor if any(start <= now < end for start, end in spans) else Fraction(1)
            later = [moment for span in spans for moment in span if moment > now]
            until = min([now + left / pace, *map(Fraction, later)])
            left -= (until - now) * pace
            now = until
        found.append(-(-now.numerator // now.denominator))
    return found


@settings(max_examples=60)
@given(traces(), st.sampled_from(["1.001", "1.5", "7.3"]))
def test_random_work_ends_when_a_plain_model_says(trace: Trace, factor: str) -> None:
    if not any(call.flows is not None or call.buffer_bytes for call in trace.calls):
        return
    result = run(trace, f"system.compute_slowdown={factor}", "engine=analytic")
    local = np.flatnonzero(trace.call < 0)
    assert result.operations["end_ps"].to_numpy()[local].tolist() == model(result, trace, Fraction(factor))


def test_a_factor_of_one_is_no_slowdown() -> None:
    trace = beside_a_message(50 * US)
    plain, one = run(trace), run(trace, "system.compute_slowdown=1")
    assert plain.operations.equals(one.operations)
    assert plain.counters["events"] == one.counters["events"]


@pytest.mark.parametrize("factor", ["0.99", "1001", "'fast'"])
def test_a_factor_is_at_least_one(factor: str) -> None:
    with pytest.raises(ConfigError, match=r"system\.compute_slowdown: .* allowed: a number from 1 to 1000"):
        run(beside_a_message(1), f"system.compute_slowdown={factor}")


def test_work_that_took_another_time_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from astra_py.engines.analytic import AnalyticEngine

    honest = AnalyticEngine.run

    def wrong(self, schedule, platform, transport, options):  # type: ignore[no-untyped-def]
        columns = honest(self, schedule, platform, transport, options)
        columns.op_end_ps[np.argmax(schedule.duration_ps)] += 2
        return columns

    monkeypatch.setattr(AnalyticEngine, "run", wrong)
    with pytest.raises(CheckError, match="durations"):
        run(beside_a_message(50 * US), "system.compute_slowdown=1.5", "engine=analytic")
