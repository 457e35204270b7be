# SPDX-License-Identifier: GPL-2.0-only
"""Lower bounds: by hand, and below whatever an engine makes of any algorithm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astra_py.analysis.bounds import Bound, lower_bound
from astra_py.api import one_collective
from astra_py.collectives import algorithm_names
from astra_py.config import load_scenario
from astra_py.engines.resolve import transport_model
from astra_py.errors import ConfigError
from astra_py.platforms import build_platform
from astra_py.workloads import COLLECTIVE_KINDS
from collective_cases import CHOSEN_AT_ISSUE

MIB = 2**20
#: Overrides of platforms of all kinds, small enough for packets.
PLATFORMS = [
    ("kind=single_switch", "ranks=5"),
    ("kind=ring", "ranks=6"),
    ("kind=fully_connected", "ranks=4"),
    ("kind=torus", "dims=3x4"),
    ("kind=leaf_spine", "ranks=8", "ranks_per_leaf=4", "spines=2"),
    ("kind=fat_tree", "ranks=16", "ports=4"),
    ("kind=zionex", "nodes=2", "accelerators_per_node=4", "ranks_per_leaf=8"),
    ("kind=rail_optimized", "nodes=2", "accelerators_per_node=4"),
    ("kind=dgx_a100", "nodes=2"),
]
KINDS = [kind for kind in COLLECTIVE_KINDS if kind != "sendrecv"]


def bound_of(kind: str, size: int, *keys: str, group: tuple[int, ...] | None = None) -> Bound:
    scenario = load_scenario({}, [f"platform.{key}" for key in keys])
    return lower_bound(kind, size, build_platform(scenario.platform), transport_model(scenario), group)


def payload_ps(size_bytes: int, bps: int) -> int:
    """Full packets on Ethernet: 4,096 of 4,178 line bytes."""
    return -(-8 * 10**12 * size_bytes // -(-bps * 4096 // 4178))


def test_ranks_of_a_switch() -> None:
    """Four ranks, 100 Gb/s, 2 x 500 ns and 300 ns: the closed form of a direct exchange with full packets."""
    bound = bound_of("all_to_all", 4 * MIB, "ranks=4")
    assert bound.latency_ps == 1_300_000
    assert bound.time_ps == bound.bandwidth_ps == payload_ps(3 * MIB, 10**11) + 1_300_000
    assert bound.cut == "rank 0: 3,145,728 B"


def test_reductions_count_twice() -> None:
    """All ranks together send 2 (n - 1) M at n times a NIC's rate: the ring's bytes."""
    bound = bound_of("all_reduce", 4 * MIB, "ranks=4")
    assert bound.time_ps == payload_ps(6 * MIB, 10**11)
    assert bound.cut == "all ranks together: 25,165,824 B"


def test_machines_and_bisection() -> None:
    """Two machines of four, a NIC each: what a machine has for the other one, over four NICs."""
    keys = ("kind=zionex", "nodes=2", "accelerators_per_node=4", "ranks_per_leaf=8")
    bound = bound_of("all_to_all", 8 * MIB, *keys)
    assert bound.cut == "machine 0: 16,777,216 B"
    assert bound.time_ps == pytest.approx(payload_ps(4 * MIB, 10**11) + bound.latency_ps, abs=10)


def test_a_thin_tier() -> None:
    """Two leaves of four with one spine: four ranks' bytes over one link."""
    bound = bound_of("all_to_all", 8 * MIB, "kind=leaf_spine", "ranks=8", "ranks_per_leaf=4", "spines=1")
    assert "leaf" in bound.cut or "bisection" in bound.cut
    assert bound.time_ps > payload_ps(16 * MIB, 4 * 10**11)


def test_small_messages_have_to_get_there() -> None:
    """Six ranks round a ring: the farthest is three links of 500 ns away."""
    bound = bound_of("all_gather", 6, "kind=ring", "ranks=6")
    assert bound.latency_ps == 3 * 500_000
    assert bound.time_ps == bound.latency_ps
    near = bound_of("all_gather", 2, "kind=ring", "ranks=6", group=(0, 1))
    assert near.latency_ps == 500_000


def test_nothing_to_do_takes_no_time() -> None:
    assert bound_of("all_reduce", 0, "ranks=4").time_ps == 0
    assert bound_of("all_reduce", 5, "ranks=4", group=(2,)).time_ps == 0
    assert bound_of("barrier", 0, "ranks=4").time_ps == 1_300_000
    with pytest.raises(ConfigError, match="unknown collective 'all_redcue'"):
        bound_of("all_redcue", 1, "ranks=4")


@pytest.mark.parametrize(
    ("kind", "payload", "group", "message"),
    [
        ("all_reduce", 1000, (0, 0), r"all_reduce: a rank is twice in the group \[0, 0\]"),
        ("all_reduce", 1000, (0, 4), "all_reduce: rank 4 is not on the platform; allowed: 0 to 3"),
        ("all_reduce", 1000, (-1, 2), "rank -1 is not on the platform"),
        ("all_reduce", -1000, None, "all_reduce of -1000 B; allowed: at least 0"),
        ("all_to_all_v", np.ones((3, 3), np.int64), None, r"of 4 ranks, and an array of shape \(3, 3\)"),
        ("all_reduce", np.ones((4, 4), np.int64), None, "a size, or of all_to_all and all_to_all_v a byte matrix"),
        ("all_to_all", -np.ones((4, 4), np.int64), None, "the byte matrix has a negative entry, -1"),
    ],
)
def test_what_has_no_bound(kind: str, payload: Any, group: tuple[int, ...] | None, message: str) -> None:
    scenario = load_scenario({}, ["platform.ranks=4"])
    with pytest.raises(ConfigError, match=message):
        lower_bound(kind, payload, build_platform(scenario.platform), transport_model(scenario), group)


def test_a_thousand_ranks() -> None:
    bound = bound_of("all_to_all", 1024 * MIB, "kind=fat_tree", "ranks=1024", "ports=16")
    assert bound.time_ps > payload_ps(1023 * MIB, 10**11)


@settings(max_examples=30)
@given(
    platform=st.sampled_from(PLATFORMS),
    kind=st.sampled_from(KINDS),
    size=st.one_of(st.integers(32, 5000), st.integers(5000, 4 * MIB)),
    choice=st.integers(0, 100),
    link=st.sampled_from(["link_rate=100Gbps", "link_rate=25Gbps", "link_delay=5us"]),
    transport=st.sampled_from(["transport.ack=out_of_band", "transport.kind=tcp"]),
)
def test_no_engine_is_below(
    platform: tuple[str, ...], kind: str, size: int, choice: int, link: str, transport: str
) -> None:
    names = [name for name in algorithm_names(kind) if name not in CHOSEN_AT_ISSUE]
    size = 0 if kind == "barrier" else size
    overrides = [f"platform.{key}" for key in (*platform, link)]
    overrides += [f"collective.{kind}={names[choice % len(names)]}", transport]
    scenario = load_scenario({}, overrides)
    payload = size if kind != "all_to_all_v" else None
    ranks = build_platform(scenario.platform).ranks
    if payload is None:
        part = [size // ranks + (i < size % ranks) for i in range(ranks)]
        payload = np.tile(np.array(part, dtype=np.int64), (ranks, 1))
    bound = lower_bound(kind, payload, build_platform(scenario.platform), transport_model(scenario))
    for engine in ("analytic", "flow", "packet") if size < 20_000 else ("analytic", "flow"):
        run = one_collective(load_scenario({}, [*overrides, f"engine={engine}"]), kind, size)
        try:
            time_ps = int(run.run().collectives["time_ps"].iloc[0])
        except ConfigError:
            return  # an algorithm that does not take this group
        assert time_ps >= bound.time_ps, engine
