# SPDX-License-Identifier: GPL-2.0-only
"""Platforms by a few keys, and the ways that flows take over them as names of nodes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from astra_py._ns3_ext import RouteTable
from astra_py.config import load_scenario
from astra_py.engines.routes import route_paths
from astra_py.platforms import Platform, PlatformArrays, build_platform


def built(*keys: str) -> Platform:
    """The platform of ``platform.*`` keys, such as ``"kind=ring"``."""
    return build_platform(load_scenario({}, [f"platform.{key}" for key in keys]).platform)


def receivers(arrays: PlatformArrays) -> np.ndarray:
    """Node at the end of each channel."""
    return np.stack([arrays.link_b, arrays.link_a], axis=1).ravel()


def all_pairs(platform: Platform) -> list[tuple[int, int]]:
    return [(src, dst) for src in range(platform.ranks) for dst in range(platform.ranks) if src != dst]


def ways_of(
    platform: Platform, seed: int = 1, queue_pair: int = 0, pairs: list[tuple[int, int]] | None = None
) -> dict[tuple[int, int], list[str]]:
    """Names of the nodes on the way of each pair of ranks, the ranks included."""
    pairs = all_pairs(platform) if pairs is None else pairs
    src, dst = np.array(pairs, np.int32).reshape(-1, 2).T
    ptr, channel = route_paths(platform, seed, src, dst, np.full(len(pairs), queue_pair))
    arrays = platform.arrays()
    nodes = receivers(arrays)[channel]
    named = [[arrays.node_names[node] for node in nodes[low:high]] for low, high in pairwise(ptr)]
    return {pair: [f"rank{pair[0]}", *way] for pair, way in zip(pairs, named, strict=True)}


def equal_ways(platform: Platform, src: int, dst: int) -> list[tuple[str, ...]]:
    """All shortest ways of a pair of ranks, as names of nodes."""
    arrays = platform.arrays()
    ptr, channel = RouteTable(arrays, 1).ways(src, dst, 10_000)
    nodes = receivers(arrays)[channel]
    return [(f"rank{src}", *(arrays.node_names[node] for node in nodes[low:high])) for low, high in pairwise(ptr)]


def without_numbers(way: list[str]) -> list[str]:
    return [name.rstrip("0123456789") for name in way]


def number(name: str) -> int:
    """The number at the end of a node's name."""
    return int(name[len(name.rstrip("0123456789")) :])
