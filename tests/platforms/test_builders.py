# SPDX-License-Identifier: GPL-2.0-only
"""The builders: numbering of nodes, links and ports, figures, and what describes them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra_py.config import load_scenario
from astra_py.config.platform_kinds import KINDS
from astra_py.errors import ConfigError, TopologyError
from astra_py.platforms import (
    NodeKind,
    Platform,
    PlatformArrays,
    build_platform,
    describe,
    draw,
    platform_kinds,
    register_platform,
)


def built(*overrides: str) -> Platform:
    return build_platform(load_scenario({}, overrides).platform)


def leaf_spine(ranks: int, per_leaf: int, *overrides: str) -> Platform:
    keys = (f"platform.ranks={ranks}", f"platform.ranks_per_leaf={per_leaf}")
    return built("platform.kind=leaf_spine", *keys, *overrides)


def ends_of(arrays: PlatformArrays) -> list[tuple[int, int]]:
    return list(zip(arrays.link_a.tolist(), arrays.link_b.tolist(), strict=True))


def classes_of(arrays: PlatformArrays) -> list[str]:
    return [arrays.class_names[kind] for kind in arrays.link_class]


def test_single_switch() -> None:
    arrays = built("platform.ranks=3", "platform.link_rate=400Gbps", "platform.link_loss=0.25").arrays()
    assert arrays.node_names == ["rank0", "rank1", "rank2", "switch0"]
    assert arrays.node_kind.tolist() == [NodeKind.ACCELERATOR] * 3 + [NodeKind.SWITCH]
    assert arrays.node_rank.tolist() == [0, 1, 2, -1]
    assert arrays.node_latency_ps.tolist() == [0, 0, 0, 300_000]
    assert arrays.node_forwards.tolist() == [False, False, False, True]
    assert ends_of(arrays) == [(0, 3), (1, 3), (2, 3)]
    assert arrays.link_rate_bps.tolist() == [400 * 10**9] * 3
    assert arrays.link_delay_ps.tolist() == [500_000] * 3
    assert arrays.link_loss.tolist() == [0.25] * 3
    assert (arrays.link_class.tolist(), arrays.class_names) == ([0, 0, 0], ["host"])


def test_leaf_spine() -> None:
    arrays = leaf_spine(5, 2, "platform.spines=1").arrays()
    assert arrays.node_names == ["rank0", "rank1", "rank2", "rank3", "rank4", "leaf0", "leaf1", "leaf2", "spine0"]
    assert ends_of(arrays) == [(0, 5), (1, 5), (2, 6), (3, 6), (4, 7), (5, 8), (6, 8), (7, 8)]
    assert classes_of(arrays) == ["host"] * 5 + ["fabric"] * 3


@pytest.mark.parametrize(
    ("ranks", "links"),
    [(1, []), (2, [(0, 1)]), (3, [(0, 1), (1, 2), (0, 2)]), (5, [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)])],
)
def test_ring(ranks: int, links: list[tuple[int, int]]) -> None:
    arrays = built("platform.kind=ring", f"platform.ranks={ranks}").arrays()
    assert ends_of(arrays) == links
    assert arrays.node_kind.tolist() == [NodeKind.ACCELERATOR] * ranks
    assert arrays.node_forwards.all()
    assert arrays.rank_machine.tolist() == list(range(ranks))
    assert arrays.class_names == ["ring"] * bool(links)
    assert not arrays.link_efficiency.any()


def test_a_ring_that_does_not_forward() -> None:
    keys = ("platform.kind=ring", "platform.accelerators_forward=false")
    assert not built(*keys, "platform.ranks=3").arrays().node_forwards.any()
    with pytest.raises(TopologyError, match=r"between rank0 and rank2: .*platform\.accelerators_forward = true"):
        built(*keys, "platform.ranks=4")


def test_zionex() -> None:
    keys = ("platform.nodes=2", "platform.accelerators_per_node=2", "platform.link_loss=0.1")
    platform = built("platform.kind=zionex", *keys)
    arrays = platform.arrays()
    names = ["rank0", "rank1", "rank2", "rank3", "nvswitch0", "nvswitch1", "leaf0", "leaf1", "spine0", "spine1"]
    assert arrays.node_names == names
    assert arrays.node_forwards.tolist() == [False] * 4 + [True] * 6
    assert arrays.node_latency_ps.tolist() == [0] * 6 + [300_000] * 4
    assert arrays.rank_machine.tolist() == [0, 0, 1, 1]
    nvlinks = [(0, 4), (1, 4), (2, 5), (3, 5)]
    assert ends_of(arrays) == [*nvlinks, (0, 6), (1, 6), (2, 7), (3, 7), (6, 8), (6, 9), (7, 8), (7, 9)]
    assert classes_of(arrays) == ["nvlink"] * 4 + ["host"] * 4 + ["fabric"] * 4
    assert arrays.link_efficiency.tolist() == [0.94] * 4 + [0] * 8
    assert arrays.link_rate_bps.tolist() == [2_400 * 10**9] * 4 + [100 * 10**9] * 8
    assert arrays.link_delay_ps.tolist() == [250_000] * 4 + [500_000] * 8
    assert arrays.link_loss.tolist() == [0] * 4 + [0.1] * 8


def test_zion() -> None:
    arrays = built("platform.kind=zion", "platform.nodes=2", "platform.accelerators_per_node=2").arrays()
    assert arrays.node_names[4:] == [
        *("scaleup0", "scaleup1", "host0", "host1", "host2", "host3", "leaf0", "leaf1", "spine0", "spine1"),
    ]
    assert arrays.node_kind[6:10].tolist() == [NodeKind.HOST] * 4
    assert arrays.node_forwards.tolist() == [False] * 4 + [True] * 10
    assert arrays.rank_machine.tolist() == [0, 0, 1, 1]
    ends = ends_of(arrays)
    assert ends[:8] == [(0, 4), (1, 4), (2, 5), (3, 5), (0, 6), (1, 7), (2, 8), (3, 9)]
    assert ends[8:12] == [(6, 10), (7, 10), (8, 11), (9, 11)]
    assert classes_of(arrays) == ["scale_up"] * 4 + ["pcie"] * 4 + ["host"] * 4 + ["fabric"] * 4
    assert arrays.link_efficiency.tolist() == [0.94] * 4 + [0.914] * 4 + [0] * 8
    assert arrays.link_rate_bps[4:8].tolist() == [126 * 10**9] * 4
    assert arrays.link_delay_ps[4:8].tolist() == [500_000] * 4


def test_scale_up_figures() -> None:
    keys = ("scale_up.latency=1us", "scale_up.efficiency=0.5", "pcie.rate=32GB/s", "pcie.latency=0ns")
    keys += ("pcie.efficiency=1", "accelerator=V100")
    arrays = built("platform.kind=zion", *(f"platform.{key}" for key in keys)).arrays()
    links = (arrays.link_rate_bps, arrays.link_delay_ps, arrays.link_efficiency)
    assert [column[0] for column in links] == [8 * 150 * 10**9, 10**6, 0.5]
    assert [column[16] for column in links] == [8 * 32 * 10**9, 0, 1.0]
    given_rate = ("platform.kind=zionex", "platform.accelerator=V100", "platform.scale_up.rate=1GB/s")
    assert built(*given_rate).arrays().link_rate_bps[0] == 8 * 10**9


@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 3), st.sampled_from(["zion", "zionex"]))
def test_a_leaf_holds_whole_machines(nodes: int, per_node: int, nodes_per_leaf: int, kind: str) -> None:
    keys = (f"nodes={nodes}", f"accelerators_per_node={per_node}", f"ranks_per_leaf={per_node * nodes_per_leaf}")
    arrays = built(f"platform.kind={kind}", *(f"platform.{key}" for key in keys)).arrays()
    assert arrays.rank_machine.tolist() == [rank // per_node for rank in range(nodes * per_node)]
    hosts = [pair for pair, name in zip(ends_of(arrays), classes_of(arrays), strict=True) if name == "host"]
    leaves = [arrays.node_names[leaf] for _, leaf in hosts]
    assert leaves == [f"leaf{rank // per_node // nodes_per_leaf}" for rank in range(nodes * per_node)]


@given(st.integers(1, 60), st.integers(1, 9))
def test_leaf_spine_counts(ranks: int, per_leaf: int) -> None:
    platform = leaf_spine(ranks, per_leaf)
    arrays = platform.arrays()
    leaves = math.ceil(ranks / per_leaf)
    assert platform.ranks == ranks
    assert len(arrays.node_kind) == ranks + leaves + per_leaf
    assert len(arrays.link_a) == ranks + leaves * per_leaf
    assert (arrays.link_a < arrays.link_b).all()
    degree = np.bincount(np.concatenate([arrays.link_a, arrays.link_b]))
    assert (degree[:ranks] == 1).all()
    assert (degree[ranks + leaves :] == leaves).all()


@pytest.mark.parametrize(
    ("overrides", "spines"),
    [
        ((), 8),
        (("platform.oversubscription=2",), 4),
        (("platform.oversubscription=0.5",), 16),
        (("platform.oversubscription=2.6666667",), 3),
        (("platform.spines=3",), 3),
        (("platform.spines=4", "platform.oversubscription=2.0"), 4),
    ],
)
def test_spines(overrides: tuple[str, ...], spines: int) -> None:
    assert describe(leaf_spine(16, 8, *overrides)).switches == 2 + spines


def test_columns_are_contiguous_and_typed() -> None:
    arrays = leaf_spine(20, 8).arrays()
    kinds = {
        "node_kind": "u1", "node_rank": "i4", "node_latency_ps": "i8", "node_forwards": "u1", "link_a": "i4",
        "link_b": "i4", "link_rate_bps": "i8", "link_delay_ps": "i8", "link_loss": "f8", "link_class": "i4",
        "link_efficiency": "f8", "rank_machine": "i4", "rank_rail": "i4",
    }  # fmt: skip
    for name, kind in kinds.items():
        column = getattr(arrays, name)
        assert column.dtype == np.dtype(kind), name
        assert column.flags.c_contiguous, name


@pytest.mark.parametrize(
    ("platform", "bisection_gbps", "hops"),
    [
        (("platform.ranks=8",), 400, 2),
        (("platform.ranks=7",), 300, 2),
        (("platform.ranks=2",), 100, 2),
        (("platform.kind=leaf_spine", "platform.ranks=8"), 400, 2),
        (("platform.kind=leaf_spine", "platform.ranks=128"), 6400, 4),
        (("platform.kind=leaf_spine", "platform.ranks=128", "platform.oversubscription=4"), 1600, 4),
        (("platform.kind=leaf_spine", "platform.ranks=64", "platform.spines=1"), 400, 4),
    ],
)
def test_bisection_and_diameter(platform: tuple[str, ...], bisection_gbps: int, hops: int) -> None:
    description = describe(built(*platform))
    assert (description.bisection_bps, description.diameter_hops) == (bisection_gbps * 10**9, hops)


@pytest.mark.parametrize(
    ("platform", "all_gbps", "ethernet_gbps", "hops"),
    [
        (("kind=ring",), 200, 200, 4),
        (("kind=ring", "ranks=2"), 100, 100, 1),
        (("kind=ring", "ranks=7"), 200, 200, 3),
        (("kind=zionex",), 800, 800, 4),
        (("kind=zionex", "nodes=16", "oversubscription=2"), 3200, 3200, 4),
        (("kind=zionex", "nodes=1"), 4 * 2400 + 400, 400, 2),
        (("kind=zionex", "nodes=3"), 4 * 2400 + 1200, 1200, 4),
        (("kind=zion",), 800, 800, 6),
        (("kind=zion", "link_rate=200Gbps"), 8 * 126, 1600, 6),
    ],
)
def test_both_sides_of_a_platform(platform: tuple[str, ...], all_gbps: int, ethernet_gbps: int, hops: int) -> None:
    description = describe(built(*(f"platform.{key}" for key in platform)))
    assert description.bisection_bps == all_gbps * 10**9
    assert description.ethernet_bisection_bps == ethernet_gbps * 10**9
    assert description.diameter_hops == hops


def test_machines_are_described() -> None:
    description = describe(built("platform.kind=zion", "platform.nodes=3"))
    assert (description.ranks, description.machines, description.hosts, description.switches) == (24, 3, 24, 3 + 3 + 8)
    assert (description.ranks_per_machine, description.nic_ports_per_machine) == ((8, 8), (8, 8))
    alone = describe(built("platform.kind=ring"))
    assert (alone.machines, alone.ranks_per_machine, alone.nic_ports_per_machine) == (8, (1, 1), (2, 2))


def test_one_rank() -> None:
    description = describe(built("platform.ranks=1"))
    assert (description.bisection_bps, description.diameter_hops) == (None, 0)


def test_figures_of_a_large_platform_are_left_out() -> None:
    description = describe(leaf_spine(8192, 2, "platform.spines=8"))
    assert (description.bisection_bps, description.diameter_hops) == (None, None)


def test_a_partly_filled_leaf_is_said() -> None:
    assert describe(leaf_spine(20, 8)).notes == ("leaf2 is partly filled: 4 ranks, the fullest has 8",)
    assert describe(leaf_spine(16, 8)).notes == ()
    keys = ("platform.nodes=3", "platform.ranks_per_leaf=16")
    says = "leaf1 is partly filled: 8 {}, the fullest has 16"
    assert describe(built("platform.kind=zionex", *keys)).notes == (says.format("ranks"),)
    assert describe(built("platform.kind=zion", *keys)).notes == (says.format("hosts"),)
    assert describe(built("platform.kind=zionex", "platform.nodes=3")).notes == ()


def test_link_classes() -> None:
    host, fabric = describe(leaf_spine(20, 8)).link_classes
    assert (host.name, host.links, host.rate_bps, host.delay_ps, host.loss) == ("host", 20, 10**11, 500_000, 0.0)
    assert (fabric.name, fabric.links) == ("fabric", 24)
    scale_up, pcie, host, fabric = describe(built("platform.kind=zion", "platform.link_loss=0.5")).link_classes
    assert (scale_up.name, scale_up.links, scale_up.efficiency, scale_up.loss) == ("scale_up", 16, 0.94, 0.0)
    assert (pcie.name, pcie.efficiency, pcie.delay_ps) == ("pcie", 0.914, 500_000)
    assert (host.efficiency, fabric.efficiency, fabric.loss) == (0.0, 0.0, 0.5)


def test_drawings() -> None:
    assert draw(built("platform.ranks=4")) == "switch0  rank0..rank3"
    assert draw(leaf_spine(5, 2)) == (
        "spine0..spine1  (3 links down each)\n"
        "├── leaf0  rank0..rank1\n"
        "├── leaf1  rank2..rank3\n"
        "└── leaf2  rank4"
    )  # fmt: skip
    assert "├── ... 52 more\n" in draw(leaf_spine(128, 2))
    assert draw(built("platform.kind=zionex")) == (
        "spine0..spine7  (2 links down each)\n├── leaf0  rank0..rank7  nvswitch0\n└── leaf1  rank8..rank15  nvswitch1"
    )
    assert draw(built("platform.kind=zion", "platform.ranks_per_leaf=16")) == (
        "spine0..spine15  (1 link down each)\n└── leaf0  host0..host15  rank0..rank15  scaleup0..scaleup1"
    )
    assert draw(built("platform.kind=ring")) == "rank0..rank7  (8 links, in a ring)"
    assert len(draw(built("platform.kind=zionex", "platform.nodes=16")).splitlines()) == 14


def test_registry() -> None:
    assert set(platform_kinds()) == set(KINDS)
    with pytest.raises(ConfigError, match="'single_switch' is registered already"):
        register_platform("single_switch")(lambda config: built())
    unknown = load_scenario({}).platform.model_copy(update={"kind": "single_swich"})
    with pytest.raises(ConfigError, match=r"topology 'single_swich'; allowed: .* 'single_switch'"):
        build_platform(unknown)
