# SPDX-License-Identifier: GPL-2.0-only
"""Runs as such: how they end, what they leave behind, and what they say where they do not end."""

from __future__ import annotations

import dataclasses
import signal
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import pytest

import astra_py._ns3_ext as native
from astra_py.api import Run, one_collective
from astra_py.collectives.schedule import Schedule
from astra_py.config import load_scenario
from astra_py.engines.analytic import AnalyticEngine
from astra_py.engines.base import Engine, EngineColumns, ExitReason
from astra_py.engines.flow import FlowEngine
from astra_py.engines.packet import PacketEngine
from astra_py.engines.resolve import engine_options
from astra_py.errors import ConfigError

ENGINES = [PacketEngine(), FlowEngine(), AnalyticEngine()]


def job_of(kind: str, size_bytes: int, *overrides: str) -> Run:
    return one_collective(load_scenario({}, list(overrides)), kind, size_bytes)


def run(engine: Engine, job: Run, schedule: Schedule | None = None, **options: Any) -> EngineColumns:
    chosen = dataclasses.replace(engine_options(job.scenario), **options)
    return engine.run(schedule or job.schedule, job.platform, job.transport, chosen)


def assert_equal(one: EngineColumns, other: EngineColumns) -> None:
    for field in dataclasses.fields(EngineColumns):
        np.testing.assert_equal(getattr(one, field.name), getattr(other, field.name), field.name)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_a_run_equals_a_fresh_one_whatever_ran_before(engine: Engine) -> None:
    jobs = [
        job_of("all_reduce", 300_000, "platform.ranks=6"),
        job_of("all_to_all", 70_001, "platform.ranks=9", "platform.kind=leaf_spine", "platform.ranks_per_leaf=3"),
        job_of("all_to_all", 50_000, "platform.ranks=4", "platform.link_loss=0.05"),
    ]
    first = [run(engine, job) for job in jobs]
    for _ in range(3):
        for job, columns in zip(reversed(jobs), reversed(first), strict=True):
            assert_equal(run(engine, job), columns)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_a_member_that_never_joins_is_named(engine: Engine) -> None:
    job = job_of("all_reduce", 1000, "platform.ranks=4")
    full = job.schedule
    keep = full.rank != 2
    schedule = dataclasses.replace(
        full,
        **{name: getattr(full, name)[keep] for name in ("kind", "rank", "duration_ps", "instance", "member")},
        **{name: getattr(full, name)[keep] for name in ("priority", "name", "iteration", "phase")},
        dep_ptr=np.zeros(keep.sum() + 1, np.int64),
        use_ptr=np.zeros(keep.sum() + 1, np.int64),
    )
    columns = run(engine, job, schedule)
    assert columns.exit_reason == ExitReason.DEADLOCK
    assert any("waits for rank 2 to join" in line for line in columns.waiting)
    assert any("from rank 2 to rank 3" in line and "not posted yet" in line for line in columns.waiting)
    # The process is as good as new.
    assert run(engine, job).exit_reason == ExitReason.COMPLETED


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_limits_end_a_run_and_say_so(engine: Engine) -> None:
    job = job_of("all_reduce", 1_000_000, "platform.ranks=4")
    whole = run(engine, job)
    events = whole.counters["events"]
    assert run(engine, job, max_events=events).exit_reason == ExitReason.COMPLETED
    assert run(engine, job, max_events=events // 2).exit_reason == ExitReason.EVENT_LIMIT
    cut = run(engine, job, max_time_ps=whole.end_ps // 2)
    assert cut.exit_reason == ExitReason.TIME_LIMIT
    assert cut.waiting
    assert_equal(run(engine, job), whole)


@pytest.mark.parametrize("fault", ["drop_message", "double_message", "swap_sizes"])
@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_faults_are_committed(engine: Engine, fault: str) -> None:
    job = job_of("all_reduce", 10_001, "platform.ranks=4")
    good, bad = run(engine, job), run(engine, job, fault=fault)
    assert bad.exit_reason == ExitReason.COMPLETED
    if fault == "double_message":
        assert len(bad.message_op) == len(good.message_op) + 1
    elif fault == "drop_message":
        assert (bad.message_delivered_bytes != bad.message_size_bytes).sum() == 1
    else:
        by_op = [dict(zip(c.message_op, c.message_delivered_bytes, strict=True)) for c in (good, bad)]
        assert sum(by_op[0][op] != by_op[1][op] for op in by_op[0]) == 2


def test_an_interrupt_ends_a_run_and_leaves_the_process_usable() -> None:
    job = job_of("all_reduce", 1 << 31, "platform.ranks=8", "transport.payload=256B")
    before = signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(KeyboardInterrupt):
            run(PacketEngine(), job)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    small = job_of("all_reduce", 1000)
    assert run(PacketEngine(), small).exit_reason == ExitReason.COMPLETED


def test_progress_is_told_while_python_goes_on() -> None:
    job = job_of("all_reduce", 64 << 20, "platform.ranks=8", "transport.payload=256B")
    seen: list[tuple[int, int, int, int]] = []
    run(PacketEngine(), job, progress=lambda *now: seen.append(now))
    assert seen
    times, events, done, ops = zip(*seen, strict=True)
    assert list(times) == sorted(times)
    assert list(events) == sorted(events)
    assert set(ops) == {8}
    assert all(0 <= d <= 8 for d in done)


def test_an_error_of_the_progress_callback_comes_out() -> None:
    def fail(*_: int) -> None:
        raise ZeroDivisionError

    job = job_of("all_reduce", 256 << 20, "platform.ranks=8", "transport.payload=256B")
    with pytest.raises(ZeroDivisionError):
        run(PacketEngine(), job, progress=fail)


def test_runs_of_several_threads_take_turns() -> None:
    jobs = [job_of("all_reduce", size_bytes, "platform.ranks=8") for size_bytes in (1 << 20, 2 << 20, 3 << 20)]
    one_by_one = [run(PacketEngine(), job).end_ps for job in jobs]
    with ThreadPoolExecutor(len(jobs)) as threads:
        assert [columns.end_ps for columns in threads.map(partial(run, PacketEngine()), jobs)] == one_by_one


def test_a_run_from_a_runs_own_progress_is_refused_and_does_not_wait_for_itself() -> None:
    job = job_of("all_reduce", 256 << 20, "platform.ranks=8", "transport.payload=256B")
    with pytest.raises(ConfigError, match="one simulator"):
        run(PacketEngine(), job, progress=lambda *_: run(PacketEngine(), job_of("all_reduce", 1000)))


def test_ns3_has_one_packet_simulation_at_a_time() -> None:
    job = job_of("all_reduce", 1000)
    parts = (job.schedule, job.platform, job.transport, engine_options(job.scenario))
    first = PacketEngine().prepare(*parts)
    try:
        with pytest.raises(ConfigError, match="one simulator"):
            PacketEngine().prepare(*parts)
        assert first.run().exit_reason == ExitReason.COMPLETED
        with pytest.raises(ConfigError, match="runs once"):
            first.run()
    finally:
        first.close()
    first.close()
    with pytest.raises(ConfigError, match="runs once"):
        first.run()


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("ns3::NoSuchClass::X", "1", "no such class"),
        ("ns3::RoceNic::NoSuch", "1", "no such attribute"),
        ("ns3::RoceNic::InitialPsn", "16777216", "does not accept"),
        ("ns3::FabricDevice::DataRate", "1", "read-only"),
    ],
)
def test_ns3_defaults_are_checked(name: str, value: str, says: str) -> None:
    job = job_of("all_reduce", 1000)
    with pytest.raises(ConfigError, match=says) as refused:
        run(PacketEngine(), job, ns3_defaults={name: value})
    assert name in str(refused.value)
    assert run(PacketEngine(), job).exit_reason == ExitReason.COMPLETED


def test_ns3_defaults_last_for_their_run_only() -> None:
    before = native.attributes("ns3::RoceNic")["InitialPsn"]["default"]
    run(PacketEngine(), job_of("all_reduce", 1000), ns3_defaults={"ns3::RoceNic::InitialPsn": "77"})
    assert native.attributes("ns3::RoceNic")["InitialPsn"]["default"] == before == "0"


def test_columns_of_another_type_are_refused_not_converted() -> None:
    job = job_of("all_reduce", 1000)
    wrong = dataclasses.replace(job.schedule, duration_ps=job.schedule.duration_ps.astype(np.float64))
    with pytest.raises(ConfigError, match="duration_ps"):
        run(PacketEngine(), job, wrong)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_a_dependency_that_does_not_precede_is_refused(engine: Engine) -> None:
    job = job_of("all_reduce", 1000, "platform.ranks=2")
    ops = len(job.schedule)
    loop = dataclasses.replace(
        job.schedule, dep_ptr=np.arange(ops + 1, dtype=np.int64), dep_op=np.arange(ops, dtype=np.int32)[::-1].copy()
    )
    with pytest.raises(ConfigError, match="does not precede"):
        run(engine, job, loop)


def test_a_long_message_and_a_large_count_are_exact() -> None:
    size = 2**32 + 1
    columns = run(PacketEngine(), job_of("sendrecv", size, "platform.ranks=2", "transport.payload=9000B"))
    assert columns.message_delivered_bytes.tolist() == [size]
    packets = -(-size // 9000)
    assert columns.counters["packets"] == packets
