# SPDX-License-Identifier: GPL-2.0-only
"""What the host presets carry over one core at each end: fitted to what was measured, where something was."""

from __future__ import annotations

import pytest

from astra_py.api import one_collective
from astra_py.config import load_scenario
from astra_py.errors import ConfigError
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


@pytest.mark.parametrize("kind", ["all_to_all", "all_reduce"])
def test_an_offload_costs_no_more_than_none(kind: str) -> None:
    """The presets differ by what is switched on, and what is merged is never dearer than packet by packet."""
    times = []
    for keys in (("host.tso=false", "host.gro=false"), ("host.gro=false",), ("host.tso=false",), ()):
        given = ["host.preset=kernel_tcp_tso_gro", "host.cores=1", *keys]
        scenario = load_scenario({"platform": {"ranks": 4}, "transport": {"kind": "tcp"}}, given)
        times.append(int(one_collective(scenario, kind, 2_000_000).run().collectives["time_ps"][0]))
    neither, tso, gro, both = times
    assert max(tso, gro) <= neither
    assert both <= min(tso, gro)


def test_kernel_presets_differ_by_their_offloads_alone() -> None:
    with_both, without = (
        load_scenario({"transport": {"kind": "tcp"}}, keys).host
        for keys in (
            ["host.preset=kernel_tcp_tso_gro"],
            ["host.preset=kernel_tcp", "host.tso=true", "host.gro=true"],
        )
    )
    assert with_both.model_copy(update={"preset": without.preset}) == without


def test_a_merged_packet_is_not_dearer_than_a_single_one() -> None:
    keys = ["transport.kind=tcp", "host.gro=true", "host.per_packet=1us", "host.per_merged_packet=2us"]
    with pytest.raises(ConfigError, match=r"host\.per_merged_packet.*at most '1us'"):
        load_scenario({}, keys)


def test_cores_are_never_busy_for_longer_than_they_are_watched() -> None:
    """A message of few bytes is over long before the work that its acknowledgement is."""
    keys = ["host.preset=kernel_tcp", "host.cores=1"]
    scenario = load_scenario({"platform": {"ranks": 4}, "transport": {"kind": "tcp"}}, keys)
    use = one_collective(scenario, "all_to_all", 12).run().host_cores["utilisation_percent"]
    assert 50 < use.max() <= 100


def test_an_ideal_host_leaves_the_link_full() -> None:
    result = one_connection("host.preset=ideal")
    assert gbps(result) == pytest.approx(100 * 8948 / 9038, rel=0.005)
    assert not result.host_cores["busy_us"].any()


@pytest.mark.parametrize("staging", ["always", "auto"])
def test_staging_is_paid_and_counted(staging: str) -> None:
    result = one_connection(f"host.staging={staging}", "host.staging_rate=10Gbps")
    assert gbps(result) == pytest.approx(10, rel=0.05)
    assert result.staging[["rank", "out_bytes", "in_bytes"]].to_numpy().tolist() == [[0, SIZE, 0], [1, 0, SIZE]]
