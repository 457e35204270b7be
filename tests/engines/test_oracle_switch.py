# SPDX-License-Identifier: GPL-2.0-only
"""The packet engine against the oracle with small buffers, pauses, marks, losses and priorities."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from astra_py.collectives.schedule import OuterKind, Schedule
from astra_py.engines.base import EngineColumns, EngineOptions, ExitReason
from astra_py.engines.packet import PacketEngine
from astra_py.engines.routes import route_paths
from astra_py.platforms.platform import Platform
from engine_cases import platform_of, template_of, transport_of
from oracle_cases import Case, held_port_case, random_switch_case
from reference_sim import Simulator

CASES = 500
SLOW_CASES = 1000
HELD_CASES = 12


def lossy_platform(case: Case) -> Platform:
    platform = platform_of(case)
    for _, _, edge in platform.graph.edges(data=True):
        edge["loss"] = case.losses[edge["link"]] if case.losses else 0.0
    return Platform(case.name, platform.graph)


def by_priority(case: Case) -> dict[int, list[int]]:
    """Operations of each priority, which are an instance of their own."""
    return {
        q: [i for i, op in enumerate(case.ops) if op.priority == q] for q in sorted({op.priority for op in case.ops})
    }


def schedule_of(case: Case) -> Schedule:
    """An instance for each priority; a rank joins all of them after one compute."""
    parts, ranks = by_priority(case), len(case.group)
    templates = []
    for members in parts.values():
        place = {i: k for k, i in enumerate(members)}
        ops = [replace(case.ops[i], deps=tuple((place[d], m) for d, m in case.ops[i].deps)) for i in members]
        templates.append(template_of(replace(case, ops=tuple(ops))))
    count = len(parts)
    # Rows 0..ranks-1 are the computes, then each instance's parts in order of the group.
    rows = ranks * (1 + count)
    is_part = np.arange(rows) >= ranks
    member = np.tile(np.arange(ranks, dtype=np.int32), 1 + count)
    rank = np.array(case.group, np.int32)[member]
    return Schedule(
        ranks=ranks,
        templates=tuple(templates),
        group_ptr=np.array([0, ranks], np.int64),
        group_rank=np.array(case.group, np.int32),
        instance_template=np.arange(count, dtype=np.int32),
        instance_group=np.zeros(count, np.int32),
        instance_priority=np.array(list(parts), np.uint8),
        instance_call=np.zeros(count, np.int32),
        kind=np.where(is_part, OuterKind.COLLECTIVE, OuterKind.COMPUTE).astype(np.uint8),
        rank=rank,
        duration_ps=np.where(is_part, 0, np.array(case.join_ps, np.int64)[rank]),
        instance=(np.arange(rows) // ranks - 1).astype(np.int32),
        member=np.where(is_part, member, -1).astype(np.int32),
        priority=np.zeros(rows, np.uint8),
        dep_ptr=np.cumsum([0, *is_part.tolist()], dtype=np.int64),
        dep_op=member[ranks:],
        pool_owner=np.zeros(0, np.int32),
        pool_capacity=np.zeros(0, np.int32),
        pool_order=np.zeros(0, np.uint8),
        use_ptr=np.zeros(rows + 1, np.int64),
        use_pool=np.zeros(0, np.int32),
        name=np.zeros(rows, np.int32),
        names=("case",),
        iteration=np.zeros(rows, np.int32),
        phase=np.zeros(rows, np.int32),
        phases=("case",),
    )


def attributes_of(case: Case) -> dict[str, str]:
    """The figures that reach ns-3 as defaults of its attributes."""
    w = case.switch
    switch = {
        "Buffer": w.buffer,
        "Pfc": str(w.pfc).lower(),
        "LosslessMask": w.lossless_mask,
        "PfcAlpha": w.pfc_alpha,
        "EgressAlpha": w.egress_alpha,
        "Reserve": w.reserve,
        "Headroom": w.headroom,
        "XonOffset": w.xon_offset,
        "PauseQuanta": w.pause_quanta,
        "ResponseQuanta": w.response_quanta,
        "Ecn": str(w.ecn).lower(),
        "EcnKmin": w.ecn_kmin,
        "EcnKmax": w.ecn_kmax,
        "EcnPmax": w.ecn_pmax,
        "EcnMarkAt": w.ecn_mark_at,
        "Scheduling": "dwrr" if w.weights else "strict",
        "Weights": ",".join(map(str, w.weights or (1,) * 7)),
        "CutThrough": str(w.cut_through > 0).lower(),
        "CutThroughHeader": w.cut_through or 64,
    }
    nic = {
        "Recovery": "selective_repeat" if case.transport.is_selective else "go_back_n",
        "CongestionScope": "peer" if case.transport.is_pace_shared else "queue_pair",
    }
    figures = {f"ns3::FabricSwitch::{key}": str(value) for key, value in switch.items()}
    figures |= {f"ns3::RoceNic::{key}": value for key, value in nic.items()}
    return figures | {f"ns3::Dcqcn::{key}": value for key, value in control_of(case).items()}


def control_of(case: Case) -> dict[str, str]:
    """DCQCN's attributes; without a reaction, notifications are sent and the rate stays that of the port."""
    interval = {"CnpInterval": f"{case.transport.cnp_interval_ps}ps"}
    d = case.transport.dcqcn
    if d is None:
        return interval | {"MinRate": "100000Gbps"}
    return interval | {
        "Gain": repr(d["g"]),
        "AlphaInterval": f"{d['k']}ps",
        "IncreaseTimer": f"{d['t']}ps",
        "ByteCounter": str(d["b"] or 0),
        "FastRecovery": str(d["f"]),
        "AdditiveIncrease": f"{d['r_ai']:.0f}bps",
        "HyperIncrease": f"{d['r_hai']:.0f}bps",
        "MinRate": f"{d['least']:.0f}bps",
        "DecreaseInterval": f"{d['decrease_interval']}ps",
        "ClampTarget": str(d["clamps"]).lower(),
        "AlphaUpdate": "per_interval" if d["per_interval"] else "per_cnp",
    }


def run_packet(case: Case, seed: int) -> EngineColumns:
    assert case.transport.timeout_ps is not None
    figures = {"timeout_ps": case.transport.timeout_ps, "congestion_control": "ns3::Dcqcn"}
    transport = replace(transport_of(case), **figures)  # type: ignore[arg-type]
    options = EngineOptions(seed=seed, endpoint_delay_ps=case.endpoint_delay_ps, ns3_defaults=attributes_of(case))
    return PacketEngine().run(schedule_of(case), lossy_platform(case), transport, options)


def simulate(case: Case, seed: int) -> Simulator:
    """Run the oracle over the ways that the engine's switches choose under ``seed``."""
    platform = platform_of(case)

    def route(src: int, dst: int, qp: int) -> list[int]:
        _, channels = route_paths(platform, seed, np.array([src]), np.array([dst]), np.array([qp]))
        return [int(channel) for channel in channels]

    return case.simulate(route, seed)


def message_moments(case: Case, columns: EngineColumns) -> dict[str, dict[int, int]]:
    """The engine's moments of each message, by the case's operation."""
    members = list(by_priority(case).values())
    rows = zip(columns.message_instance.tolist(), columns.message_op.tolist(), strict=True)
    ops = [members[instance][op] for instance, op in rows]
    names = ("posted", "sent", "delivered", "acked")
    return {name: dict(zip(ops, getattr(columns, f"message_{name}_ps").tolist(), strict=True)) for name in names}


def assert_same(case: Case, seed: int) -> None:
    oracle, columns = simulate(case, seed), run_packet(case, seed)
    assert columns.exit_reason == ExitReason.COMPLETED, case.name
    for name, got in message_moments(case, columns).items():
        times = enumerate(getattr(oracle, name))
        assert got == {i: time for i, time in times if case.ops[i].dst is not None}, (case.name, name)
    ends = columns.op_end_ps[len(case.group) :].reshape(-1, len(case.group)).max(axis=0)
    assert ends.tolist() == [oracle.end_ps[rank] for rank in case.group], case.name
    ports = oracle.ports
    assert columns.channel_frames.tolist() == [port.frames for port in ports], case.name
    assert columns.channel_data_frames.tolist() == [port.data_frames for port in ports], case.name
    assert columns.channel_payload_bytes.tolist() == [port.payload_bytes for port in ports], case.name
    assert columns.channel_busy_ps.tolist() == [port.busy_ps for port in ports], case.name
    assert columns.channel_max_queue_bytes.tolist() == [port.most_queued for port in ports], case.name
    assert columns.channel_line_bytes.tolist() == [port.line_bytes for port in ports], case.name
    assert columns.channel_pfc_frames.tolist() == [port.frames - port.numbered for port in ports], case.name
    assert columns.channel_dropped_frames.tolist() == [port.lost for port in ports], case.name
    assert columns.channel_buffer_drops.tolist() == [port.dropped for port in ports], case.name
    assert columns.channel_marked_frames.tolist() == [port.marked for port in ports], case.name
    episodes = (columns.pause_start_ps, columns.pause_channel, columns.pause_priority, columns.pause_end_ps)
    assert sorted(map(list, zip(*(column.tolist() for column in episodes), strict=True))) == sorted(oracle.pauses), (
        case.name
    )
    counted = [sum(channel == number for _, channel, _, _ in oracle.pauses) for number in range(len(ports))]
    assert columns.channel_pauses.tolist() == counted, case.name
    assert columns.counters["timeouts"] == oracle.timeouts, case.name
    assert columns.counters["naks"] == oracle.naks, case.name
    assert columns.message_retransmitted_packets.sum() == oracle.repeats, case.name


@pytest.mark.parametrize("seed", range(CASES))
def test_random_case(seed: int) -> None:
    assert_same(random_switch_case(seed), seed)


@pytest.mark.parametrize("seed", range(HELD_CASES))
def test_small_frames_overtake_those_that_are_held(seed: int) -> None:
    assert_same(held_port_case(seed), seed)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_many_random_cases(block: int) -> None:
    for seed in range(CASES + block * SLOW_CASES // 10, CASES + (block + 1) * SLOW_CASES // 10):
        assert_same(random_switch_case(seed), seed)
