# SPDX-License-Identifier: GPL-2.0-only
"""The ways that engines take over the builders' platforms: NVLink inside a machine, Ethernet between, the short way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from platform_cases import built, ways_of, without_numbers


@given(
    nodes=st.integers(1, 4),
    per_node=st.integers(1, 4),
    nodes_per_leaf=st.integers(1, 2),
    kind=st.sampled_from(["zion", "zionex"]),
    seed=st.integers(1, 3),
)
def test_ways_over_machines(nodes: int, per_node: int, nodes_per_leaf: int, kind: str, seed: int) -> None:
    keys = (f"nodes={nodes}", f"accelerators_per_node={per_node}", f"ranks_per_leaf={per_node * nodes_per_leaf}")
    platform = built(f"kind={kind}", *keys)
    if platform.ranks == 1:
        return
    for (src, dst), way in ways_of(platform, seed).items():
        if src // per_node == dst // per_node:
            switch = {"zion": "scaleup", "zionex": "nvswitch"}[kind]
            assert way == [f"rank{src}", f"{switch}{src // per_node}", f"rank{dst}"]
            continue
        hosts = ["host"] if kind == "zion" else []
        is_same_leaf = src // (per_node * nodes_per_leaf) == dst // (per_node * nodes_per_leaf)
        switches = ["leaf"] if is_same_leaf else ["leaf", "spine", "leaf"]
        assert without_numbers(way) == ["rank", *hosts, *switches, *hosts, "rank"]
        if kind == "zion":
            assert (way[1], way[-2]) == (f"host{src}", f"host{dst}")


@pytest.mark.parametrize("ranks", [2, 3, 4, 7, 8])
def test_a_ring_goes_the_shorter_way(ranks: int) -> None:
    for (src, dst), way in ways_of(built("kind=ring", f"ranks={ranks}")).items():
        assert len(way) - 1 == min((dst - src) % ranks, (src - dst) % ranks)
