# SPDX-License-Identifier: GPL-2.0-only
"""Closed times beside both engines, and for more ranks than any engine takes."""

from __future__ import annotations

from fractions import Fraction

import pytest

from astra_py.api import one_collective
from astra_py.collectives import ASYMPTOTIC, Level, SystemModel, algorithm_names, closed_form, closed_time_ps
from astra_py.collectives.registry import find_algorithm
from astra_py.config import load_scenario
from astra_py.errors import ConfigError
from astra_py.workloads import COLLECTIVE_KINDS
from collective_cases import CHOSEN_AT_ISSUE

ONE_SWITCH_PS = 2 * 500_000 + 300_000
NVSWITCH_PS = 2 * 250_000
#: Payload rates of full packets: 4,096 of 4,178 line bytes at 100 Gb/s, and of 4,358 at 300 GB/s.
ETHERNET_BPS = int(100 * 10**9 * Fraction(4096, 4178))
NVLINK_BPS = int(2_400 * 10**9 * Fraction(4096, 4358))
INSIDE = Level(latency_ps=NVSWITCH_PS, bandwidth_bps=NVLINK_BPS)
BETWEEN = Level(latency_ps=ONE_SWITCH_PS, bandwidth_bps=ETHERNET_BPS)
ON_TWO_LEVELS = [
    ("all_to_all", "direct"),
    ("all_to_all_v", "direct"),
    ("reduce_scatter", "direct"),
    ("all_gather", "direct"),
    ("all_reduce", "direct"),
    ("reduce_scatter", "ring"),
    ("all_gather", "ring"),
    ("all_reduce", "ring"),
    ("reduce_scatter", "halving"),
    ("all_gather", "doubling"),
    ("all_reduce", "halving_doubling"),
    ("all_reduce", "recursive_doubling"),
    ("all_reduce", "hierarchical"),
    ("all_to_all", "hierarchical"),
]


def run_ps(engine: str, kind: str, algorithm: str, size: int, *keys: str) -> int:
    overrides = [f"engine={engine}", f"collective.{kind}={algorithm}", "transport.ack=out_of_band", *keys]
    return int(one_collective(load_scenario({}, overrides), kind, size).run().collectives["time_ps"][0])


def zionex(machines: int, members: int) -> list[str]:
    keys = ["kind=zionex", f"nodes={machines}", f"accelerators_per_node={members}"]
    return [f"platform.{key}" for key in (*keys, f"ranks_per_leaf={machines * members}")]


@pytest.mark.parametrize("packets", [1, 8, 1000])
@pytest.mark.parametrize(("machines", "members"), [(2, 8), (4, 4), (8, 2), (2, 2)])
@pytest.mark.parametrize(("kind", "algorithm"), ON_TWO_LEVELS)
def test_two_levels(kind: str, algorithm: str, machines: int, members: int, packets: int) -> None:
    """The first packet of a message is 16 B longer, the only difference."""
    size = 4096 * packets * (machines * members)
    time = run_ps("analytic", kind, algorithm, size, *zionex(machines, members))
    form = closed_time_ps(kind, algorithm, size, machines=machines, members=members, inside=INSIDE, between=BETWEEN)
    most = Fraction(4178 * packets + 16, 4178 * packets)
    assert form - 1000 <= time <= form * most + 1000


@pytest.mark.parametrize(
    ("kind", "algorithm", "tolerance"),
    [
        ("all_reduce", "double_binary_tree", 0.25),
        ("all_reduce", "rail", 0.10),
        ("all_to_all", "pxn", 0.10),
    ],
)
def test_asymptotic(kind: str, algorithm: str, tolerance: float) -> None:
    assert (kind, algorithm) in ASYMPTOTIC
    machines, members = (8, 1) if algorithm == "double_binary_tree" else (2, 8)
    keys = ["platform.ranks=8"] if members == 1 else zionex(machines, members)
    size = 2**28
    time = run_ps("analytic", kind, algorithm, size, *keys)
    form = closed_time_ps(kind, algorithm, size, machines=machines, members=members, inside=INSIDE, between=BETWEEN)
    assert form == pytest.approx(time, rel=tolerance)


@pytest.mark.parametrize("packets", [2, 7])
@pytest.mark.parametrize("ranks", [2, 5, 8])
@pytest.mark.parametrize(
    ("kind", "algorithm"), [("all_reduce", "ring"), ("reduce_scatter", "ring"), ("all_gather", "ring")]
)
def test_packets_in_the_exact_regime(kind: str, algorithm: str, ranks: int, packets: int) -> None:
    """A switch stores each packet once more, and a message's first one has 16 B more: both are a step's latency."""
    line, first = 4178 * 80, (4178 + 16) * 80
    step = ONE_SWITCH_PS + 2 * first - line
    size = 4096 * packets * ranks
    time = run_ps("packet", kind, algorithm, size, f"platform.ranks={ranks}")
    steps = closed_form(kind, algorithm).steps(ranks)
    assert time == steps * (step + packets * line)
    form = [
        closed_time_ps(
            kind, algorithm, size, machines=ranks, between=Level(latency_ps=step, bandwidth_bps=ETHERNET_BPS + more)
        )
        for more in (1, 0)
    ]
    assert form[0] <= time <= form[1]


def test_every_algorithm_on_one_level() -> None:
    for kind in COLLECTIVE_KINDS:
        # those that other tests registered have none
        own = [name for name in algorithm_names(kind) if find_algorithm(kind, name).__module__.startswith("astra_py.")]
        for name in own:
            if name not in CHOSEN_AT_ISSUE:
                ranks = 2 if kind == "sendrecv" else 100_000
                time = closed_time_ps(kind, name, 2**30, machines=ranks, between=BETWEEN)
                assert time >= BETWEEN.latency_ps


def test_a_hundred_thousand_ranks_are_a_handful_of_figures() -> None:
    """2 x 7/8 of 1 GiB inside; 2 (N - 1) / N of an eighth of it, and 2 (N - 1) latencies, on 12,500 machines."""
    machines = 12_500
    system = SystemModel(all_reduce_inside="direct", all_reduce_between="ring")
    time = closed_time_ps(
        "all_reduce", "hierarchical", 2**30, machines=machines, members=8, inside=INSIDE, between=BETWEEN, system=system
    )
    inside = 2 * (NVSWITCH_PS + Fraction(2**30 * 8 * 7 * 10**12, 8 * NVLINK_BPS))
    between = 2 * (machines - 1) * (ONE_SWITCH_PS + Fraction(2**27 * 8 * 10**12, machines * ETHERNET_BPS))
    assert time == -(-(inside + between) // 1)


@pytest.mark.parametrize(
    ("machines", "members", "message"),
    [
        (2, 3, "halving and doubling on 2 machines of 3: not powers of two"),
        (0, 1, "0 machines of 1 members; allowed: at least 1 each"),
    ],
)
def test_shapes_without_a_time(machines: int, members: int, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        closed_time_ps(
            "all_reduce", "halving_doubling", 1, machines=machines, members=members, inside=INSIDE, between=BETWEEN
        )


def test_what_has_no_time_says_so() -> None:
    with pytest.raises(ConfigError, match="all_to_all algorithm 'bruck' has no closed time on 2 machines of 2; on two"):
        closed_time_ps("all_to_all", "bruck", 1, machines=2, members=2, inside=INSIDE, between=BETWEEN)
    with pytest.raises(ConfigError, match="the level 'inside' is not given"):
        closed_time_ps("all_to_all", "direct", 1, machines=2, members=2, between=BETWEEN)
    assert closed_time_ps("all_reduce", "ring", 10**9, machines=1) == 0
