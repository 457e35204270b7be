# SPDX-License-Identifier: GPL-2.0-only
"""Two collectives of a rank under way together: the one of higher priority overtakes, at NICs and at switches."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from astra_py.collectives import lower
from astra_py.config import load_scenario
from astra_py.engines.packet import PacketEngine
from astra_py.engines.resolve import engine_options, transport_model
from astra_py.platforms import build_platform
from astra_py.workloads import CollectiveCall, TraceBuilder

#: The urgent collective comes when the other has long been under way.
LATER_PS = 200_000_000


@dataclass(frozen=True)
class Times:
    """How long the urgent collective took, when the other ended, and the longest queue of a switch."""

    urgent_ps: int
    bulk_end_ps: int
    max_queue_bytes: int


def run(overrides: tuple[str, ...], priority: int, *, with_bulk: bool = True) -> Times:
    """An all-reduce of priority 0 from the beginning, and later an all-to-all of ``priority``."""
    scenario = load_scenario({}, overrides)
    platform = build_platform(scenario.platform)
    ranks = tuple(range(platform.ranks))
    build = TraceBuilder(len(ranks))
    if with_bulk:
        build.collective(CollectiveCall(name="bulk", kind="all_reduce", group=ranks, size_bytes=len(ranks) * 4_000_000))
    wait = build.compute(ranks, LATER_PS, name="wait")
    size = len(ranks) * 100_000
    call = CollectiveCall(name="urgent", kind="all_to_all", group=ranks, size_bytes=size, priority=priority)
    urgent = build.collective(call, after=wait)
    chosen = {"all_reduce": scenario.collective.all_reduce}
    schedule = lower(build.build(), chosen, rank_machine=platform.arrays().rank_machine)
    columns = PacketEngine().run(schedule, platform, transport_model(scenario), engine_options(scenario))
    return Times(
        int((columns.op_end_ps[urgent] - columns.op_start_ps[urgent]).max()),
        int(columns.op_end_ps[: len(ranks)].max()),
        int(columns.channel_max_queue_bytes.max()),
    )


@pytest.mark.parametrize(
    "overrides",
    [
        ("platform.ranks=8", "collective.all_reduce=ring"),
        ("platform.ranks=8", "collective.all_reduce=direct"),
        ("platform.kind=zionex", "collective.all_reduce=hierarchical"),
        ("platform.kind=leaf_spine", "platform.ranks=8", "platform.ranks_per_leaf=4", "collective.all_reduce=direct"),
    ],
)
def test_a_high_priority_takes_about_as_long_as_alone(overrides: tuple[str, ...]) -> None:
    alone, high, low = run(overrides, 6, with_bulk=False), run(overrides, 6), run(overrides, 0)
    # a frame that is being sent is not cut off: one on each link of a way
    assert alone.urgent_ps <= high.urgent_ps < 1.02 * alone.urgent_ps
    assert low.urgent_ps > 1.5 * high.urgent_ps
    assert high.bulk_end_ps > LATER_PS + high.urgent_ps, "it came while the other was under way, which then went on"


def test_a_high_priority_overtakes_in_the_queue_of_a_switch() -> None:
    """Four ranks share one link up: what waits for it is in the switch, and no NIC could let anything pass there."""
    keys = ("kind=leaf_spine", "ranks=8", "ranks_per_leaf=4", "spines=1")
    deep = ("switch.buffer=unlimited", "collective.all_reduce=direct", "transport.congestion_control=none")
    overrides = (*(f"platform.{key}" for key in keys), *deep)
    alone, high, low = run(overrides, 6, with_bulk=False), run(overrides, 6), run(overrides, 0)
    queue_ps = low.max_queue_bytes * 8 * 10
    assert queue_ps > 10 * alone.urgent_ps
    assert high.urgent_ps < 1.02 * alone.urgent_ps
    assert low.urgent_ps > alone.urgent_ps + queue_ps / 2


def test_every_step_of_priority_counts() -> None:
    overrides = ("platform.ranks=4", "collective.all_reduce=direct")
    times = {priority: run(overrides, priority).urgent_ps for priority in (0, 1, 6)}
    assert times[1] == times[6] < times[0]
