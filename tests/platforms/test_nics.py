# SPDX-License-Identifier: GPL-2.0-only
"""NICs of a machine: another number than of accelerators, which one a flow takes, and PXN."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra_py.platforms import NodeKind, Platform, describe
from platform_cases import built, equal_ways, number, ways_of, without_numbers

per_machine = st.integers(1, 6)


def nics_on(way: list[str], nics: int) -> list[int]:
    """The numbers that the NICs on a way have in their machines."""
    return [number(name) % nics for name in way if name.startswith("nic")]


def between_machines(platform: Platform, seed: int = 1, queue_pair: int = 0) -> dict[tuple[int, int], list[str]]:
    machine = platform.arrays().rank_machine
    pairs = [(a, b) for a in range(platform.ranks) for b in range(platform.ranks) if machine[a] != machine[b]]
    return ways_of(platform, seed, queue_pair, pairs)


@given(per_machine, per_machine, st.sampled_from(["zionex", "rail_optimized"]))
def test_own(accelerators: int, nics: int, kind: str) -> None:
    nics = min(nics, accelerators)
    platform = built(f"kind={kind}", f"accelerators_per_node={accelerators}", f"nics_per_node={nics}")
    for (src, dst), way in between_machines(platform).items():
        if nics == accelerators:
            assert not nics_on(way, nics)
        else:
            assert nics_on(way, nics) == [rank % accelerators * nics // accelerators for rank in (src, dst)]
            assert without_numbers(way)[:2] == ["rank", "nic"]


@given(per_machine, per_machine, st.integers(0, 20), st.sampled_from(["zionex", "rail_optimized"]))
def test_striped(accelerators: int, nics: int, queue_pair: int, kind: str) -> None:
    keys = (f"accelerators_per_node={accelerators}", f"nics_per_node={nics}", "nic_policy=striped")
    for way in between_machines(built(f"kind={kind}", *keys), queue_pair=queue_pair).values():
        assert nics_on(way, nics) == [queue_pair % nics] * 2
        assert without_numbers(way)[:3] == ["rank", "host", "nic"]


@pytest.mark.parametrize("routing", ["ecmp", "enhanced_ecmp"])
def test_hash(routing: str) -> None:
    platform = built("kind=zionex", "nics_per_node=4", "nic_policy=hash", f"routing={routing}")
    first, second = (between_machines(platform, queue_pair=queue_pair) for queue_pair in (0, 1))
    taken = {pair: nics_on(way, 4) for pair, way in first.items()}
    assert {nic for nics in taken.values() for nic in nics} == {0, 1, 2, 3}
    # a flow is on the NIC of one number at both ends
    assert all(nics[0] == nics[1] for nics in taken.values())
    assert (taken == {pair: nics_on(way, 4) for pair, way in second.items()}) == (routing == "ecmp")
    assert taken != {pair: nics_on(way, 4) for pair, way in between_machines(platform, seed=2).items()}


@given(per_machine, per_machine, st.sampled_from(["own", "hash", "striped", "pxn"]))
def test_inside_a_machine_nvlink_comes_before_pcie(accelerators: int, nics: int, policy: str) -> None:
    nics = min(nics, accelerators)
    keys = (f"accelerators_per_node={accelerators}", f"nics_per_node={nics}", f"nic_policy={policy}")
    for (src, dst), way in ways_of(built("kind=zionex", *keys)).items():
        if src // accelerators == dst // accelerators:
            assert without_numbers(way) == ["rank", "nvswitch", "rank"]


@given(st.integers(2, 4), per_machine, per_machine, st.integers(1, 2), st.sampled_from(["zionex", "rail_optimized"]))
def test_pxn_leaves_by_the_rail_of_the_destination(
    nodes: int, accelerators: int, nics: int, group: int, kind: str
) -> None:
    nics = min(nics, accelerators)
    keys = (f"nodes={nodes}", f"accelerators_per_node={accelerators}", f"nics_per_node={nics}", "nic_policy=pxn")
    groups = (f"nodes_per_group={group}",) if kind == "rail_optimized" else ()
    platform = built(f"kind={kind}", *keys, *groups)
    rail = platform.arrays().rank_rail
    for (src, dst), way in between_machines(platform).items():
        if nics < accelerators:
            assert nics_on(way, nics) == [rail[dst], rail[dst]]
        leaves_at = way[2] if way[1].startswith("nvswitch") else way[0]
        assert rail[number(leaves_at)] == rail[dst]
        assert number(leaves_at) // accelerators == src // accelerators
        assert way[1].startswith("nvswitch") == (rail[src] != rail[dst])


def test_pxn_saves_the_spines() -> None:
    plain = equal_ways(built("kind=rail_optimized"), 0, 9)
    pxn = equal_ways(built("kind=rail_optimized", "nic_policy=pxn"), 0, 9)
    assert {len(way) for way in plain} == {5}
    assert pxn == [("rank0", "nvswitch0", "rank1", "leaf1", "rank9")]


def test_nics_are_nodes_and_counted() -> None:
    platform = built("kind=zionex", "nics_per_node=2", "nic_policy=hash", "pcie.rate=32GB/s", "pcie.latency=1us")
    arrays = platform.arrays()
    assert arrays.node_kind.tolist().count(NodeKind.NIC) == 4
    description = describe(platform)
    assert (description.nics, description.hosts, description.nic_ports_per_machine) == (4, 2, (2, 2))
    pcie = next(kind for kind in description.link_classes if kind.name == "pcie")
    assert (pcie.links, pcie.rate_bps, pcie.delay_ps) == (2 * (8 + 2), 256 * 10**9, 10**6)
    assert describe(built("kind=zionex", "nics_per_node=2", "ranks_per_leaf=16", "nodes=3")).notes == (
        "leaf1 is partly filled: 2 NICs, the fullest has 4",
    )
