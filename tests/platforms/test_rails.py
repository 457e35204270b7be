# SPDX-License-Identifier: GPL-2.0-only
"""Machines on rails: cabling, ways that stay on a rail or change it, and machines as NVIDIA sells them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra_py.platforms import Forwarding, describe
from platform_cases import built, equal_ways, number, ways_of, without_numbers


@given(st.integers(1, 5), st.integers(1, 4), st.integers(1, 3))
def test_rail_optimized(nodes: int, per_node: int, group: int) -> None:
    keys = (f"nodes={nodes}", f"accelerators_per_node={per_node}", f"nodes_per_group={group}")
    platform = built("kind=rail_optimized", *keys)
    group = min(group, nodes)
    assert platform.arrays().rank_rail.tolist() == list(range(per_node)) * nodes
    for (src, dst), way in ways_of(platform).items():
        machines, rails = (src // per_node, dst // per_node), (src % per_node, dst % per_node)
        if machines[0] == machines[1]:
            assert way == [f"rank{src}", f"nvswitch{machines[0]}", f"rank{dst}"]
            continue
        leaves = [machine // group * per_node + rail for machine, rail in zip(machines, rails, strict=True)]
        if leaves[0] == leaves[1]:
            assert way == [f"rank{src}", f"leaf{leaves[0]}", f"rank{dst}"]
        else:
            assert (way[1], way[3]) == (f"leaf{leaves[0]}", f"leaf{leaves[1]}")
            assert without_numbers(way) == ["rank", "leaf", "spine", "leaf", "rank"]


@given(st.integers(2, 4), st.integers(1, 4), st.integers(1, 3))
def test_rail_only_changes_rails_inside_a_machine(nodes: int, per_node: int, seed: int) -> None:
    platform = built("kind=rail_only", f"nodes={nodes}", f"accelerators_per_node={per_node}")
    for (src, dst), way in ways_of(platform, seed).items():
        if src // per_node == dst // per_node:
            assert without_numbers(way) == ["rank", "nvswitch", "rank"]
        elif src % per_node == dst % per_node:
            assert way == [f"rank{src}", f"rail{src % per_node}", f"rank{dst}"]
        else:
            at_sender = f"rank{src // per_node * per_node + dst % per_node}"
            at_receiver = f"rank{dst // per_node * per_node + src % per_node}"
            assert way in (
                [f"rank{src}", f"nvswitch{src // per_node}", at_sender, f"rail{dst % per_node}", f"rank{dst}"],
                [f"rank{src}", f"rail{src % per_node}", at_receiver, f"nvswitch{dst // per_node}", f"rank{dst}"],
            )


def test_rail_only_has_both_ways_and_no_spine() -> None:
    platform = built("kind=rail_only")
    assert len(equal_ways(platform, 0, 9)) == 2
    assert (describe(platform).switches, describe(platform).diameter_hops) == (2 + 8, 4)
    assert set(platform.arrays().node_forwards.tolist()) == {Forwarding.ALL}
    pxn = built("kind=rail_only", "nic_policy=pxn")
    assert set(pxn.arrays().node_forwards[: pxn.ranks].tolist()) == {Forwarding.SCALE_UP_TO_ETHERNET}
    assert equal_ways(pxn, 0, 9) == [("rank0", "nvswitch0", "rank1", "rail1", "rank9")]


@pytest.mark.parametrize(
    ("kind", "rates_gbps", "nic_gbps"),
    [("dgx_a100", [400] * 6, 200), ("dgx_h100", [1000, 800, 800, 1000], 400)],
)
def test_machines_as_they_are_sold(kind: str, rates_gbps: list[int], nic_gbps: int) -> None:
    platform = built(f"kind={kind}")
    arrays = platform.arrays()
    own = (arrays.link_a == 3) & (arrays.link_efficiency > 0)
    assert arrays.link_rate_bps[own].tolist() == [rate * 10**9 for rate in rates_gbps]
    assert sum(rates_gbps) == {"dgx_a100": 2400, "dgx_h100": 3600}[kind]
    assert set(arrays.link_rate_bps[arrays.link_efficiency == 0].tolist()) == {nic_gbps * 10**9}
    switches = {number(way[1]) for way in equal_ways(platform, 0, 7)}
    assert switches == set(range(len(rates_gbps)))
    assert {number(way[1]) for way in equal_ways(platform, 8, 9)} == {len(rates_gbps) + one for one in switches}
    description = describe(platform)
    assert (description.ranks_per_machine, description.nic_ports_per_machine) == ((8, 8), (8, 8))
    assert built(f"kind={kind}", "nodes=33").graph.nodes[platform.ranks]["name"] == "rank16"


def test_figures_of_a_machine_can_be_changed() -> None:
    arrays = built("kind=dgx_h100", "link_rate=200Gbps", "scale_up.switch_rates=1Tbps", "nodes=1").arrays()
    assert set(arrays.link_rate_bps.tolist()) == {10**12, 200 * 10**9}


def test_the_zone_of_meta() -> None:
    platform = built("preset=meta_ai_zone", "nodes=4")
    description = describe(platform)
    # two racks of two machines; as much up as down
    assert [kind.links for kind in description.link_classes if kind.name in ("host", "fabric")] == [32, 32]
    assert description.ethernet_bisection_bps == 16 * 400 * 10**9
    narrow = describe(built("preset=meta_ai_zone", "nodes=4", "oversubscription=4"))
    assert narrow.ethernet_bisection_bps == 4 * 400 * 10**9


def test_open_racks() -> None:
    description = describe(built("preset=open_rack"))
    assert (description.ranks, description.switches, description.bisection_bps) == (90, 6, 160 * 10**9)
