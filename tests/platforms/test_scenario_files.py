# SPDX-License-Identifier: GPL-2.0-only
"""The scenario files of published platforms: what they say is what the papers say."""

from __future__ import annotations

from pathlib import Path

import pytest

from astra_py.api import one_collective
from astra_py.config import load_scenario
from astra_py.platforms import build_platform

WORKLOADS = Path(__file__).parents[2] / "workloads"


@pytest.mark.parametrize("name", ["hpcc_incast", "hpcc_two_elephants"])
def test_hpcc(name: str) -> None:
    scenario = load_scenario(WORKLOADS / f"{name}.toml")
    assert build_platform(scenario.platform).ranks == 320
    assert (scenario.transport.payload, scenario.transport.header_size) == (1000, 36)
    result = one_collective(scenario, "sendrecv", 500_000, (16, 0)).run()
    # 500 packets of 1,036 B, stored at three switches, the links between them four times as fast; four links of 1 us
    first, last = 8 * 1036 / 100e3, 8 * 1036 / 400e3
    assert result.collectives["time_us"].item() == pytest.approx(501 * first + 2 * last + 4, rel=1e-6)


def test_meta() -> None:
    scenario = load_scenario(WORKLOADS / "meta_ai_zone.toml")
    platform = build_platform(scenario.platform)
    leaves = {name: platform.graph.degree(node) for node, name in platform.graph.nodes(data="name") if "leaf" in name}
    assert (platform.ranks, leaves) == (32, {"leaf0": 32, "leaf1": 32})
    assert (scenario.platform.routing, scenario.platform.accelerator) == ("enhanced_ecmp", "H100")
