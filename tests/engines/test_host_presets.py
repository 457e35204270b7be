# SPDX-License-Identifier: GPL-2.0-only
"""What the host presets carry over one core at each end: fitted to what was measured, where something was."""

from __future__ import annotations

import pytest

from astra_py.api import one_collective
from astra_py.config import load_scenario
from astra_py.results.result import Result

SIZE = 20_000_000


def one_connection(*overrides: str) -> Result:
    scenario = load_scenario({"platform": {"ranks": 2}, "transport": {"kind": "tcp"}}, overrides)
    return one_collective(scenario, "sendrecv", SIZE).run()


def gbps(result: Result) -> float:
    return 8 * SIZE / float(result.collectives["time_us"][0]) / 1e3


def test_a_core_with_offloads_carries_42_gbps() -> None:
    """Cai et al., SIGCOMM 2021, section 3.1: 42 Gb/s at an MTU of 9,000, half of it copies."""
    result = one_connection("host.preset=kernel_tcp_tso_gro")
    assert gbps(result) == pytest.approx(42, rel=0.05)
    busiest = result.host_cores.loc[result.host_cores["busy_us"].idxmax()]
    assert busiest["utilisation_percent"] > 90
    assert busiest["copy_us"] / busiest["busy_us"] == pytest.approx(0.5, abs=0.05)


def test_without_offloads_every_packet_costs() -> None:
    jumbo, small = (one_connection("host.preset=kernel_tcp", f"transport.tcp.mtu={mtu}") for mtu in ("9000B", "1500B"))
    assert gbps(small) < gbps(jumbo) / 4 < gbps(one_connection("host.preset=kernel_tcp_tso_gro")) / 5
    assert (small.collectives["bottleneck"][0], jumbo.collectives["bottleneck"][0]) == ("core", "core")


def test_an_ideal_host_leaves_the_link_full() -> None:
    result = one_connection("host.preset=ideal")
    assert gbps(result) == pytest.approx(100 * 8948 / 9038, rel=0.005)
    assert not result.host_cores["busy_us"].any()


@pytest.mark.parametrize("staging", ["always", "auto"])
def test_staging_is_paid_and_counted(staging: str) -> None:
    result = one_connection(f"host.staging={staging}", "host.staging_rate=10Gbps")
    assert gbps(result) == pytest.approx(10, rel=0.05)
    assert result.staging[["rank", "out_bytes", "in_bytes"]].to_numpy().tolist() == [[0, SIZE, 0], [1, 0, SIZE]]
