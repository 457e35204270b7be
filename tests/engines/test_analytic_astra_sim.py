# SPDX-License-Identifier: GPL-2.0-only
"""ASTRA-sim 2's analytical backends, to the nanosecond.

The table holds results of these programs (https://github.com/astra-sim/astra-sim, analytical network backends, March
2026): one switch of bandwidth 46.566 in units of 2^30 B/s and latency 500 ns a link, endpoint delay 10 ns, local memory
1,600 GB/s, one chunk. Nothing of it is fitted.
"""

from __future__ import annotations

from math import floor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import astra_py
from astra_py.api import one_collective
from astra_py.config import Scenario, load_scenario
from astra_py.errors import ConfigError

MIB = 2**20
LINK_BPS = floor(46.566 * 2**30 * 8)
# kind, algorithm, ranks, bytes per rank, congestion aware ns, congestion unaware ns
ROWS = [
    ("all_reduce", "ring", 8, 1 * MIB, 89_239, 52_545),
    ("all_reduce", "ring", 8, 16 * MIB, 1_216_064, 628_862),
    ("all_reduce", "ring", 16, 1 * MIB, 110_710, 71_410),
    ("all_reduce", "ring", 128, 1 * MIB, 341_259, 299_857),
    ("all_to_all", "direct", 8, 1 * MIB, 21_988, 3_641),
    ("all_to_all", "direct", 16, 1 * MIB, 21_980, 2_330),
    ("all_to_all", "direct", 128, 1 * MIB, 21_884, 1_183),
]
#: What a run in these modes has to say.
KEYS = (
    "engine=analytic",
    f"platform.link_rate={LINK_BPS}bps",
    "platform.link_delay=500ns",
    "system.endpoint_delay=10ns",
    "system.local_memory_bandwidth=1600GB/s",
)


def scenario_of(mode: str, *keys: str) -> Scenario:
    has_switch = not any("kind=" in key for key in keys)
    latency = ("platform.switch_latency=0ns",) if has_switch else ()
    return load_scenario({}, [*KEYS, *latency, f"analytic.mode={mode}", *keys])


def time_ns(kind: str, size: int, mode: str, *keys: str) -> float:
    run = one_collective(scenario_of(mode, *keys), kind, size)
    return int(run.run().collectives["time_ps"][0]) / 1000


@pytest.mark.parametrize(("kind", "algorithm", "ranks", "size", "aware_ns", "unaware_ns"), ROWS)
def test_row(kind: str, algorithm: str, ranks: int, size: int, aware_ns: int, unaware_ns: int) -> None:
    keys = (f"collective.{kind}={algorithm}", f"platform.ranks={ranks}")
    assert time_ns(kind, size, "astra_sim_congestion", *keys) == aware_ns
    assert time_ns(kind, size, "astra_sim", *keys) == unaware_ns


def test_its_own_transport_preset_changes_nothing() -> None:
    """Acknowledgements, packets and headers do not exist in it."""
    keys = ("platform.ranks=8", "transport.preset=astra_ns3")
    assert time_ns("all_reduce", MIB, "astra_sim", *keys) == 52_545
    assert time_ns("all_reduce", MIB, "astra_sim_congestion", *keys) == 89_239


@settings(max_examples=25)
@given(n=st.integers(2, 12), size=st.integers(1, 64).map(lambda k: k * 27_720))
def test_formulas_of_its_program(n: int, size: int) -> None:
    """Sizes are multiples of all numbers of ranks, so that its whole parts are ours."""
    m = size // n
    s, local = floor(8e9 * m / LINK_BPS), 3 * floor(m / 1600)
    keys = (f"platform.ranks={n}",)
    steps, wait = 2 * (n - 1), (n - 1) * local + 10
    assert time_ns("all_reduce", size, "astra_sim", *keys) == steps * (1000 + s + 10) + wait
    assert time_ns("all_reduce", size, "astra_sim_congestion", *keys) == steps * (2 * (500 + s) + 10) + wait
    assert time_ns("all_to_all", size, "astra_sim", *keys) == 1000 + s + 20
    assert time_ns("all_to_all", size, "astra_sim_congestion", *keys) == n * s + 1000 + 20


@pytest.mark.parametrize(
    ("shape", "hops"), [(("kind=ring", "ranks=7"), 3), (("kind=ring", "ranks=8"), 4), (("kind=fully_connected",), 1)]
)
def test_hops_of_its_topologies(shape: tuple[str, ...], hops: int) -> None:
    """A ring's farthest rank is the shorter way round, everyone's is one link away where all are connected."""
    keys = [f"platform.{key}" for key in shape]
    ranks = load_scenario({}, keys).platform.ranks
    s = floor(8e9 * 100_000 / LINK_BPS)
    assert time_ns("all_to_all", 100_000 * ranks, "astra_sim", *keys) == hops * 500 + s + 20


def test_half_way_round_a_ring_goes_by_the_next_rank() -> None:
    """Of eight ranks, four links are as short both ways: those of all ranks share the links of one direction.

    Each link then has 1 + 2 + 3 messages of the ways of up to three links and 4 of four links there, and 6 back.
    """
    keys = ("platform.kind=ring", "platform.ranks=8")
    size = 800_000
    run = one_collective(scenario_of("astra_sim_congestion", *keys), "all_to_all", size)
    links = run.run().links.sort_values("channel") if "channel" in run.run().links else run.run().links
    assert sorted(set(links["payload_bytes"])) == [6 * 100_000, 10 * 100_000]


def test_reductions_are_cut_to_whole_nanoseconds() -> None:
    run = one_collective(scenario_of("astra_sim"), "all_reduce", 8 * 12_345)
    durations = run.schedule.templates[0].duration_ps
    assert set(durations[durations > 0]) == {3 * 7 * 1000}


def test_notes_say_what_the_number_is() -> None:
    run = one_collective(scenario_of("astra_sim"), "all_reduce", MIB)
    assert any("links are never shared" in note for note in run.notes)
    assert any("is bandwidth 46.566 in its network file" in note for note in run.notes)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (("platform.switch_latency=300ns",), "has latency on links alone, and switch0 takes 300ns"),
        (("platform.kind=torus", "platform.dims=3x3"), "and torus is none of them; allowed: platform.kind = 'ring'"),
        (("platform.kind=dgx_a100",), "has one bandwidth for all links; here they are"),
        (("transport.send_latency=1us",), "knows no transport.send_latency, which is 1us"),
        (("engine=packet",), "analytic.mode: 'astra_sim' would mean nothing with engine = 'packet'"),
    ],
)
def test_what_it_does_not_define_is_refused(keys: tuple[str, ...], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        time_ns("all_reduce", MIB, "astra_sim", *keys)


def test_the_network_interface_has_it_too() -> None:
    """One message of 100,000 B over a switch: 1 us, and 2 us of bytes, stored once more if aware."""
    for mode, times in (("astra_sim", 1), ("astra_sim_congestion", 2)):
        at: list[int] = []
        with astra_py.NetworkInterface(scenario_of(mode)) as network:
            network.send(0, 1, 100_000, 7)
            network.recv(1, 0, 100_000, 7, lambda at=at, network=network: at.append(network.now()))
            network.run()
        assert at == [1_000_000 + times * 2_000_000]
    with pytest.raises(ConfigError, match="has latency on links alone"):
        astra_py.NetworkInterface(load_scenario({}, [*KEYS, "analytic.mode=astra_sim"]))
