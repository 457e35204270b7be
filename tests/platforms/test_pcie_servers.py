# SPDX-License-Identifier: GPL-2.0-only
"""Servers with nothing but PCIe inside: which NIC a flow takes, what stays inside, and how switches are laid out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra_py.api import one_collective
from astra_py.config import load_scenario
from astra_py.errors import ConfigError
from astra_py.platforms import NodeKind
from platform_cases import built, number, ways_of, without_numbers

SERVERS = "kind=pcie_servers"
per_server = st.integers(1, 6)


@given(st.integers(1, 3), per_server, per_server)
def test_an_accelerator_has_one_nic_and_what_stays_in_a_server_needs_none(nodes: int, ranks: int, nics: int) -> None:
    nics = min(nics, ranks)
    platform = built(SERVERS, f"nodes={nodes}", f"accelerators_per_node={ranks}", f"nics_per_node={nics}")
    kinds = [node["kind"] for node in platform.graph.nodes.values()]
    assert [kinds.count(kind) for kind in (NodeKind.HOST, NodeKind.NIC)] == [nodes, nodes * nics]
    for (src, dst), way in ways_of(platform).items():
        own = [rank % ranks * nics // ranks for rank in (src, dst)]
        if src // ranks != dst // ranks:
            assert [number(name) % nics for name in way if name.startswith("nic")] == own
            above = ["host"] if nics == 1 else ["pcie"]
            assert without_numbers(way) == ["rank", *above, "nic", "leaf", "nic", *above, "rank"]
        elif nics == 1:
            assert without_numbers(way) == ["rank", "host", "rank"]
        else:
            between = ["pcie"] if own[0] == own[1] else ["pcie", "host", "pcie"]
            assert without_numbers(way) == ["rank", *between, "rank"]


@pytest.mark.parametrize("policy", ["hash", "striped"])
def test_any_nic_is_reached_over_the_host(policy: str) -> None:
    platform = built(SERVERS, "nics_per_node=4", f"nic_policy={policy}")
    found = {
        number(way[2]) % 4
        for queue_pair in range(4)
        for (src, dst), way in ways_of(platform, queue_pair=queue_pair).items()
        if src // 8 != dst // 8 and without_numbers(way)[:3] == ["rank", "host", "nic"]
    }
    assert found == {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("keys", "leaves", "spines"),
    [
        ((), 1, 0),
        (("nodes=16", "nics_per_node=1"), 1, 0),
        (("nodes=16", "nics_per_node=1", "ranks_per_leaf=32"), 4, 4),
        (("nodes=16", "nics_per_node=2", "ranks_per_leaf=32", "oversubscription=2"), 4, 4),
    ],
)
def test_one_switch_or_leaves_below_spines(keys: tuple[str, ...], leaves: int, spines: int) -> None:
    names = built(SERVERS, *keys).arrays().node_names
    assert [sum(name.startswith(kind) for name in names) for kind in ("leaf", "spine")] == [leaves, spines]


@pytest.mark.parametrize("engine", ["packet", "flow"])
def test_a_shared_nic_divides_its_rate(engine: str) -> None:
    """Eight accelerators of a server exchange with eight of another one: with one NIC it takes eight times as long."""

    def time_us(nics: int) -> float:
        keys = ("nodes=2", f"nics_per_node={nics}", "link_rate=25Gbps")
        given = [f"platform.{key}" for key in (SERVERS, *keys)] + [f"engine={engine}"]
        scenario = load_scenario({}, [*given, "transport.congestion_control=none"])
        result = one_collective(scenario, "all_to_all", 16 * 2**20).run()
        return float(result.collectives["time_us"].iloc[0])

    eight, one = time_us(8), time_us(1)
    assert 7.5 < one / eight < 8.5


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ("nic_policy=pxn", "platform.nic_policy: 'pxn' sends over NVLink"),
        ("nics_per_node=9", "platform.nics_per_node: .* 1 of 9 would have nothing to do"),
        ("spines=2", "platform.spines: '?2'? would mean nothing: all 2 servers are on one switch"),
        ("oversubscription=2", "platform.oversubscription: .* on one switch"),
        ("fabric_rate=400Gbps", "platform.fabric_rate: .* on one switch"),
        ("scale_up.rate=1GB/s", "platform.scale_up: .* would mean nothing"),
    ],
)
def test_what_means_nothing_is_refused(keys: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        built(SERVERS, keys)
