# SPDX-License-Identifier: GPL-2.0-only
"""Random programs of collectives over random, overlapping groups: they end, or it is said who waits for what."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astra_py.collectives import algorithm_names, lower
from astra_py.config import load_scenario
from astra_py.engines.analytic import AnalyticEngine
from astra_py.engines.base import EngineColumns, ExitReason
from astra_py.engines.resolve import engine_options, transport_model
from astra_py.errors import WorkloadError
from astra_py.platforms import build_platform
from astra_py.workloads import COLLECTIVE_KINDS, CollectiveCall, Trace
from astra_py.workloads.trace import NodeKind
from collective_cases import CHOSEN_AT_ISSUE

RANKS = 6
SCENARIO = load_scenario({"platform": {"ranks": RANKS}})
PLATFORM = build_platform(SCENARIO.platform)
MACHINES = np.array([0, 0, 0, 0, 1, 1], dtype=np.int32)
#: Algorithms that take a group of any size and any machines.
ANY_GROUP = [
    (kind, name)
    for kind in COLLECTIVE_KINDS
    for name in algorithm_names(kind)
    if kind != "sendrecv" and name not in {"halving", "doubling", "rail"} | CHOSEN_AT_ISSUE
]


@st.composite
def calls(draw: st.DrawFn) -> list[CollectiveCall]:
    drawn = []
    for number in range(draw(st.integers(1, 5))):
        kind, algorithm = draw(st.sampled_from(ANY_GROUP))
        members = tuple(draw(st.permutations(range(RANKS)))[: draw(st.integers(1, RANKS))])
        size = draw(st.integers(0, 5_000))
        what: dict[str, object] = {"size_bytes": 0 if kind == "barrier" else size}
        if kind == "all_to_all_v":
            what = {"matrix": np.full((len(members), len(members)), size) * (np.arange(len(members)) % 2)}
        drawn.append(CollectiveCall(name=f"c{number}", kind=kind, group=members, algorithm=algorithm, **what))  # type: ignore[arg-type]
    return drawn


def program(calls: list[CollectiveCall], orders: dict[int, list[int]]) -> Trace:
    """Each rank takes part in its calls one after another, in an order of its own: rank to numbers of calls."""
    nodes = [(rank, number, place > 0) for rank, order in orders.items() for place, number in enumerate(order)]
    rank, number, waits = (np.array(column, dtype=np.int64) for column in zip(*nodes, strict=True))
    zeros = np.zeros(len(nodes), dtype=np.int32)
    return Trace(
        ranks=RANKS,
        kind=np.full(len(nodes), NodeKind.COLLECTIVE, dtype=np.uint8),
        rank=rank.astype(np.int32),
        name=number.astype(np.int32),
        names=tuple(call.name for call in calls),
        duration_ps=np.zeros(len(nodes), dtype=np.int64),
        call=number.astype(np.int32),
        iteration=zeros,
        phase=zeros,
        phases=("",),
        stream=np.full(len(nodes), -1, dtype=np.int32),
        streams=(),
        dep_ptr=np.concatenate([[0], np.cumsum(waits)]),
        dep_node=np.flatnonzero(waits) - 1,
        calls=tuple(calls),
    )


def run(trace: Trace) -> EngineColumns:
    schedule = lower(trace, rank_machine=MACHINES)
    return AnalyticEngine().run(schedule, PLATFORM, transport_model(SCENARIO), engine_options(SCENARIO))


def orders_of(calls: list[CollectiveCall]) -> dict[int, list[int]]:
    """The calls of each rank that has any, in the order in which they stand."""
    own = {rank: [i for i, call in enumerate(calls) if rank in call.group] for rank in range(RANKS)}
    return {rank: order for rank, order in own.items() if order}


@settings(max_examples=150)
@given(calls=calls())
def test_programs_in_one_order_end(calls: list[CollectiveCall]) -> None:
    """Groups overlap, and a group of the same ranks in another order is another group."""
    columns = run(program(calls, orders_of(calls)))
    assert columns.exit_reason == ExitReason.COMPLETED
    assert (columns.op_end_ps >= 0).all()


@settings(max_examples=150)
@given(calls=calls(), data=st.data())
def test_programs_in_any_order_end_or_say_who_waits(calls: list[CollectiveCall], data: st.DataObject) -> None:
    orders = {rank: data.draw(st.permutations(order)) for rank, order in orders_of(calls).items()}
    columns = run(program(calls, orders))
    if columns.exit_reason == ExitReason.COMPLETED:
        assert (columns.op_end_ps >= 0).all()
        return
    assert columns.exit_reason == ExitReason.DEADLOCK
    unfinished = columns.op_end_ps < 0
    assert unfinished.any()
    text = "\n".join(columns.waiting)
    assert any(re.search(rf"\b{call.name}\b", text) for call in calls), text
    assert re.search(r"rank \d", text), text


@settings(max_examples=50)
@given(calls=calls(), data=st.data())
def test_a_rank_that_never_joins_is_reported_before_the_run(calls: list[CollectiveCall], data: st.DataObject) -> None:
    orders = orders_of(calls)
    if sum(map(len, orders.values())) < 2:
        return
    rank = data.draw(st.sampled_from(sorted(orders)))
    lost = orders[rank].pop(data.draw(st.integers(0, len(orders[rank]) - 1)))
    orders = {rank: order for rank, order in orders.items() if order}
    others = sorted(set(calls[lost].group) - {rank})
    message = re.escape(
        f"collective 'c{lost}': its group is {calls[lost].group}, and nodes of ranks {others} take part"
    )
    with pytest.raises(WorkloadError, match=message):
        program(calls, orders)
