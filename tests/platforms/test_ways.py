# SPDX-License-Identifier: GPL-2.0-only
"""The ways that engines take over the builders' platforms: NVLink inside a machine, Ethernet between, the short way."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra_py.config import load_scenario
from astra_py.engines.routes import route_paths
from astra_py.platforms import Platform, build_platform


def ways_of(platform: Platform, seed: int = 1) -> dict[tuple[int, int], list[str]]:
    """Names of the nodes on the way of each pair of ranks, the ranks included."""
    pairs = [(src, dst) for src in range(platform.ranks) for dst in range(platform.ranks) if src != dst]
    src, dst = np.array(pairs, np.int32).T
    ptr, channel = route_paths(platform, seed, src, dst, np.zeros(len(pairs), np.int32))
    arrays = platform.arrays()
    receiver = np.where(channel % 2 == 0, arrays.link_b[channel // 2], arrays.link_a[channel // 2])
    nodes = [[arrays.node_names[node] for node in receiver[low:high]] for low, high in pairwise(ptr)]
    return {pair: [f"rank{pair[0]}", *way] for pair, way in zip(pairs, nodes, strict=True)}


def without_numbers(way: list[str]) -> list[str]:
    return [name.rstrip("0123456789") for name in way]


@given(
    nodes=st.integers(1, 4),
    per_node=st.integers(1, 4),
    nodes_per_leaf=st.integers(1, 2),
    kind=st.sampled_from(["zion", "zionex"]),
    seed=st.integers(1, 3),
)
def test_ways_over_machines(nodes: int, per_node: int, nodes_per_leaf: int, kind: str, seed: int) -> None:
    keys = (f"nodes={nodes}", f"accelerators_per_node={per_node}", f"ranks_per_leaf={per_node * nodes_per_leaf}")
    platform = build_platform(load_scenario({}, [f"platform.{key}" for key in (f"kind={kind}", *keys)]).platform)
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
    scenario = load_scenario({}, ["platform.kind=ring", f"platform.ranks={ranks}"])
    for (src, dst), way in ways_of(build_platform(scenario.platform)).items():
        assert len(way) - 1 == min((dst - src) % ranks, (src - dst) % ranks)
