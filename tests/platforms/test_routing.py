# SPDX-License-Identifier: GPL-2.0-only
"""How one of several equal ways is chosen: hashes, their seeds, static rails, and what packets may choose from."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra_py._ns3_ext import RouteTable
from astra_py.api import Run
from astra_py.config import load_scenario
from astra_py.errors import ConfigError, TopologyError
from astra_py.platforms import ChosenWays, Forwarding, NodeKind, Platform, Routing, RoutingKind, describe
from platform_cases import built, equal_ways, receivers, ways_of

TREE = ("kind=fat_tree", "ports=4", "ranks=16")
seeds = pytest.mark.parametrize("seed", range(8))


def over_cores(platform: Platform, seed: int) -> Counter[str]:
    """Flows of an all-to-all over each core switch."""
    return Counter(name for way in ways_of(platform, seed).values() for name in way if name.startswith("core"))


@seeds
def test_with_a_seed_each_all_cores_carry_traffic(seed: int) -> None:
    flows = over_cores(built(*TREE), seed)
    # flows between pods, over four core switches
    assert sum(flows.values()) == 16 * 12
    assert max(flows.values()) < 1.5 * 48
    assert len(flows) == 4


@seeds
def test_with_a_common_seed_half_of_the_cores_are_idle(seed: int) -> None:
    flows = over_cores(built(*TREE, "ecmp_seeds=common"), seed)
    assert sum(flows.values()) == 16 * 12
    assert len(flows) == 2


def test_a_common_seed_is_warned_of() -> None:
    (note,) = describe(built(*TREE, "ecmp_seeds=common")).notes
    assert "platform.ecmp_seeds = 'common'" in note
    assert "polarisation" in note
    assert describe(built(*TREE)).notes == ()
    scenario = load_scenario({}, [f"platform.{key}" for key in (*TREE, "ecmp_seeds=common")])
    assert Run(scenario, alone=("all_to_all", 16, None)).warnings == (note,)


def test_what_each_hash_has_in_it() -> None:
    def ways(routing: str, queue_pair: int, seed: int = 1) -> dict[tuple[int, int], list[str]]:
        return ways_of(built(*TREE, f"routing={routing}"), seed, queue_pair)

    assert ways("ecmp", 0) == ways("ecmp", 7)
    assert ways("ecmp", 0) != ways("ecmp", 0, seed=2)
    assert ways("enhanced_ecmp", 0) != ways("enhanced_ecmp", 7)
    # the way that stands for those of all packets
    assert ways("spray", 3) == ways("least_loaded", 3) == ways("enhanced_ecmp", 3)


def test_queue_pairs_of_one_pair_spread_over_the_cores() -> None:
    platform = built(*TREE, "routing=enhanced_ecmp")
    taken = {ways_of(platform, queue_pair=number, pairs=[(0, 15)])[0, 15][3] for number in range(64)}
    assert taken == {"core0", "core1", "core2", "core3"}


def test_static_rails_share_the_cores_evenly() -> None:
    assert over_cores(built(*TREE, "routing=static_rail"), 1) == {f"core{number}": 48 for number in range(4)}
    platform = built("kind=rail_optimized", "nodes=4", "nodes_per_group=2", "spines=4", "routing=static_rail")
    for (src, dst), way in ways_of(platform).items():
        if len(way) == 5:
            assert way[2] == f"spine{dst % 8 % 4}", (src, dst)


@given(
    st.sampled_from(["ring", "torus", "fat_tree", "zion", "zionex", "rail_only", "rail_optimized", "dgx_h100"]),
    st.sampled_from(["own", "pxn", "striped"]),
    st.sampled_from(["ecmp", "enhanced_ecmp", "static_rail"]),
    st.integers(0, 3),
)
def test_a_way_is_one_of_the_equal_ones(kind: str, policy: str, routing: str, seed: int) -> None:
    has_nics = kind in ("zionex", "rail_only", "rail_optimized", "dgx_h100")
    platform = built(f"kind={kind}", f"routing={routing}", *([f"nic_policy={policy}"] if has_nics else []))
    for (src, dst), way in ways_of(platform, seed, queue_pair=seed).items():
        if (src + 3 * dst) % 7 == seed:
            ways = equal_ways(platform, src, dst)
            assert tuple(way) in ways
            assert len(set(ways)) == len(ways)


@given(st.sampled_from(["torus", "fat_tree", "rail_only", "dgx_a100"]), st.integers(0, 15), st.integers(0, 15))
def test_first_and_next_channels_are_all_equal_ways(kind: str, src: int, dst: int) -> None:
    platform = built(f"kind={kind}", *(["ranks=16"] if kind in ("torus", "fat_tree") else []))
    arrays = platform.arrays()
    table, receiver = RouteTable(arrays, 1), receivers(arrays)
    begun, found = [[int(channel)] for channel in table.first_channels(src, dst)], []
    while begun:
        way = begun.pop(0)
        if receiver[way[-1]] == dst:
            found.append(way)
        else:
            begun += [[*way, int(channel)] for channel in table.next_channels(dst, receiver[way[-1]])]
    if src == dst:
        assert found == []
        return
    ptr, channel = table.ways(src, dst, 1000)
    assert sorted(found) == sorted(channel[low:high].tolist() for low, high in pairwise(ptr))


def test_first_channels_are_one_for_each_nvswitch() -> None:
    arrays = built("kind=dgx_h100").arrays()
    first = RouteTable(arrays, 1).first_channels(2, 5)
    assert (arrays.link_rate_bps[first // 2] // 10**9).tolist() == [1000, 800, 800, 1000]
    assert RouteTable(arrays, 1).first_channels(2, 2).tolist() == []


def nodes_and_links(forwards: Forwarding, links: list[tuple[int, int, float]]) -> Platform:
    """Accelerators 0, 1, 2 (the last one forwarding) and switches from 3 on; links with their efficiency."""
    graph: nx.MultiGraph[int] = nx.MultiGraph()
    for node in range(5):
        is_rank = node < 3
        passes = (forwards if node == 2 else Forwarding.NONE) if is_rank else Forwarding.ALL
        kind = NodeKind.ACCELERATOR if is_rank else NodeKind.SWITCH
        graph.add_node(node, kind=kind, rank=node if is_rank else -1, latency_ps=0, name=f"node{node}", forwards=passes)
    for link, (a, b, efficiency) in enumerate(links):
        figures = {"rate_bps": 10**9, "delay_ps": 1, "loss": 0.0, "link_class": "x", "efficiency": efficiency}
        graph.add_edge(a, b, link=link, **figures)
    return Platform("own", graph)


def test_passing_on_goes_from_scale_up_to_ethernet_alone() -> None:
    # 0 reaches 2 over a scale-up switch, and 2 the others over an Ethernet switch, on which 1 and 0 are too
    links = [(0, 3, 0.5), (2, 3, 0.5), (2, 4, 0.0), (1, 4, 0.0)]
    with pytest.raises(TopologyError, match="between node1 and node0"):
        nodes_and_links(Forwarding.SCALE_UP_TO_ETHERNET, links)
    table = RouteTable(nodes_and_links(Forwarding.ALL, links).arrays(), 1)
    assert [table.first_channels(0, 1).tolist(), table.next_channels(1, 2).tolist()] == [[0], [4]]
    assert table.first_channels(1, 0).tolist() == [6]
    both = nodes_and_links(Forwarding.SCALE_UP_TO_ETHERNET, [*links, (0, 4, 0.0)])
    table = RouteTable(both.arrays(), 1)
    # both ways have two Ethernet links, and the one over 2 two scale-up links more
    assert table.first_channels(0, 1).tolist() == [8]
    assert table.next_channels(0, 4).tolist() == [9]
    two_scale_up = [(0, 3, 0.5), (2, 3, 0.5), (2, 4, 0.5), (1, 4, 0.5)]
    with pytest.raises(TopologyError, match="between node0 and node1"):
        nodes_and_links(Forwarding.SCALE_UP_TO_ETHERNET, two_scale_up)


def chosen(channel: list[int], **columns: list[int]) -> Routing:
    rows = {"src": [0], "dst": [1], "queue_pair": [0]} | columns
    ptr = np.array([0, len(channel)], np.int64)
    ways = ChosenWays(
        ptr=ptr, channel=np.array(channel, np.int32), **{name: np.array(row, np.int32) for name, row in rows.items()}
    )
    return Routing(kind=RoutingKind.HOOK, chosen=ways)


def test_chosen_ways() -> None:
    platform = built("kind=leaf_spine", "ranks=2", "ranks_per_leaf=1", "spines=2")
    ways = [channel.tolist() for channel in np.split(RouteTable(platform.arrays(), 1).ways(0, 1, 9)[1], 2)]
    for way in ways:
        table = RouteTable(platform.with_routing(chosen(way)).arrays(), 1)
        for queue_pair in (0, 5):
            path = table.paths(*(np.array([value], np.int32) for value in (0, 1, queue_pair)))[1]
            assert path.tolist() == way
    with pytest.raises(ConfigError, match="no way was chosen from rank 1 to rank 0"):
        table.paths(*(np.array([value], np.int32) for value in (1, 0, 0)))
    for wrong in (chosen(ways[0][:-1]), chosen(ways[0][1:]), chosen([99]), chosen(ways[0], queue_pair=[1])):
        with pytest.raises(ConfigError, match="chosen way of queue pair"):
            RouteTable(platform.with_routing(wrong).arrays(), 1)
    with pytest.raises(ConfigError, match="differ in length"):
        RouteTable(platform.with_routing(chosen(ways[0], src=[])).arrays(), 1)


def test_the_table_refuses_what_is_not_on_the_platform() -> None:
    arrays = built("ranks=3").arrays()
    table = RouteTable(arrays, 1)
    for call in (lambda: table.first_channels(0, 3), lambda: table.ways(-1, 0, 9), lambda: table.next_channels(0, 4)):
        with pytest.raises(ConfigError, match=r"is not on the platform|there is no node"):
            call()
    with pytest.raises(ConfigError, match="more than 3 equal ways from rank 0 to rank 15"):
        RouteTable(built(*TREE).arrays(), 1).ways(0, 15, 3)
    with pytest.raises(ConfigError, match="has to have a rail"):
        RouteTable(replace(arrays, rank_rail=np.array([0, -1, 1], np.int32)), 1)
    with pytest.raises(ConfigError, match="forward 0"):
        RouteTable(replace(arrays, node_forwards=np.array([0, 0, 0, 3], np.uint8)), 1)
