# SPDX-License-Identifier: GPL-2.0-only
"""NCCL's protocols: their times and flags on the wire, the choice among them, and channels."""

from __future__ import annotations

import numpy as np
import pytest

from astra_py.collectives import SystemModel, build_template, check_dataflow
from astra_py.collectives.protocols import PROTOCOLS, with_protocol
from astra_py.collectives.system import LevelFigures
from astra_py.engines.base import ExitReason
from astra_py.results.pools import most_at_once
from shared_jobs import ENGINES, call_of, message_column, run_trace, together

US = 1_000_000
FREE = "platform.link_delay=0ns", "platform.switch_latency=0ns", "transport.ack=out_of_band"
#: Of one switch without delays, where a step's time is all the protocol's.
NO_NETWORK = LevelFigures(10**11, 0)


def ring_time(engine: str, ranks: int, size_bytes: int, protocol: str, *overrides: str) -> int:
    system = SystemModel(protocol=protocol, between=NO_NETWORK)
    trace = together(ranks, [call_of("all_reduce", size_bytes, range(ranks), "ring")])
    _, columns = run_trace(engine, trace, *FREE, *overrides, system=system)
    assert columns.exit_reason == ExitReason.COMPLETED
    return int(columns.op_end_ps.max())


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("protocol", "start_us", "step_us"), [("ll", 6.6, 2.7), ("ll128", 14.0, 4.0), ("simple", 8.4, 14.0)]
)
def test_a_small_ring_takes_what_nccl_says(engine: str, protocol: str, start_us: float, step_us: float) -> None:
    """baseLat and steps of hwLat, over the network; the bytes of 8 messages of 8 B are next to nothing."""
    told_us = start_us + 14 * step_us
    took = ring_time(engine, 8, 64, protocol)
    assert told_us < took / US < told_us + 14 * 2 * 0.015


def test_the_network_is_not_counted_twice() -> None:
    """A step's time has the way's latency in it: with a network of 2.3 us a step of 2.7 us stays one."""
    system = SystemModel(protocol="ll", between=LevelFigures(10**11, 2_300_000))
    trace = together(8, [call_of("all_reduce", 64, range(8), "ring")])
    _, columns = run_trace("packet", trace, "platform.link_delay=1us", "platform.switch_latency=300ns", system=system)
    assert columns.op_end_ps.max() / US == pytest.approx(6.6 + 14 * 2.7, rel=0.01)


@pytest.mark.parametrize("engine", ENGINES)
def test_flags_are_on_the_wire_and_no_data(engine: str) -> None:
    size = 120 * 32 * 4
    for protocol, whole in (("ll", 2 * 3840), ("ll128", 128 * 32), ("simple", 3840)):
        trace = together(4, [call_of("all_reduce", size, range(4), "ring")])
        schedule, columns = run_trace(engine, trace, system=SystemModel(protocol=protocol))
        assert set(columns.message_size_bytes.tolist()) == {whole}
        assert set(message_column(schedule, columns, "data_bytes").tolist()) == {3840}
        assert columns.rank_sent_payload_bytes.tolist() == [6 * whole] * 4
        check_dataflow(schedule.templates[0], size)


def test_a_line_begun_has_all_its_flags() -> None:
    sizes = np.array([0, 1, 4, 5, 120, 121])
    assert PROTOCOLS["ll"].flags(sizes).tolist() == [0, 4, 4, 8, 120, 124]
    assert PROTOCOLS["ll128"].flags(sizes).tolist() == [0, 8, 8, 8, 8, 16]


def test_auto_is_the_fastest_for_each_size() -> None:
    """Small messages go by LL, large ones by Simple; what is picked takes no longer than either."""
    picked = {}
    for size in (64, 4_096, 2**18, 2**22, 2**26):
        template = build_template("all_reduce", "ring", 8, size)
        system = SystemModel(protocol="auto", between=NO_NETWORK)
        picked[size] = with_protocol(template, template.is_send, system).protocol
        if size <= 2**22:
            times = {name: ring_time("analytic", 8, size, name) for name in PROTOCOLS}
            assert ring_time("analytic", 8, size, "auto") <= 1.05 * min(times.values()), (size, times)
    assert picked[64] == "ll"
    assert picked[2**26] == "simple"
    assert "ll128" in picked.values()


def test_steps_inside_machines_cost_less() -> None:
    keys = ("platform.kind=zionex", "platform.nodes=2", "platform.accelerators_per_node=4", "platform.ranks_per_leaf=8")
    system = SystemModel(protocol="ll", inside=LevelFigures(24 * 10**11, 600_000), between=LevelFigures(10**11, 10**7))
    template_of = build_template("all_reduce", "ring", 8, 64)
    is_between = np.isin(template_of.src, (3, 7)) & template_of.is_send
    cost = with_protocol(template_of, is_between, system)
    is_root = np.diff(cost.dep_ptr) == 0
    assert set(cost.duration_ps[is_root & ~is_between].tolist()) == {6_600_000}
    assert set(cost.duration_ps[~is_root].tolist()) == {0}, "the network alone takes as long as a step"
    trace = together(8, [call_of("all_reduce", 64, range(8), "ring")])
    _, columns = run_trace("packet", trace, *keys, system=SystemModel(protocol="ll"))
    assert columns.op_end_ps.max() / US > 6.6 + 4 * 2.7 + 10 * 0.6


@pytest.mark.parametrize("engine", ENGINES)
def test_a_rank_has_no_more_messages_on_the_way_than_channels(engine: str) -> None:
    calls = [call_of("all_to_all", 90_000, range(6), "direct", name=name) for name in ("a", "b")]
    for channels in (1, 3):
        _, columns = run_trace(engine, together(6, calls), system=SystemModel(channels=channels))
        most = most_at_once(columns.message_src, columns.message_posted_ps, columns.message_acked_ps, 6)
        assert most.tolist() == [channels] * 6


@pytest.mark.parametrize("engine", ENGINES)
def test_protocol_channels_and_admission_go_together(engine: str) -> None:
    system = SystemModel(protocol="ll128", channels=2, admission=2, chunks=2)
    for kind, algorithm in (("all_reduce", "direct"), ("all_to_all", "direct"), ("all_gather", "ring")):
        trace = together(5, [call_of(kind, 70_001, range(5), algorithm)])
        schedule, columns = run_trace(engine, trace, system=system)
        assert columns.exit_reason == ExitReason.COMPLETED
        check_dataflow(schedule.templates[0], 70_001)
