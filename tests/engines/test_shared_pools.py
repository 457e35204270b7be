# SPDX-License-Identifier: GPL-2.0-only
"""Pools of each rank that collectives share, and units that another operation gives back."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from astra_py.collectives import Dep, EdgeOn, Hold, ScheduleBuilder, collective
from astra_py.collectives import registry as algorithms
from astra_py.collectives.registry import Group
from astra_py.collectives.schedule import PoolOrder, RankPool
from astra_py.engines.base import ExitReason
from astra_py.errors import ConfigError
from astra_py.workloads import CollectiveCall
from shared_jobs import ENGINES, call_of, run_trace, together


@pytest.fixture(autouse=True)
def staged() -> Iterator[None]:
    """A send that needs a buffer at its sender until it is acknowledged."""

    @collective("sendrecv", name="staged")
    def send(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
        build.send(0, 1, size_bytes, blocks=0, pools=Hold(build.shared_pool("staging"), release_on=EdgeOn.ACKED))

    yield
    del algorithms._algorithms["sendrecv"]._known["staged"]


def sends(count: int, priorities: tuple[int, ...] = ()) -> list[CollectiveCall]:
    """Sends from rank 0, each to a rank of its own."""
    return [
        call_of("sendrecv", 50_000, (0, i + 1), "staged", name=f"to {i + 1}", priority=(priorities or (0,) * count)[i])
        for i in range(count)
    ]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("units", [1, 2, 4])
def test_collectives_wait_for_one_anothers_units(engine: str, units: int) -> None:
    _, columns = run_trace(engine, together(5, sends(4)), rank_pools=[RankPool("staging", units)])
    assert columns.exit_reason == ExitReason.COMPLETED
    posted, acked = columns.message_posted_ps, columns.message_acked_ps
    assert posted[:units].tolist() == [0] * units
    assert posted[units:].tolist() == np.sort(acked)[: 4 - units].tolist()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("order", "dst"),
    [
        (PoolOrder.FIFO, [1, 2, 3, 4]),
        (PoolOrder.LIFO, [1, 4, 3, 2]),
        (PoolOrder.PRIORITY, [1, 3, 2, 4]),
    ],
)
def test_units_go_by_the_order_of_the_pool(engine: str, order: PoolOrder, dst: list[int]) -> None:
    pools = [RankPool("staging", 1, order)]
    _, columns = run_trace(engine, together(5, sends(4, (0, 2, 5, 2))), rank_pools=pools)
    assert columns.message_dst.tolist() == dst


@pytest.mark.parametrize("engine", ENGINES)
def test_a_unit_given_back_by_the_answer(engine: str) -> None:
    """A request takes a unit of its sender's, which the answer's delivery gives back: requests go one by one."""

    @collective("sendrecv", name="asked")
    def ask(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
        request = build.send(0, [1] * 3, 100, pools=build.shared_pool("requests"))
        answer = build.send(1, [0] * 3, size_bytes, after=request)
        build.give_back(request, by=answer, on=EdgeOn.DELIVERED)

    try:
        call = call_of("sendrecv", 40_000, (0, 1), "asked")
        _, columns = run_trace(engine, together(2, [call]), rank_pools=[RankPool("requests", 1)])
    finally:
        del algorithms._algorithms["sendrecv"]._known["asked"]
    request, answer = columns.message_src == 0, columns.message_src == 1
    assert columns.exit_reason == ExitReason.COMPLETED
    assert columns.message_posted_ps[request][1:].tolist() == columns.message_delivered_ps[answer][:-1].tolist()


def test_who_gives_back_waits_for_who_takes() -> None:
    build = ScheduleBuilder("sendrecv", "mine", 2)
    first = build.send(0, 1, 10, pools=build.pool(0, 1))
    second = build.send(0, 1, 10)
    build.give_back(first, by=second)
    with pytest.raises(ConfigError, match="operation 1 is to give back what operation 0 takes, and does not wait"):
        build.build()


def test_a_pool_that_the_run_does_not_have_is_refused() -> None:
    with pytest.raises(ConfigError, match='pool "staging", which the schedule\'s ranks do not have'):
        run_trace("analytic", together(2, sends(1)))


def test_names_and_sizes_of_pools_are_checked() -> None:
    trace = together(2, sends(1))
    with pytest.raises(ConfigError, match="two pools called 'staging'"):
        run_trace("analytic", trace, rank_pools=[RankPool("staging", 1), RankPool("staging", 2)])
    with pytest.raises(ConfigError, match="a capacity of 0; allowed: from 1"):
        run_trace("analytic", trace, rank_pools=[RankPool("staging", 0)])


@pytest.mark.parametrize("engine", ENGINES)
def test_who_never_gets_a_unit_is_named(engine: str) -> None:
    """The second message needs the unit that the first one has, which comes back when the second one was sent."""

    @collective("sendrecv", name="stuck")
    def stuck(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
        pool = build.shared_pool("slots")
        first = build.send(0, 1, size_bytes, pools=pool)
        second = build.send(0, 1, size_bytes, pools=pool)
        last = build.send(0, 1, size_bytes, after=[Dep(second, on=EdgeOn.SENT), Dep(first, on=EdgeOn.SENT)])
        build.give_back(first, by=last)

    try:
        call = call_of("sendrecv", 100, (0, 1), "stuck")
        _, columns = run_trace(engine, together(2, [call]), rank_pools=[RankPool("slots", 1)])
    finally:
        del algorithms._algorithms["sendrecv"]._known["stuck"]
    assert columns.exit_reason == ExitReason.DEADLOCK
    assert any("held up by pool 'slots' of rank 0, of which all is taken" in line for line in columns.waiting)
