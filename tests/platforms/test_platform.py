# SPDX-License-Identifier: GPL-2.0-only
"""Platforms from a graph of one's own: what is checked before a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import networkx as nx
import pytest

from astra_py.errors import TopologyError
from astra_py.platforms import NodeKind, Platform, describe, draw

A, S = NodeKind.ACCELERATOR, NodeKind.SWITCH


def graph_of(kinds: Iterable[NodeKind], links: Iterable[tuple[int, int]], **figures: Any) -> nx.MultiGraph[int]:
    graph: nx.MultiGraph[int] = nx.MultiGraph()
    ranks = iter(range(1000))
    for node, kind in enumerate(kinds):
        rank = next(ranks) if kind == A else -1
        graph.add_node(node, kind=kind, rank=rank, latency_ps=0, name=f"node{node}", forwards=kind == S)
    for link, (a, b) in enumerate(links):
        link_figures = {"rate_bps": 10**9, "delay_ps": 1000, "loss": 0.0, "link_class": "x"} | figures
        graph.add_edge(a, b, link=link, **link_figures)
    return graph


@pytest.mark.parametrize(
    ("kinds", "links", "pair"),
    [
        ([A, A], [], "node0 and node1"),
        ([A, A, S], [(0, 2)], "node0 and node1"),
        ([A, A, A, S, S], [(0, 3), (1, 4), (2, 3)], "node0 and node1"),
        ([A, A, A], [(0, 1), (1, 2)], "node0 and node2"),
        ([A, A, A, S, S], [(0, 3), (1, 3), (1, 4), (2, 4)], "node0 and node2"),
        ([A, A, A], [(0, 1), (0, 1), (2, 1)], "node0 and node2"),
        ([A, NodeKind.HOST, A], [(0, 1), (1, 2)], "node0 and node2"),
    ],
)
def test_a_pair_without_a_way_is_named(kinds: list[NodeKind], links: list[tuple[int, int]], pair: str) -> None:
    with pytest.raises(TopologyError, match=f"no way between {pair}: .*allowed"):
        Platform("own", graph_of(kinds, links))


@pytest.mark.parametrize(
    ("kinds", "links"),
    [
        ([A], []),
        ([A, A], [(0, 1)]),
        ([A, A, A], [(0, 1), (1, 2), (0, 2)]),
        ([A, A, S, S, S], [(0, 2), (2, 3), (3, 4), (4, 1)]),
        ([A, A, A, S, S], [(0, 3), (1, 3), (1, 4), (2, 4), (0, 4)]),
    ],
)
def test_every_pair_has_a_way(kinds: list[NodeKind], links: list[tuple[int, int]]) -> None:
    assert Platform("own", graph_of(kinds, links)).ranks == kinds.count(A)


def test_accelerators_that_forward() -> None:
    graph = graph_of([A, A, A, A], [(0, 1), (1, 2), (2, 3), (3, 0)])
    for node in graph:
        graph.nodes[node]["forwards"] = True
    ring = Platform("ring", graph)
    description = describe(ring)
    assert (description.bisection_bps, description.diameter_hops) == (2 * 10**9, 2)
    assert draw(ring) == "node0..node3  (4 links, in a ring)"


def test_nvswitch_without_ethernet() -> None:
    platform = Platform("own", graph_of([A, A, A, S], [(0, 3), (1, 3), (2, 3)], efficiency=0.9))
    description = describe(platform)
    assert (description.bisection_bps, description.ethernet_bisection_bps) == (10**9, None)
    assert description.nic_ports_per_machine == (0, 0)
    assert draw(platform) == "node3  node0..node2"


def test_a_host_with_two_accelerators_and_one_nic() -> None:
    host = NodeKind.HOST
    graph = graph_of([A, A, A, A, host, host, S], [(0, 4), (1, 4), (2, 5), (3, 5), (4, 6), (5, 6)])
    for node in (0, 1, 2, 3):
        graph.edges[node, 4 + node // 2, 0]["efficiency"] = 0.9
        graph.nodes[node]["machine"] = node // 2
    for node in (4, 5):
        graph.nodes[node]["forwards"] = True
    description = describe(Platform("own", graph))
    assert (description.machines, description.hosts, description.switches) == (2, 2, 1)
    assert (description.ranks_per_machine, description.nic_ports_per_machine) == ((2, 2), (1, 1))
    assert (description.bisection_bps, description.ethernet_bisection_bps) == (10**9, 10**9)
    assert draw(Platform("own", graph)) == "node6  node4..node5  node0..node3"


def test_rails_are_drawn_with_their_own_ranks() -> None:
    scale_up, rails = [(0, 4), (1, 4), (2, 5), (3, 5)], [(0, 6), (2, 6), (1, 7), (3, 7), (6, 8), (7, 8)]
    graph = graph_of([A, A, A, A, S, S, S, S, S], scale_up + rails)
    for a, b in scale_up:
        graph.edges[a, b, 0]["efficiency"] = 0.9
    assert draw(Platform("own", graph)) == (
        "node8  (2 links down each)\n"
        "├── node6  node0 node2  node4..node5\n"
        "└── node7  node1 node3  node4..node5"
    )  # fmt: skip


def test_links_between_neighbours_are_said() -> None:
    assert draw(Platform("own", graph_of([A, A], [(0, 1)]))) == "node0..node1  (1 link, linked directly)"


def test_links_side_by_side_are_links_of_their_own() -> None:
    platform = Platform("own", graph_of([A, A, S], [(0, 2), (1, 2), (0, 2)]))
    arrays = platform.arrays()
    assert list(zip(arrays.link_a.tolist(), arrays.link_b.tolist(), strict=True)) == [(0, 2), (1, 2), (0, 2)]
    assert describe(platform).bisection_bps == 10**9


def test_ranks_may_be_any_nodes() -> None:
    graph = graph_of([S, A, A], [(0, 1), (0, 2)])
    graph.nodes[1]["rank"], graph.nodes[2]["rank"] = 1, 0
    platform = Platform("own", graph)
    assert platform.rank_nodes.tolist() == [2, 1]


def test_machines_and_scale_up_links() -> None:
    graph = graph_of([S, A, A, A], [(0, 1), (0, 2), (0, 3), (1, 2)])
    graph.edges[1, 2, 0]["efficiency"] = 0.5
    arrays = Platform("own", graph).arrays()
    assert arrays.rank_machine.tolist() == [0, 1, 2]
    assert arrays.link_efficiency.tolist() == [0, 0, 0, 0.5]
    for node, (rank, machine) in {1: (2, 1), 2: (1, 0), 3: (0, 0)}.items():
        graph.nodes[node].update(rank=rank, machine=machine)
    assert Platform("own", graph).arrays().rank_machine.tolist() == [0, 0, 1]


def change_node(node: int, **values: Any) -> Callable[[nx.MultiGraph[int]], None]:
    return lambda graph: graph.nodes[node].update(values)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (change_node(0, rank=1), "accelerators have ranks 1, 1; allowed: 0 to 1"),
        (change_node(2, rank=7), "node2 is no accelerator and has rank 7; allowed: -1"),
        (change_node(2, latency_ps=-5), "node2 has a latency of -5 ps; allowed: 0 or more"),
        (lambda graph: graph.add_node(9, **graph.nodes[2]), "nodes are 0, 1, 2, 9; allowed: 0 to 3"),
        (
            lambda graph: graph.add_edge(0, 1, **{**graph.edges[0, 2, 0], "link": 5}),
            "links are 0, 1, 5; allowed",
        ),
        (lambda graph: graph.add_edge(2, 2, **{**graph.edges[0, 2, 0], "link": 2}), "link 2 joins node2 to itself"),
        (
            lambda graph: graph.edges[0, 2, 0].update(rate_bps=0),
            "link 0, node0 to node2, has a rate of 0 bit/s",
        ),
        (
            lambda graph: graph.edges[1, 2, 0].update(delay_ps=-1),
            "link 1, node1 to node2, has a delay of -1 ps",
        ),
        (lambda graph: graph.edges[0, 2, 0].update(loss=1.0), "has a loss of 1.0; allowed: from 0 to below 1"),
        (lambda graph: graph.edges[0, 2, 0].update(loss=float("nan")), "has a loss of nan; allowed"),
        (
            lambda graph: graph.edges[0, 2, 0].update(efficiency=1.5),
            "node0 to node2, has an efficiency of 1.5; allowed: 0 for Ethernet, else up to 1",
        ),
        (lambda graph: graph.edges[0, 2, 0].update(efficiency=float("nan")), "has an efficiency of nan; allowed"),
        (
            lambda graph: graph.edges[0, 2, 0].update(efficiency=0.9, loss=0.1),
            "has a loss of 0.1; allowed: 0, as it is a scale-up link",
        ),
        (change_node(1, machine=0), "node0 is in no machine, and others are; allowed"),
        (
            lambda graph: [graph.nodes[node].update(machine=2 * node) for node in (0, 1)],
            "machines are 0, 2; allowed: 0 to 1",
        ),
    ],
)
def test_a_graph_that_is_not_a_platform(change: Callable[[nx.MultiGraph[int]], None], says: str) -> None:
    graph = graph_of([A, A, S], [(0, 2), (1, 2)])
    change(graph)
    with pytest.raises(TopologyError) as caught:
        Platform("own", graph)
    assert says in str(caught.value)


def test_no_accelerator() -> None:
    with pytest.raises(TopologyError, match="there is no accelerator; allowed: at least 1"):
        Platform("own", graph_of([S], []))
