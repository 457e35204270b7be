# SPDX-License-Identifier: GPL-2.0-only
"""The scenario files of published platforms: what they say is what the papers say."""

from __future__ import annotations

from pathlib import Path

import pytest

from astra_py.api import one_collective
from astra_py.config import load_scenario
from astra_py.platforms import build_platform

WORKLOADS = Path(__file__).parents[2] / "workloads"


#: Of a packet of 1,036 B at 100 and at 400 Gb/s, in us.
HOST_US, FABRIC_US = 8 * 1036 / 100e3, 8 * 1036 / 400e3


@pytest.mark.parametrize(
    ("name", "members", "flow_bytes", "first_us"),
    [
        # into a rack from others of its pod: stored at three switches, four links of 1 us
        ("hpcc_incast", (0, *range(16, 76)), 500_000, HOST_US + 2 * FABRIC_US + 4),
        # inside a rack: stored at one switch
        ("hpcc_two_elephants", (1, 2, 3), 5_000_000, HOST_US + 2),
    ],
)
def test_hpcc(name: str, members: tuple[int, ...], flow_bytes: int, first_us: float) -> None:
    scenario = load_scenario(WORKLOADS / f"{name}.toml")
    assert build_platform(scenario.platform).ranks == 320
    assert scenario.transport.congestion_control == "hpcc"
    # at line rate and never paused, the receiver's link tells the rest
    free = ["transport.congestion_control=none", "switch.buffer=unlimited", "transport.window=none"]
    scenario = load_scenario(WORKLOADS / f"{name}.toml", free)
    result = one_collective(scenario, "gather", len(members) * flow_bytes, members).run()
    flows = result.messages[["src", "dst", "size_bytes"]].to_numpy().tolist()
    assert sorted(flows) == [[src, members[0], flow_bytes] for src in members[1:]]
    # the receiver's link is busy from the first packet's arrival to the last one's
    packets = (len(members) - 1) * flow_bytes // 1000
    assert result.collectives["time_us"].item() == pytest.approx(packets * HOST_US + first_us, rel=1e-9)


def test_meta() -> None:
    scenario = load_scenario(WORKLOADS / "meta_ai_zone.toml")
    platform = build_platform(scenario.platform)
    leaves = {name: platform.graph.degree(node) for node, name in platform.graph.nodes(data="name") if "leaf" in name}
    assert (platform.ranks, leaves) == (32, {"leaf0": 32, "leaf1": 32})
    assert (scenario.platform.routing, scenario.platform.accelerator) == ("enhanced_ecmp", "H100")
