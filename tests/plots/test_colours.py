# SPDX-License-Identifier: GPL-2.0-only
"""Colours that stand side by side are told apart by everybody, and no two things of a picture look alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_hex

from astra_py import plots
from astra_py.analysis.stretches import Part
from astra_py.plots import style
from astra_py.plots.rank_map import STATES
from astra_py.plots.style import collective_colours, line_look
from astra_py.workloads.calls import COLLECTIVE_KINDS
from plot_cases import flows_result, links_of, made_up, many_ranks, result_of, with_bins

#: What people see: Machado, Oliveira, Fernandes, "A Physiologically-based Model for Simulation of Color Vision
#: Deficiency", IEEE TVCG 15(6), 2009, severity 1.0, of linear RGB; and what all others do.
SIGHTS = {
    "all": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
#: Linear sRGB to XYZ (IEC 61966-2-1), and D65's white.
TO_XYZ = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
WHITE = [0.95047, 1, 1.08883]
#: CIE 1976: about 2.3 is the least difference that is seen at all; areas and lines on paper need more.
LEAST = 10
#: Of lightness from 0 to 100, between neighbours of an order.
LEAST_STEP = 15


def lab(colour: str, sight: str = "all") -> np.ndarray:
    """CIELAB of a colour as somebody sees it."""
    channels = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    xyz = np.array(TO_XYZ) @ np.clip(np.array(SIGHTS[sight]) @ linear, 0, 1) / WHITE
    root = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


def nearest(colours: Sequence[str], sight: str) -> float:
    seen = [lab(colour, sight) for colour in colours]
    return min(float(np.linalg.norm(one - other)) for number, one in enumerate(seen) for other in seen[:number])


def test_lab_is_that_of_the_standard() -> None:
    np.testing.assert_allclose(lab("#FFFFFF"), [100, 0, 0], atol=0.02)
    np.testing.assert_allclose(lab("#FF0000"), [53.24, 80.09, 67.20], atol=0.02)


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize(
    "colours",
    [
        # a timeline: with collectives of any kinds
        (*collective_colours(style.COLLECTIVES).values(), style.COMPUTE, style.MEMORY, style.EXPOSED),
        tuple(colour for _, colour in STATES),
        tuple(style.BOTTLENECKS.values()),
        style.SERIES,
        (*style.SERIES, style.OTHERS),
        style.STEPS,
    ],
)
def test_colours_side_by_side_are_told_apart(colours: tuple[str, ...], sight: str) -> None:
    assert nearest(colours, sight) > LEAST


@pytest.mark.parametrize("sight", SIGHTS)
def test_neighbours_of_a_bar_are_told_apart(sight: str) -> None:
    # hatches tell the two that share a colour with another part, or have none
    for hatch in {fill.hatch for fill in style.PARTS.values()}:
        colours = [fill.colour for fill in style.PARTS.values() if fill.hatch == hatch]
        assert len(colours) == 1 or nearest(colours, sight) > LEAST
    assert list(style.PARTS) == list(Part)


@pytest.mark.parametrize("sight", SIGHTS)
def test_more_is_darker_to_everybody(sight: str) -> None:
    amounts = [lab(to_hex(mpl.colormaps[style.AMOUNTS](share)), sight)[0] for share in np.linspace(0, 1, 33)]
    assert np.diff(amounts).max() < 0
    assert amounts[0] - amounts[-1] > 60
    steps = [lab(colour, sight)[0] for colour in style.STEPS]
    assert np.diff(steps).max() < -LEAST_STEP


@pytest.mark.parametrize("first", ["all_to_all", "all_to_all_v"])
def test_kinds_of_one_colour_take_two_in_one_picture(first: str) -> None:
    (second,) = {"all_to_all", "all_to_all_v"} - {first}
    assert collective_colours([first])[first] == collective_colours([second])[second] == style.COLLECTIVES[first]
    found = collective_colours([first, second, "all_reduce", "broadcast"])
    assert len(set(found.values())) == 4
    assert found[first] == style.COLLECTIVES[first]
    assert found["all_reduce"] == style.COLLECTIVES["all_reduce"]
    assert list(found) == [first, second, "all_reduce", "broadcast"]


def test_kinds_have_colours_of_their_own_while_there_are_some() -> None:
    found = collective_colours(COLLECTIVE_KINDS)
    taken = [colour for colour in found.values() if colour != style.GREY]
    assert len(taken) == len(set(taken)) >= 6
    assert not set(found.values()) & {style.COMPUTE, style.MEMORY, style.EXPOSED}


def test_lines_look_like_no_other() -> None:
    assert len({str(line_look(number)) for number in range(style.MOST_SERIES)}) == style.MOST_SERIES


def held_ports() -> Any:
    """Queues of 16 directions of links, of which the first and another one were held."""
    keys = {"kind": "leaf_spine", "ranks": 4, "ranks_per_leaf": 2}
    pauses = {"channel": np.arange(16), "start_ps": [10**6] * 16, "end_ps": [2 * 10**6] * 16}
    return with_bins(links_of(keys), keys, pauses=pauses)


def result_of_kinds(kinds: list[str]) -> Any:
    """A message of each of some kinds of collectives."""
    number = np.arange(len(kinds))
    tables = {
        "collectives": {"collective": number, "kind": np.array(kinds, dtype=object)},
        "messages": {"collective": number, "delivered_ps": 10**6 * (number + 1)},
    }
    return made_up(tables, {"kind": "single_switch", "ranks": 2})


def look(handle: Any) -> str:
    """What a reader sees of an entry of a legend; a plain area looks like a plain line of its colour."""
    if hasattr(handle, "get_hatch"):
        return str((to_hex(handle.get_facecolor(), keep_alpha=True), handle.get_hatch() or ""))
    marker = str(handle.get_marker()).removeprefix("None")
    dashes = "" if handle._dash_pattern[1] is None else str(handle._dash_pattern)
    return str((to_hex(handle.get_color()) + "ff", marker + dashes))


@pytest.mark.parametrize(
    "draw",
    [
        lambda: plots.plot_timeline(result_of("packet")),
        lambda: plots.plot_timeline(many_ranks(), "all"),
        lambda: plots.plot_flows(result_of("packet")),
        lambda: plots.plot_flows(flows_result()),
        lambda: plots.plot_flows(flows_result(), "slowdown"),
        lambda: plots.plot_busbw(result_of("packet"), result_of("flow"), result_of("analytic")),
        lambda: plots.plot_queues(result_of("packet"), 8),
        lambda: plots.plot_queues(held_ports(), 8),
        lambda: plots.plot_flows(result_of_kinds(["all_to_all_v", "all_to_all", "broadcast", "all_reduce"])),
    ],
)
def test_no_two_entries_of_a_legend_look_alike(draw: Callable[[], Any]) -> None:
    (legend,) = draw().figure.legends
    looks = [look(handle) for handle in legend.legend_handles]
    assert len(looks) > 1
    assert len(set(looks)) == len(looks)
