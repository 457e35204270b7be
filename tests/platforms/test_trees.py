# SPDX-License-Identifier: GPL-2.0-only
"""Fat trees: counts, cabling and ways; HPCC's; one too large for anything slow."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra_py.platforms import Platform, describe
from platform_cases import built, ways_of


def neighbours(platform: Platform) -> dict[str, set[str]]:
    graph = platform.graph
    name = graph.nodes(data="name")
    return {name[node]: {name[near] for near in graph.adj[node]} for node in graph}


@given(st.integers(1, 5))
def test_a_full_tree_of_k_ports(half: int) -> None:
    k = 2 * half
    platform = built("kind=fat_tree", f"ports={k}", f"ranks={k**3 // 4}")
    kinds = Counter(name.rstrip("0123456789") for name in platform.arrays().node_names)
    assert kinds == {"rank": k**3 // 4, "leaf": k * half, "spine": k * half, "core": half**2}
    degree = dict(platform.graph.degree())
    assert {degree[node] for node in range(platform.ranks, len(degree))} == {k}
    assert describe(platform).notes == ()


@pytest.mark.parametrize(("ranks", "k"), [(1, 2), (2, 2), (3, 4), (16, 4), (17, 6), (54, 6), (55, 8), (432, 12)])
def test_ports_are_as_few_as_hold_the_ranks(ranks: int, k: int) -> None:
    names = built("kind=fat_tree", f"ranks={ranks}").arrays().node_names
    assert sum(name.startswith("core") for name in names) == (k // 2) ** 2


def test_ways_have_one_three_or_five_switches() -> None:
    for (src, dst), way in ways_of(built("kind=fat_tree", "ports=4", "ranks=16")).items():
        switches = 1 if src // 2 == dst // 2 else 3 if src // 4 == dst // 4 else 5
        assert len(way) == 2 + switches


def test_oversubscription_takes_spines_away() -> None:
    platform = built("kind=fat_tree", "ports=8", "ranks=128", "oversubscription=2")
    near = neighbours(platform)
    assert len(near["leaf0"]) == 4 + 2
    assert describe(platform).bisection_bps == 128 // 2 // 2 * 100 * 10**9


def test_a_part_of_a_tree() -> None:
    platform = built("kind=fat_tree", "ports=4", "ranks=5")
    near = neighbours(platform)
    assert [len(near[f"leaf{leaf}"]) for leaf in range(3)] == [4, 4, 3]
    assert near["core0"] == {"spine0", "spine2"}
    assert ways_of(platform, pairs=[(0, 4)])[0, 4][-1] == "rank4"


def test_the_tree_of_hpcc() -> None:
    platform = built("preset=hpcc")
    arrays, near = platform.arrays(), neighbours(platform)
    # the first line and the rows of the topology file published with the paper
    assert (len(arrays.node_names), len(arrays.node_names) - platform.ranks, len(arrays.link_a)) == (376, 56, 480)
    rates = Counter(zip(np.array(arrays.class_names)[arrays.link_class], arrays.link_rate_bps.tolist(), strict=True))
    assert rates == {("host", 100 * 10**9): 320, ("fabric", 400 * 10**9): 80, ("core", 400 * 10**9): 80}
    assert set(arrays.link_delay_ps.tolist()) == {10**6}
    for leaf in range(20):
        pod = leaf // 4
        assert near[f"leaf{leaf}"] == {f"rank{leaf * 16 + i}" for i in range(16)} | {
            f"spine{pod * 4 + i}" for i in range(4)
        }
    for core in range(16):
        assert near[f"core{core}"] == {f"spine{pod * 4 + core // 4}" for pod in range(5)}


def test_four_thousand_hosts() -> None:
    platform = built("kind=fat_tree", "ranks=4000")
    assert (platform.ranks, len(platform.arrays().link_a)) == (4000, 12_060)
    way = ways_of(platform, pairs=[(0, 3999)])[0, 3999]
    assert [name.rstrip("0123456789") for name in way] == ["rank", "leaf", "spine", "core", "spine", "leaf", "rank"]


@pytest.mark.parametrize("kind", ["single_switch", "leaf_spine"])
def test_a_switch_of_512_ports(kind: str) -> None:
    keys = ("ranks_per_leaf=512", "spines=1") if kind == "leaf_spine" else ()
    platform = built(f"kind={kind}", "ranks=512", *keys)
    assert max(count for _, count in platform.graph.degree()) >= 512
    assert len(ways_of(platform, pairs=[(0, 511)])[0, 511]) == 3
