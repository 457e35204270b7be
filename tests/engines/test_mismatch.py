# SPDX-License-Identifier: GPL-2.0-only
"""Programs of collectives that ranks go through in orders of their own: they end, or are reported, and never hang."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astra_py.collectives import SystemModel, lower
from astra_py.collectives.schedule import PoolOrder, Schedule
from astra_py.config import load_scenario
from astra_py.engines.base import EngineColumns, ExitReason
from astra_py.engines.registry import make_engine
from astra_py.engines.resolve import engine_options, transport_model
from astra_py.platforms import build_platform
from astra_py.workloads import Trace
from shared_jobs import ENGINES, call_of, run_trace, together

#: Far more than any of these programs takes.
MOST_EVENTS = 2_000_000
#: Columns of a schedule with an entry an operation.
PER_OPERATION = ("kind", "rank", "duration_ps", "instance", "member", "priority", "name", "iteration", "phase")


@dataclasses.dataclass(frozen=True)
class Program:
    """Collectives, the order in which each rank goes through its own, and limits."""

    ranks: int
    calls: tuple[tuple[str, str, int, tuple[int, ...]], ...]
    order: tuple[tuple[int, ...], ...]
    is_chained: tuple[bool, ...]
    active: int | None
    scheduling: PoolOrder
    admission: int | None

    def trace(self) -> Trace:
        """All of its collectives, in no order."""
        named = enumerate(self.calls)
        return together(self.ranks, [call_of(k, size, group, a, name=f"c{i}") for i, (k, a, size, group) in named])


@st.composite
def programs(draw: st.DrawFn) -> Program:
    ranks = draw(st.integers(2, 6))
    kinds = [("all_reduce", "ring"), ("all_reduce", "direct"), ("all_to_all", "direct"), ("all_gather", "ring")]
    calls = []
    for _ in range(draw(st.integers(1, 6))):
        kind, algorithm = draw(st.sampled_from(kinds))
        group = draw(st.permutations(range(ranks)))[: draw(st.integers(2, ranks))]
        calls.append((kind, algorithm, draw(st.sampled_from([0, 1, 500, 9_000])), tuple(group)))
    order = []
    for rank in range(ranks):
        mine = [i for i, (_, _, _, group) in enumerate(calls) if rank in group]
        order.append(tuple(draw(st.permutations(mine))))
    return Program(
        ranks=ranks,
        calls=tuple(calls),
        order=tuple(order),
        is_chained=tuple(draw(st.booleans()) for _ in range(ranks)),
        active=draw(st.sampled_from([None, 1, 2])),
        scheduling=draw(st.sampled_from(list(PoolOrder))),
        admission=draw(st.sampled_from([None, 1, 2])),
    )


def run(engine: str, schedule: Schedule) -> EngineColumns:
    scenario = load_scenario({}, [f"platform.ranks={schedule.ranks}", f"limits.max_events={MOST_EVENTS}"])
    platform = build_platform(scenario.platform)
    return make_engine(engine).run(schedule, platform, transport_model(scenario), engine_options(scenario))


def schedule_of(program: Program) -> Schedule:
    """The program as a schedule, each rank's parts in its own order: a trace has one order for all."""
    schedule = lower(
        program.trace(),
        system=SystemModel(admission=program.admission),
        max_active_collectives=program.active,
        scheduling=program.scheduling,
    )
    place = {
        (int(rank), int(call)): i for i, (rank, call) in enumerate(zip(schedule.rank, schedule.instance, strict=True))
    }
    rows = [place[rank, call] for rank, mine in enumerate(program.order) for call in mine]
    waits = [
        turn > 0 and program.is_chained[rank] for rank, mine in enumerate(program.order) for turn in range(len(mine))
    ]
    uses = [schedule.use_pool[schedule.use_ptr[op] : schedule.use_ptr[op + 1]] for op in rows]
    return dataclasses.replace(
        schedule,
        **{name: getattr(schedule, name)[rows] for name in PER_OPERATION},
        dep_ptr=np.cumsum([0, *waits]).astype(np.int64),
        dep_op=(np.flatnonzero(waits) - 1).astype(np.int32),
        use_ptr=np.cumsum([0, *map(len, uses)]).astype(np.int64),
        use_pool=np.concatenate(uses).astype(np.int32),
    )


def ranks_of(text: str) -> list[int]:
    """The ranks of ``0-3, 7``."""
    ends = [part.split("-") for part in text.split(", ")]
    return [rank for each in ends for rank in range(int(each[0]), int(each[-1]) + 1)]


def is_stuck(schedule: Schedule, columns: EngineColumns) -> None:
    """What a run that did not end has to say: each line is true, and each rank that waits is named."""
    assert columns.exit_reason == ExitReason.DEADLOCK
    assert columns.waiting
    unfinished = np.flatnonzero(columns.op_end_ps < 0)
    assert len(unfinished), "something did not end"
    told, besides = set(), set()
    for line in columns.waiting:
        if also := re.match(r"unfinished, too: (c\d+) \(iteration 0\) on ranks? (.*)", line):
            besides |= {(also[1], rank) for rank in ranks_of(also[2])}
            continue
        who = re.match(r"(c\d+) \(operation (\d+), iteration 0\) on rank (\d+) ", line)
        assert who is not None, line
        op = int(who[2])
        assert op in unfinished
        assert (schedule.names[schedule.name[op]], int(schedule.rank[op])) == (who[1], int(who[3]))
        told.add((who[1], int(who[3])))
        if missing := re.search(r"waits for rank (\d+) to join", line):
            others = (schedule.instance == schedule.instance[op]) & (schedule.rank == int(missing[1]))
            assert (columns.op_start_ps[others] < 0).all(), line
    all_ = {(schedule.names[schedule.name[op]], int(schedule.rank[op])) for op in unfinished}
    assert told | besides == all_, "each that waits is told of"
    assert not told & besides


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=60, deadline=None)
@given(program=programs())
def test_a_program_ends_or_says_who_waits(engine: str, program: Program) -> None:
    schedule = schedule_of(program)
    columns = run(engine, schedule)
    if columns.exit_reason == ExitReason.COMPLETED:
        assert (columns.op_end_ps >= 0).all()
        assert len(columns.message_op) == schedule.message_count
    else:
        is_stuck(schedule, columns)


@settings(max_examples=30, deadline=None)
@given(program=programs())
def test_one_order_for_all_ends(program: Program) -> None:
    """Ranks that go through the same collectives in the same order are never stuck, whatever the limits."""
    same = dataclasses.replace(program, order=tuple(tuple(sorted(mine)) for mine in program.order))
    same = dataclasses.replace(same, scheduling=PoolOrder.FIFO, is_chained=(True,) * program.ranks)
    assert run("packet", schedule_of(same)).exit_reason == ExitReason.COMPLETED


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=30, deadline=None)
@given(program=programs(), which=st.integers(0, 30))
def test_a_rank_that_is_missing_is_named(engine: str, program: Program, which: int) -> None:
    """Its part is not in the schedule at all; the others may end without it, and still the run is not complete."""
    program = dataclasses.replace(program, active=None, is_chained=(False,) * program.ranks)
    full = schedule_of(program)
    gone = which % len(full)
    keep = np.arange(len(full)) != gone
    empty = np.zeros(len(full), dtype=np.int64)
    schedule = dataclasses.replace(
        full,
        **{name: getattr(full, name)[keep] for name in PER_OPERATION},
        dep_ptr=empty,
        dep_op=np.zeros(0, dtype=np.int32),
        use_ptr=empty,
        use_pool=np.zeros(0, dtype=np.int32),
    )
    found = run(engine, schedule)
    assert found.exit_reason == ExitReason.DEADLOCK
    rank, instance = int(full.rank[gone]), int(full.instance[gone])
    assert any(
        f"rank {rank} is in its group and never joins it" in line and f"instance {instance}" in line
        for line in found.waiting
    )


def test_two_ranks_in_opposite_orders_wait_for_each_other() -> None:
    program = Program(
        ranks=2,
        calls=(("all_reduce", "direct", 9_000, (0, 1)), ("all_to_all", "direct", 9_000, (0, 1))),
        order=((0, 1), (1, 0)),
        is_chained=(True, True),
        active=None,
        scheduling=PoolOrder.FIFO,
        admission=None,
    )
    columns = run("packet", schedule_of(program))
    assert columns.exit_reason == ExitReason.DEADLOCK
    said = "\n".join(columns.waiting)
    assert "c0 (operation 0, iteration 0) on rank 0 waits for rank 1 to join" in said
    assert "c1 (operation 2, iteration 0) on rank 1 waits for rank 0 to join" in said


@pytest.mark.parametrize("engine", ENGINES)
def test_all_of_many_that_wait_are_named(engine: str) -> None:
    """Rank 17 of 64 goes through two collectives in another order than all others do."""
    program = Program(
        ranks=64,
        calls=(("all_reduce", "ring", 9_000, tuple(range(64))), ("all_to_all", "direct", 9_000, tuple(range(64)))),
        order=tuple((1, 0) if rank == 17 else (0, 1) for rank in range(64)),
        is_chained=(True,) * 64,
        active=None,
        scheduling=PoolOrder.FIFO,
        admission=None,
    )
    schedule = schedule_of(program)
    columns = run(engine, schedule)
    is_stuck(schedule, columns)
    assert columns.waiting[0] == "c0 (operation 0, iteration 0) on rank 0 waits for rank 17 to join"
    assert columns.waiting[-2] == "unfinished, too: c1 (iteration 0) on ranks 0-16, 18-63"


@pytest.mark.parametrize("engine", ENGINES)
def test_collectives_that_share_nics_take_as_long_as_their_bytes(engine: str) -> None:
    """Two direct exchanges at once are as one of twice the size, and neither is held up for the other's end."""
    one = run_trace(engine, together(4, [call_of("all_to_all", 800_000, range(4), "direct")]))[1]
    calls = [call_of("all_to_all", 800_000, range(4), "direct", name=name) for name in ("a", "b")]
    both = run_trace(engine, together(4, calls))[1]
    assert both.op_end_ps.max() == pytest.approx(2 * one.op_end_ps.max(), rel=0.05)
    assert (both.op_start_ps == 0).all()
