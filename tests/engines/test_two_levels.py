# SPDX-License-Identifier: GPL-2.0-only
"""Hierarchical all-reduces on two nodes of eight: bytes by the ports' own counters, times, and what chunks change."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from astra_py.api import Run, one_collective
from astra_py.collectives import SystemModel, level_form
from astra_py.config import load_scenario
from astra_py.engines.base import ExitReason
from astra_py.engines.packet import PacketEngine
from astra_py.engines.resolve import engine_options
from astra_py.results.result import Result

RANKS, PER_NODE = 16, 8
MB = 10**6
#: All NICs on one leaf switch, where no two flows meet.
ONE_LEAF = "platform.ranks_per_leaf=16"


def job_of(size_bytes: int, *overrides: str) -> Run:
    figures = {"platform": {"kind": "zionex"}, "collective": {"all_reduce": "hierarchical"}}
    return one_collective(load_scenario(figures, overrides), "all_reduce", size_bytes)


def payload_at_ports(result: Result, link_class: str) -> dict[str, list[int]]:
    """Payload bytes that each rank's own port sent, and that the port at the other end sent to it."""
    links = result.links[result.links["link_class"] == link_class]
    payload = {}
    for end in ("from", "to"):
        of_rank = links[links[end].str.startswith("rank")].set_index(end)["payload_bytes"]
        payload[end] = [int(of_rank[f"rank{rank}"]) for rank in range(RANKS)]
    return payload


@pytest.mark.parametrize("algorithms", ["direct ring", "ring direct"])
def test_ports_carry_28_4_and_28_mb_a_rank(algorithms: str) -> None:
    inside, between = algorithms.split()
    choice = (f"collective.all_reduce_inside={inside}", f"collective.all_reduce_between={between}")
    result = job_of(32 * MB, *choice).run()
    # the reduce-scatter's 28 MB and the all-gather's 28 MB take the same NVLink
    assert payload_at_ports(result, "nvlink") == {"from": [56 * MB] * RANKS, "to": [56 * MB] * RANKS}
    assert payload_at_ports(result, "host") == {"from": [4 * MB] * RANKS, "to": [4 * MB] * RANKS}
    phases = result.phases.set_index("phase")
    names = ["reduce_scatter inside", "all_reduce between", "all_gather inside"]
    assert phases["size_bytes"][names].tolist() == [28 * MB * RANKS, 4 * MB * RANKS, 28 * MB * RANKS]
    assert phases["level"][names].tolist() == ["inside", "between", "inside"]


def test_ports_have_carried_28_mb_inside_when_the_all_reduce_between_is_under_way() -> None:
    job = job_of(32 * MB, ONE_LEAF)
    between = job.run().phases.set_index("phase").loc["all_reduce between"]
    middle_ps = int(between["start_ps"] + between["end_ps"]) // 2
    options = engine_options(job.scenario)
    columns = PacketEngine().run(job.schedule, job.platform, job.transport, replace(options, max_time_ps=middle_ps))
    assert columns.exit_reason == ExitReason.TIME_LIMIT
    arrays = job.platform.arrays()
    of_class = np.repeat(np.array(arrays.class_names)[arrays.link_class], 2)
    assert columns.channel_payload_bytes[of_class == "nvlink"].tolist() == [28 * MB] * 2 * RANKS
    between_bytes = columns.channel_payload_bytes[of_class == "host"]
    assert (between_bytes > 1.5 * MB).all()
    assert (between_bytes < 2.5 * MB).all()


def closed_time_ps(size_bytes: int) -> int:
    """The closed form, with rates of payload: 4,096 B in 4,358 line bytes of an NVLink and 4,178 of Ethernet."""
    return level_form("all_reduce", "hierarchical").time_ps(
        np.arange(RANKS, dtype=np.int32) // PER_NODE,
        size_bytes,
        inside=(2 * 250_000, round(2_400 * 10**9 * Fraction(4096, 4358))),
        between=(2 * 500_000 + 300_000, round(100 * 10**9 * Fraction(4096, 4178))),
        system=SystemModel(),
    )


def test_32_gb_by_the_analytic_engine_are_the_closed_form() -> None:
    size = 32 * 10**9
    result = job_of(size, ONE_LEAF, "engine=analytic").run()
    assert payload_at_ports(result, "nvlink")["from"] == [56 * 10**9] * RANKS
    assert payload_at_ports(result, "host")["from"] == [4 * 10**9] * RANKS
    # a message's last packet is not full and its first one is longer: at most a packet each
    assert result.collectives["time_ps"][0] == pytest.approx(closed_time_ps(size), abs=30 * 350_000)
    by_hand_s = 2 * 28e9 / (300e9 * 4096 / 4358) + 2 * 2e9 / (12.5e9 * 4096 / 4178)
    assert result.collectives["time_us"][0] == pytest.approx(by_hand_s * 1e6, rel=1e-4)


def test_packets_take_the_closed_form_and_the_filling_of_the_pipeline() -> None:
    """Packets are stored and forwarded, and an ACK of 86 B each comes back in between: both are all there is beside."""
    time = int(job_of(32 * MB, ONE_LEAF).run().collectives["time_ps"][0])
    acks = 4 * MB / 4096 * 86 * 8 / 0.1
    assert closed_time_ps(32 * MB) < time < closed_time_ps(32 * MB) + acks + 10 * 350_000


@pytest.mark.parametrize("engine", ["packet", "flow", "analytic"])
def test_four_chunks_overlap_and_move_the_same_bytes(engine: str) -> None:
    one, four = (job_of(32 * MB, ONE_LEAF, f"engine={engine}", f"collective.chunks={n}").run() for n in (1, 4))
    assert four.links["payload_bytes"].tolist() == one.links["payload_bytes"].tolist()
    # By hand, in us: inside 28 MB take 99.3, between 4 MB take 326.4. Whole, 99.3 + 326.4 + 99.3; in quarters, all
    # but a quarter of what goes inside is beside what goes between.
    assert one.collectives["time_us"][0] == pytest.approx(525, rel=0.03)
    assert four.collectives["time_us"][0] == pytest.approx(326.4 + 2 * 99.3 / 4, rel=0.06)
