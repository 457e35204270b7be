# SPDX-License-Identifier: GPL-2.0-only
"""Messages over several NVSwitches: all planes carry their share, whichever engine runs."""

from __future__ import annotations

import pandas as pd
import pytest

from astra_py.api import one_collective
from astra_py.config import load_scenario
from astra_py.results.result import Result
from shared_jobs import ENGINES

#: Planes of NVSwitches; those of a DGX H100 have unequal rates.
PLANES = {"dgx_a100": 6, "dgx_h100": 4}


def run_of(engine: str, platform: str, kind: str, size_bytes: int, group: tuple[int, ...] | None = None) -> Result:
    scenario = load_scenario({}, [f"engine={engine}", f"platform.kind={platform}", "platform.nodes=1"])
    return one_collective(scenario, kind, size_bytes, group).run()


def links_of_rank_0(result: Result) -> pd.DataFrame:
    links = result.links
    return links[(links["from"] == "rank0") & (links["payload_bytes"] > 0)]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("platform", PLANES)
def test_a_message_takes_all_planes(engine: str, platform: str) -> None:
    planes = PLANES[platform]
    size = 4096 * 1000 * planes + 1
    result = run_of(engine, platform, "sendrecv", size, (0, 1))
    links = links_of_rank_0(result)
    assert (len(links), links["payload_bytes"].sum()) == (planes, size)
    share = links["payload_bytes"] / links["rate_Gbps"]
    assert share.max() == pytest.approx(share.min(), rel=0.003)
    on_wire_ps = size * 8 / 0.94 / links["rate_Gbps"].sum() * 1e3
    assert result.collectives["time_ps"][0] == pytest.approx(on_wire_ps, rel=0.02)


@pytest.mark.parametrize("platform", PLANES)
@pytest.mark.parametrize("kind", ["all_reduce", "all_gather", "all_to_all", "broadcast"])
@pytest.mark.parametrize("size_bytes", [100_001, 16_000_000])
def test_engines_agree_inside_a_machine(platform: str, kind: str, size_bytes: int) -> None:
    packet, *others = (run_of(engine, platform, kind, size_bytes).collectives["time_ps"][0] for engine in ENGINES)
    assert others == pytest.approx([packet] * len(others), rel=0.15 if size_bytes < 10**6 else 0.03)


@pytest.mark.parametrize("size_bytes", [0, 1, 4096, 4097, 3 * 4096])
def test_a_short_message_takes_as_many_planes_as_it_has_packets(size_bytes: int) -> None:
    result = run_of("analytic", "dgx_h100", "sendrecv", size_bytes, (0, 1))
    packets = max(-(-size_bytes // 4096), 1)
    carried = links_of_rank_0(result)["payload_bytes"]
    assert (len(carried), sum(carried)) == (packets if size_bytes else 0, size_bytes)


@pytest.mark.parametrize(("platform", "inside_bps"), [("dgx_a100", 2400 * 10**9), ("dgx_h100", 3600 * 10**9)])
def test_a_level_inside_a_machine_has_all_planes(platform: str, inside_bps: int) -> None:
    """What Themis and the choice of NCCL's protocol go by."""
    scenario = load_scenario({}, [f"platform.kind={platform}", "platform.nodes=2", "system.preset=nccl"])
    system = one_collective(scenario, "all_reduce", 10**6).system
    assert system.inside is not None
    assert system.between is not None
    assert system.inside.rate_bps == pytest.approx(0.94 * inside_bps, abs=10)
    assert system.between.rate_bps < system.inside.rate_bps
