# SPDX-License-Identifier: GPL-2.0-only
"""Receiver-driven admission: nothing is sent that its receiver has not cleared, and no more is cleared than allowed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astra_py.api import one_collective
from astra_py.collectives import SystemModel, algorithm_names, build_template, check_dataflow
from astra_py.collectives.admission import CTS_BYTES, admitted
from astra_py.collectives.schedule import EdgeOn, Schedule
from astra_py.config import load_scenario
from astra_py.engines.base import EngineColumns, ExitReason
from astra_py.engines.buffers import kept_bytes
from astra_py.engines.resolve import switch_model, transport_model
from astra_py.platforms import build_platform
from astra_py.results.pools import most_at_once
from astra_py.workloads import CollectiveCall
from shared_jobs import ENGINES, call_of, message_column, run_trace, together

KINDS = ("all_reduce", "reduce_scatter", "all_gather", "all_to_all")
#: Not those that need machines, measure others, or want a power of two of ranks.
LEFT_OUT = ("hierarchical", "themis", "auto", "rail", "pxn", "halving", "doubling")
CASES = [(kind, name) for kind in KINDS for name in algorithm_names(kind) if name not in LEFT_OUT]


def clearances(schedule: Schedule, columns: EngineColumns) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Receiver, start and end of each clearance: from the post of a CTS to the delivery of the message that waits."""
    of = {
        (i, op): row
        for row, (i, op) in enumerate(zip(columns.message_instance.tolist(), columns.message_op.tolist(), strict=True))
    }
    rank, start, end = [], [], []
    for (instance, op), row in of.items():
        template = schedule.templates[schedule.instance_template[instance]]
        if not template.control_bytes[op]:
            continue
        message = of[instance, int(template.release_op[template.use_ptr[op]])]
        assert columns.message_src[row] == columns.message_dst[message]
        assert columns.message_delivered_ps[row] <= columns.message_posted_ps[message]
        rank.append(int(columns.message_src[row]))
        start.append(int(columns.message_posted_ps[row]))
        end.append(int(columns.message_delivered_ps[message]))
    return np.array(rank), np.array(start), np.array(end)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("kind", "algorithm"), CASES)
def test_no_rank_clears_more_than_it_may(engine: str, kind: str, algorithm: str) -> None:
    trace = together(6, [call_of(kind, 60_000, range(6), algorithm)])
    for most in (1, 3):
        schedule, columns = run_trace(engine, trace, system=SystemModel(admission=most))
        assert columns.exit_reason == ExitReason.COMPLETED
        rank, start, end = clearances(schedule, columns)
        data = message_column(schedule, columns, "control_bytes") == 0
        assert len(rank) == data.sum() == len(columns.message_op) / 2
        assert most_at_once(rank, start, end, 6).max() == min(most, np.bincount(rank).max())


@pytest.mark.parametrize("engine", ENGINES)
def test_collectives_under_way_together_share_what_a_rank_clears(engine: str) -> None:
    calls = [call_of("all_to_all", 48_000, range(8), "direct", name=name) for name in ("a", "b", "c")]
    schedule, columns = run_trace(engine, together(8, calls), system=SystemModel(admission=2))
    rank, start, end = clearances(schedule, columns)
    assert most_at_once(rank, start, end, 8).tolist() == [2] * 8
    assert len(set(columns.message_instance[columns.message_posted_ps == 0])) == 1, "the first one has both units"


def test_an_incast_is_kept_out_of_the_switch() -> None:
    """All ranks but one send to that one at once: what it has not cleared waits at the senders."""
    matrix = np.zeros((9, 9), dtype=np.int64)
    matrix[1:, 0] = 200_000
    call = CollectiveCall(name="incast", kind="all_to_all_v", group=tuple(range(9)), matrix=matrix, algorithm="direct")
    trace = together(9, [call])
    _, free = run_trace("packet", trace)
    _, held = run_trace("packet", trace, system=SystemModel(admission=1))
    assert free.channel_max_queue_bytes.max() > 1_000_000
    assert held.channel_max_queue_bytes.max() < 10_000
    assert free.op_end_ps.max() < held.op_end_ps.max() < 1.3 * free.op_end_ps.max()


def test_switches_keep_room_for_clearances() -> None:
    """They have a priority of their own, so a reserve and headroom of their own at each port of the switch."""
    scenario = load_scenario({"platform": {"ranks": 4}}, ["system.admission=1"])
    result = one_collective(scenario, "all_to_all", 40_000).run()
    plain = one_collective(load_scenario({"platform": {"ranks": 4}}), "all_to_all", 40_000).run()
    arrays = build_platform(scenario.platform).arrays()
    more = kept_bytes(switch_model(scenario), transport_model(scenario), arrays, (0, 6)).max()
    kept = kept_bytes(switch_model(scenario), transport_model(scenario), arrays, (0,)).max()
    assert result.queues["buffer_bytes"].max() - plain.queues["buffer_bytes"].max() == more - kept > 0


def test_what_only_controls_overtakes_data() -> None:
    """A CTS waits for one frame of data at most, however much its receiver sends itself."""
    calls = [call_of("all_to_all", 8_000_000, range(4), "direct")]
    schedule, columns = run_trace("packet", together(4, calls), system=SystemModel(admission=1))
    control = message_column(schedule, columns, "control_bytes") > 0
    took = (columns.message_delivered_ps - columns.message_posted_ps)[control]
    frame_ps = (4096 + 98) * 8 * 10
    assert took.max() < took.min() + 2 * frame_ps


def test_inside_a_machine_nobody_asks() -> None:
    keys = ("platform.kind=zionex", "platform.nodes=2", "platform.accelerators_per_node=4")
    trace = together(8, [call_of("all_reduce", 80_000, range(8), "ring")])
    schedule, columns = run_trace("packet", trace, *keys, system=SystemModel(admission=4))
    control = message_column(schedule, columns, "control_bytes") > 0
    machine = columns.message_src // 4 != columns.message_dst // 4
    assert control.sum() == 2 * 14
    assert machine[control].all()
    assert (columns.message_size_bytes[control] == CTS_BYTES).all()


@pytest.mark.parametrize(("kind", "algorithm"), CASES)
@settings(max_examples=10, deadline=None)
@given(ranks=st.integers(2, 9), chunks=st.integers(1, 3), seed=st.integers(0, 9))
def test_the_data_arrives_as_before(kind: str, algorithm: str, ranks: int, chunks: int, seed: int) -> None:
    template = build_template(kind, algorithm, ranks, 5040, SystemModel(chunks=chunks))
    is_held = np.random.default_rng(seed).random(len(template)) < 0.7
    held = admitted(template, is_held)
    cleared = len(held) - len(template)
    assert cleared == (is_held & template.is_send).sum()
    check_dataflow(held, 5040)
    assert np.array_equal(held.size_bytes[cleared:], template.size_bytes)
    assert (held.data_bytes[:cleared] == 0).all()
    # every unit is given back by a message that waits for the CTS which took it
    for cts in range(cleared):
        message = int(held.release_op[held.use_ptr[cts]])
        waits = held.dep_op[held.dep_ptr[message] : held.dep_ptr[message + 1]]
        assert waits[-1] == cts
        assert held.release_on[held.use_ptr[cts]] == EdgeOn.DELIVERED
        assert (held.src[message], held.dst[message]) == (held.dst[cts], held.src[cts])


def test_receivers_clear_other_senders_first() -> None:
    """In a direct exchange every receiver begins with the rank before it, as every sender begins with the next."""
    held = admitted(build_template("all_to_all", "direct", 5, 500), np.ones(20, dtype=np.bool_))
    first = held.dst[:5][np.argsort(held.src[:5])]
    assert sorted(held.src[:5].tolist()) == list(range(5))
    assert first.tolist() == [4, 0, 1, 2, 3]
