# SPDX-License-Identifier: GPL-2.0-only
"""Algorithms beside one another on the packet engine: two that must agree, and the choice of ``auto``."""

from __future__ import annotations

import pytest

from astra_py.api import Run, one_collective
from astra_py.collectives import algorithm_names, check_dataflow
from astra_py.config import load_scenario
from collective_cases import CHOSEN_AT_ISSUE
from shared_jobs import ENGINES

PLATFORMS = {
    "one switch": ("platform.ranks=8",),
    "two oversubscribed leaves": (
        "platform.kind=leaf_spine",
        "platform.ranks=16",
        "platform.ranks_per_leaf=8",
        "platform.oversubscription=2",
    ),
    "two machines of four": (
        "platform.kind=zionex",
        "platform.nodes=2",
        "platform.accelerators_per_node=4",
        "platform.ranks_per_leaf=8",
    ),
    "four machines of two": (
        "platform.kind=zionex",
        "platform.nodes=4",
        "platform.accelerators_per_node=2",
        "platform.ranks_per_leaf=8",
    ),
}
#: Kinds and the algorithms that halve or double refuse no group of these sizes.
KINDS = ("all_reduce", "all_to_all", "reduce_scatter", "all_gather", "broadcast")


def run_of(kind: str, algorithm: str, size_bytes: int, keys: tuple[str, ...]) -> Run:
    return one_collective(load_scenario({}, [f"collective.{kind}={algorithm}", *keys]), kind, size_bytes)


def time_ps(kind: str, algorithm: str, size_bytes: int, *keys: str) -> int:
    return int(run_of(kind, algorithm, size_bytes, keys).run().collectives["time_ps"][0])


def test_direct_and_ring_take_as_long() -> None:
    """100 MB among 8 ranks at 50 GB/s: 2 x 7/8 x 100 MB / 50 GB/s = 3.5 ms of payload alone."""
    keys = ("platform.ranks=8", "platform.link_rate=400Gbps", "platform.link_delay=10ns", "platform.switch_latency=0ns")
    ring, direct = (time_ps("all_reduce", algorithm, 100 * 10**6, *keys) for algorithm in ("ring", "direct"))
    assert min(ring, direct) > 3_500_000_000
    assert abs(ring - direct) < 0.05 * min(ring, direct)


@pytest.mark.parametrize(
    ("kind", "algorithm"), [("all_reduce", "hierarchical"), ("all_to_all", "hierarchical"), ("all_to_all", "pxn")]
)
@pytest.mark.parametrize("engine", ENGINES)
def test_four_of_one_machine_and_six_of_another(engine: str, kind: str, algorithm: str) -> None:
    """It ends, and what was counted at the NICs is what closed forms declare; some ranks have no rail of their own."""
    keys = [f"engine={engine}", f"collective.{kind}={algorithm}", "platform.kind=zionex", "platform.nodes=2"]
    run = one_collective(load_scenario({}, keys), kind, 100_001, (0, 1, 2, 3, 8, 9, 10, 11, 12, 13))
    result = run.run()
    assert result.collectives["ranks"].tolist() == [10]
    assert {"data_flow", "sent_bytes", "received_bytes"} <= {check.name for check in result.checks}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_double_binary_tree_ends_for_any_number_of_ranks(engine: str) -> None:
    for ranks in range(2, 66):
        keys = [f"engine={engine}", f"platform.ranks={ranks}", "collective.tree_piece=4kB"]
        run = one_collective(
            load_scenario({}, [*keys, "collective.all_reduce=double_binary_tree"]), "all_reduce", 20_001
        )
        check_dataflow(run.schedule.templates[0])
        assert (run.run().messages["delivered_ps"] > 0).all()


def test_auto_says_what_it_chose() -> None:
    small, large = (
        run_of("broadcast", "auto", size, ("platform.ranks=8",)).run().collectives for size in (64, 4_000_000)
    )
    assert (small["algorithm"][0], large["algorithm"][0]) == ("direct (auto)", "ring (auto)")


@pytest.mark.slow
@pytest.mark.parametrize("size_bytes", [4 * 2**10, 64 * 2**10, 2**20, 4 * 2**20, 16 * 2**20])
@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_auto_is_within_a_tenth_of_the_best(kind: str, platform: str, size_bytes: int) -> None:
    keys = PLATFORMS[platform]
    times = {
        name: time_ps(kind, name, size_bytes, *keys) for name in algorithm_names(kind) if name not in CHOSEN_AT_ISSUE
    }
    assert time_ps(kind, "auto", size_bytes, *keys) <= 1.1 * min(times.values()), times
