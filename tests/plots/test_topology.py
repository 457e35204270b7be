# SPDX-License-Identifier: GPL-2.0-only
"""Platforms in layers and groups, and the load of the lines between them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from astra_py.config import load_scenario
from astra_py.errors import ConfigError
from astra_py.platforms import build_platform
from astra_py.plots import plot_topology
from astra_py.plots.layers import group_nodes, layers_of
from plot_cases import ENGINES, links_of, made_up, result_of


def platform(**keys: Any) -> Any:
    return build_platform(load_scenario({"platform": keys}).platform)


def named_layers(**keys: Any) -> dict[int, set[str]]:
    """Names without numbers of what is in each layer."""
    built = platform(**keys)
    found: dict[int, set[str]] = {}
    for name, layer in zip(built.arrays().node_names, layers_of(built).tolist(), strict=True):
        found.setdefault(layer, set()).add(name.rstrip("0123456789"))
    return found


@pytest.mark.parametrize(
    ("keys", "layers"),
    [
        ({"kind": "single_switch"}, {0: {"rank"}, 1: {"switch"}}),
        ({"kind": "leaf_spine", "ranks": 16}, {0: {"rank"}, 1: {"leaf"}, 2: {"spine"}}),
        ({"kind": "zionex", "nodes": 2}, {-1: {"nvswitch"}, 0: {"rank"}, 1: {"leaf"}, 2: {"spine"}}),
        ({"kind": "zion", "nodes": 2}, {-1: {"scaleup"}, 0: {"rank"}, 1: {"host"}, 2: {"leaf"}, 3: {"spine"}}),
        (
            {"kind": "pcie_servers", "nodes": 2},
            {0: {"rank"}, 1: {"pcie"}, 2: {"nic", "host"}, 3: {"leaf"}},
        ),
        ({"kind": "rail_only", "nodes": 2}, {-1: {"nvswitch"}, 0: {"rank"}, 1: {"rail"}}),
        ({"kind": "ring", "ranks": 4}, {0: {"rank"}}),
    ],
)
def test_layers(keys: dict[str, Any], layers: dict[int, set[str]]) -> None:
    assert named_layers(**keys) == layers


@pytest.mark.parametrize("most", [8, 30, 48, 5000])
@pytest.mark.parametrize(
    "keys",
    [
        {"kind": "zionex", "nodes": 128},
        {"kind": "dgx_h100", "nodes": 40},
        {"kind": "leaf_spine", "ranks": 300},
        {"kind": "pcie_servers", "nodes": 20},
        {"kind": "ring", "ranks": 100},
    ],
)
def test_each_node_is_in_one_group_and_no_layer_has_too_many(most: int, keys: dict[str, Any]) -> None:
    built = platform(**keys)
    groups = group_nodes(built, most)
    assert sorted(node for group in groups for node in group.nodes) == list(range(len(built.graph)))
    assert np.unique([group.layer for group in groups], return_counts=True)[1].max() <= most
    if most > len(built.graph):
        assert all(len(group.nodes) == 1 for group in groups)


def test_machines_are_groups_and_neighbours_of_one_leaf_are_joined() -> None:
    built = platform(kind="zionex", nodes=128)
    names = built.arrays().node_names
    groups = [sorted(names[node] for node in group.nodes) for group in group_nodes(built, 128)]
    assert ["nvswitch0", *(f"rank{rank}" for rank in range(8))] in groups
    built = platform(kind="leaf_spine", ranks=300)
    names = built.arrays().node_names
    groups = [[names[node] for node in group.nodes] for group in group_nodes(built, 48)]
    assert [f"rank{rank}" for rank in range(8)] in groups


@pytest.mark.parametrize("engine", ENGINES)
def test_a_line_has_the_load_of_the_busier_direction(engine: str) -> None:
    result = result_of(engine)
    axes = plot_topology(result)
    (drawn,) = (each for each in axes.collections if each.get_label() == "links")
    load = result.links["utilisation_percent"].to_numpy().reshape(-1, 2).max(axis=1)
    assert list(drawn.get_array()) == pytest.approx(sorted(load))
    busiest = result.links.loc[result.links["utilisation_percent"].idxmax()]
    (legend,) = axes.figure.legends
    assert legend.get_title().get_text() == (
        f"busiest link: {busiest['from']} to {busiest['to']}, {busiest['utilisation_percent']:.1f} %"
    )
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        *("nvswitch0..nvswitch1", "rank0..rank7", "leaf0..leaf1", "spine0..spine3")
    ]


def test_a_group_has_the_load_of_its_busiest_link() -> None:
    keys = {"kind": "zionex", "nodes": 128}
    built = platform(**keys)
    load = np.zeros(2 * built.graph.number_of_edges())
    names = built.arrays().node_names
    ends = [f"{names[a]}-{names[b]}" for a, b in zip(built.arrays().link_a, built.arrays().link_b, strict=True)]
    load[2 * next(n for n, text in enumerate(ends) if text.startswith("rank9-nvswitch")) + 1] = 70
    load[2 * next(n for n, text in enumerate(ends) if text.startswith("rank17-leaf"))] = 40
    axes = plot_topology(made_up({"links": links_of(keys, load)}, keys))
    (lines,) = (each for each in axes.collections if each.get_label() == "links")
    assert sorted(lines.get_array())[-2:] == [0, 40]
    boxes = np.concatenate([each.get_array().filled(np.nan) for each in axes.collections if each is not lines])
    assert np.nanmax(boxes) == 70
    assert np.count_nonzero(boxes == 70) == 1


def test_ranks_alone_are_in_a_circle() -> None:
    keys = {"kind": "ring", "ranks": 6}
    axes = plot_topology(made_up({"links": links_of(keys)}, keys))
    (boxes,) = (each for each in axes.collections if each.get_label() != "links")
    distances = np.hypot(*(np.asarray(boxes.get_offsets()) - 0.5).T)
    np.testing.assert_allclose(distances, 0.5)


def labelled(axes: Any, label: str) -> Any:
    (drawn,) = (each for each in axes.collections if each.get_label() == label)
    return drawn


@pytest.mark.parametrize("size", ["paper", "column"])
@pytest.mark.parametrize(
    "keys",
    [
        {"kind": "zionex", "nodes": 128},
        {"kind": "dgx_h100", "nodes": 128},
        {"kind": "fat_tree", "ranks": 1024},
        {"kind": "leaf_spine", "ranks": 1024},
        {"kind": "pcie_servers", "nodes": 128},
        {"kind": "zion", "nodes": 128},
        {"kind": "rail_only", "nodes": 128},
        {"kind": "torus", "ranks": 1024},
    ],
)
def test_a_thousand_ranks_are_few_marks_and_lines(keys: dict[str, Any], size: str) -> None:
    axes = plot_topology(made_up({"links": links_of(keys)}, keys), size=size)
    most = {"paper": 48, "column": 23}[size]
    rows = 1 + len(axes.get_yticks()) // 2
    lines = labelled(axes, "links").get_segments()
    assert lines
    for upper in range(1, rows):
        assert sum(max(line[:, 1]) == upper for line in lines) <= 2 * most
    # and inside the row of ranks, where these have no switches
    assert len(lines) <= 2 * most * rows
    assert sum(len(each.get_offsets()) for each in axes.collections if each.get_label() != "links") <= most * rows


def test_a_mark_of_switches_has_a_cell_for_each_with_its_busiest_link() -> None:
    keys = {"kind": "zionex", "nodes": 128}
    built = platform(**keys)
    names = built.arrays().node_names
    load = np.random.default_rng(4).uniform(0, 80, 2 * built.graph.number_of_edges())
    result = made_up({"links": links_of(keys, load)}, keys)
    axes = plot_topology(result)
    links = result.links
    busiest = {
        name: links.loc[(links["from"] == name) | (links["to"] == name), "utilisation_percent"].max() for name in names
    }
    spines = [name for name in names if name.startswith("spine")]
    drawn = labelled(axes, "cells")
    boxes = [path.get_extents() for path in drawn.get_paths()]
    top = max(box.y1 for box in boxes)
    # 8 spines are one mark, as 43 marks of leafs would have 344 lines to them
    assert [value for value, box in zip(drawn.get_array(), boxes, strict=True) if box.y1 == top] == pytest.approx(
        [busiest[name] for name in spines]
    )
    assert len(labelled(axes, "links").get_segments()) == 2 * 43
    assert max(drawn.get_array()) == max(busiest[name] for name in names if name.startswith(("leaf", "spine")))
    (legend,) = axes.figure.legends
    assert (
        legend.get_title().get_text().endswith("\ncells are switches, or up to 2, in the colour of their busiest link")
    )
    # what is said between the rows is of the links that join them
    said = {tick: label.get_text() for tick, label in zip(axes.get_yticks(), axes.get_yticklabels(), strict=True)}
    for tick, name in ((0.5, "host"), (1.5, "fabric")):
        mine = links.loc[links["link_class"] == name, "utilisation_percent"]
        assert said[tick] == f"1,024 links\nmean {mine.mean():.3g} %\nbusiest {mine.max():.3g} %"
    inside = links.loc[links["link_class"] == "nvlink", "utilisation_percent"].max()
    assert said[0] == f"rank0..rank1023\n24 a mark\ninside: busiest {inside:.3g} %"
    assert (said[1], said[2]) == ("leaf0..leaf127\n3 a mark", "spine0..spine7\n8 a mark")


def test_switches_of_a_pod_are_a_mark() -> None:
    built = platform(kind="fat_tree", ranks=1024)
    names = built.arrays().node_names
    groups = [[names[node] for node in group.nodes] for group in group_nodes(built, 48, 144)]
    spines = [group for group in groups if group[0].startswith("spine")]
    assert spines == [[f"spine{8 * pod + number}" for number in range(8)] for pod in range(16)]
    # cores of a plane are linked to the same spines
    assert [len(group) for group in groups if group[0].startswith("core")] == [8] * 8
    few = [group for group in group_nodes(built, 48, 96) if names[group.nodes[0]].startswith("core")]
    assert [len(group.nodes) for group in few] == [64]


def test_a_platform_that_is_another_one_now_is_no_ground() -> None:
    keys = {"kind": "ring", "ranks": 6}
    with pytest.raises(ConfigError, match="is now another one: it has 6 ranks and 6 links"):
        plot_topology(made_up({"links": links_of({"kind": "ring", "ranks": 5})}, keys))
    lost = made_up({}, keys)
    lost.manifest["scenario"]["platform"]["kind"] = "gone"
    with pytest.raises(ConfigError, match=r"cannot be made again from its manifest: .*'gone'"):
        plot_topology(lost)
