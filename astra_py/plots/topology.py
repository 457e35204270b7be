# SPDX-License-Identifier: GPL-2.0-only
"""A run's platform, layer by layer, its links coloured by how busy they were."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.platforms.names import name_range
from astra_py.platforms.node_kind import NodeKind
from astra_py.plots.caption import caption
from astra_py.plots.figure import POINTS_PER_INCH, drawing, figure_of, legend_above, rows_height, side_bar
from astra_py.plots.layers import Group, group_nodes
from astra_py.plots.platform import platform_of
from astra_py.plots.style import AMOUNTS, INK, figure_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from astra_py.platforms import Platform
    from astra_py.results.result import Result

__all__ = ["plot_topology"]

#: Nodes of a layer that are drawn one by one: so many for an inch of the figure, and at most.
_NODES_PER_INCH, _MOST_NODES = 7, 48
#: Lines between two rows that can be followed, for each node of a row.
_LINES_PER_NODE = 2
#: Least width of a cell of a mark, and height of one, in points.
_CELL_PT, _STRIP_PT = 2.5, 7
#: Share of its place that a mark of cells fills, and of the row that a cell has at most.
_STRIP, _CELL = 0.8, 0.1
#: Height of a layer with the text below it, in rows with names.
_ROWS_A_LAYER = 3.5
#: Nodes of a layer whose names are written beside them, for an inch of the figure.
_NAMES_PER_INCH = 1.5
#: Share of a figure's width that a row has, and how large a node is at most, in widths of a line.
_ROW_WIDTH, _LARGEST_NODE = 0.55, 7
#: Ends of the scale of utilisation, in percent: the first one that nothing is above.
_SCALES = (1, 2, 5, 10, 20, 50, 100)
#: Points of a curve.
_CURVE = np.linspace(0, 1, 17)


def plot_topology(result: Result, *, ax: Axes | None = None, size: str = "paper") -> Axes:
    """Draw the platform of a run: ranks, NICs, leafs, spines, and the links between them in the colour of their load.

    A link has the utilisation of its busier direction over the whole run. Where a layer has more nodes, or more lines
    go down from it, than can be told apart, machines are drawn as one mark, and switches that are linked alike, too: a
    line between marks has the load of the busiest link in it, a machine that of the busiest link inside, and a mark of
    switches has a cell for each, or for some, with the load of its busiest link. Between the rows then stands how many
    links these are, the mean of their directions and the busiest. Ranks that are linked to one another alone are drawn
    in a circle.

    Parameters
    ----------
    result : of a run.
    ax, size : as :func:`~astra_py.plots.timeline.plot_timeline` takes them.

    Raises
    ------
    ConfigError : the platform cannot be made again from the manifest, or matplotlib is not installed.
    """
    platform = platform_of(result)
    links = result.columns("links")
    load = links["utilisation_percent"].reshape(-1, 2)
    width = figure_size(size).width_in if ax is None else figure_of(ax).get_figwidth()
    picture = _picture(platform, load, min(_MOST_NODES, int(_NODES_PER_INCH * width)))
    with drawing(ax, size, max(0.55, rows_height(_ROWS_A_LAYER * picture.layers, size)), caption(result)) as axes:
        top = next((scale for scale in _SCALES if scale >= load.max(initial=0)), _SCALES[-1])
        together = _draw(axes, picture, top, figure_size(size).line_pt, width)
        _name(axes, platform, picture, int(_NAMES_PER_INCH * width))
        said = _busiest(links["from"], links["to"], links["utilisation_percent"])
        if any(map(picture.is_strip, range(len(picture.groups)))):
            each = "" if together == 1 else f", or up to {together},"
            said += f"\ncells are switches{each} in the colour of their busiest link"
        legend_above(axes, [], said)
    return axes


@dataclass(frozen=True)
class _Picture:
    """Groups of nodes, where they are, and the lines between them.

    Attributes
    ----------
    groups : of nodes.
    place : f64[groups, 2], x and y of each.
    lines : load in percent by the pair of groups, the lower one first, that links join.
    inside : f64[groups], load of the busiest link inside; NaN where there is none.
    node : f64[nodes], load of the busiest link of each node.
    between : by a pair of layers, the lower one first: the loads of the directions of the links that join them; of
        groups inside, by the layer twice.
    is_circle : whether the groups are in a circle.
    """

    groups: Sequence[Group]
    place: NDArray[np.float64]
    lines: dict[tuple[int, int], float]
    inside: NDArray[np.float64]
    node: NDArray[np.float64]
    between: dict[tuple[int, int], NDArray[np.float64]]
    is_circle: bool

    @property
    def layers(self) -> int:
        """How many there are."""
        return len({group.layer for group in self.groups})

    @property
    def is_grouped(self) -> bool:
        """Whether a mark stands for several nodes."""
        return any(len(group.nodes) > 1 for group in self.groups)

    def is_strip(self, number: int) -> bool:
        """Whether a group is drawn as cells: switches, hosts and NICs are, where any mark stands for several nodes."""
        return self.is_grouped and self.groups[number].layer != 0

    def half_width(self, number: int) -> float:
        """Half of how wide a mark of cells is; 0 of another one."""
        if not self.is_strip(number):
            return 0.0
        group = self.groups[number]
        return 0.5 * min(_STRIP / sum(each.layer == group.layer for each in self.groups), _CELL * len(group.nodes))


def _picture(platform: Platform, load: NDArray[np.float64], most: int) -> _Picture:
    groups = group_nodes(platform, most, _LINES_PER_NODE * most)
    of_node = np.empty(len(platform.graph), dtype=np.int64)
    for number, group in enumerate(groups):
        of_node[list(group.nodes)] = number
    arrays = platform.arrays()
    lines: dict[tuple[int, int], float] = {}
    inside = np.full(len(groups), np.nan)
    node = np.zeros(len(platform.graph))
    busier = load.max(axis=1, initial=0)
    np.maximum.at(node, arrays.link_a, busier)
    np.maximum.at(node, arrays.link_b, busier)
    ends = np.sort(np.column_stack([of_node[arrays.link_a], of_node[arrays.link_b]]), axis=1)
    for (a, b), busy in zip(ends.tolist(), busier.tolist(), strict=True):
        if a == b:
            inside[a] = np.fmax(inside[a], busy)
        else:
            lines[a, b] = max(lines.get((a, b), 0.0), busy)
    level = np.array([group.layer for group in groups])[ends]
    is_inside = ends[:, 0] == ends[:, 1]
    between = {
        (low, high): load[(level == (low, high)).all(axis=1) & (is_inside | (low != high))].ravel()
        for low, high in {(int(low), int(high)) for low, high in level.tolist()}
    }
    is_circle = {group.layer for group in groups} == {0}
    place = _circle(len(groups)) if is_circle else _rows(groups, lines)
    return _Picture(groups, place, lines, inside, node, between, is_circle)


def _circle(count: int) -> NDArray[np.float64]:
    angle = np.pi / 2 - 2 * np.pi * np.arange(count) / count
    return np.column_stack([0.5 + 0.5 * np.cos(angle), 0.5 + 0.5 * np.sin(angle)])


def _rows(groups: Sequence[Group], lines: dict[tuple[int, int], float]) -> NDArray[np.float64]:
    """A row a layer, evenly spaced; what is below the ranks is under the middle of what it joins."""
    layers = sorted({group.layer for group in groups})
    place = np.empty((len(groups), 2))
    for level in layers:
        mine = [number for number, group in enumerate(groups) if group.layer == level]
        place[mine, 0] = (np.arange(len(mine)) + 0.5) / len(mine)
        place[mine, 1] = layers.index(level)
    if layers[0] < 0:
        below = [number for number, group in enumerate(groups) if group.layer == layers[0]]
        middle = {
            number: float(np.mean([place[b if a == number else a, 0] for a, b in lines if number in (a, b)] or [0.5]))
            for number in below
        }
        # those of one machine share a middle, and stand side by side
        for rank, number in enumerate(sorted(below, key=lambda number: (middle[number], number))):
            place[number, 0] = (rank + 0.5) / len(below)
    return place


def _draw(axes: Axes, picture: _Picture, top: float, line_pt: float, width_in: float) -> int:
    """Draw lines and marks; gives how many nodes a cell has at most."""
    from matplotlib import colormaps
    from matplotlib.collections import LineCollection

    ordered = sorted(picture.lines, key=lambda pair: (picture.lines[pair], pair))
    busy = np.array([picture.lines[pair] for pair in ordered])
    curves = [_curve(picture, *pair) for pair in ordered]
    # the more lines there are, the thinner
    width = line_pt * min(1.0, (100 / max(len(ordered), 1)) ** 0.5)
    drawn = LineCollection(curves, cmap=AMOUNTS, clim=(0, top), linewidths=width * (0.5 + 1.2 * busy / top), zorder=1)
    drawn.set_array(busy)
    drawn.set_label("links")
    axes.add_collection(drawn)
    counts = np.unique([group.layer for group in picture.groups], return_counts=True)[1]
    spacing_pt = _ROW_WIDTH * width_in * POINTS_PER_INCH / counts.max()
    area = float(min(0.8 * spacing_pt, _LARGEST_NODE * line_pt) ** 2)
    kinds = np.array([_shape(picture, number) for number in range(len(picture.groups))])
    together = _draw_strips(axes, picture, top, line_pt, width_in)
    for shape in sorted({*kinds.tolist()} - {""}):
        mine = np.flatnonzero(kinds == shape)
        axes.scatter(
            picture.place[mine, 0],
            picture.place[mine, 1],
            s=area,
            marker=shape,
            c=picture.inside[mine],
            cmap=colormaps[AMOUNTS].with_extremes(bad="white"),
            vmin=0,
            vmax=top,
            edgecolors=INK,
            linewidths=line_pt / 2,
            plotnonfinite=True,
            zorder=2,
        )
    side_bar(axes, drawn, "utilisation over the run (%)")
    return together


def _draw_strips(axes: Axes, picture: _Picture, top: float, line_pt: float, width_in: float) -> int:
    """Draw the marks of switches: a cell each, or for some where they are many; gives how many one has at most."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    height = figure_of(axes).get_figheight() * POINTS_PER_INCH * _ROW_WIDTH
    half = 0.5 * _STRIP_PT * line_pt * picture.layers / height
    cells, busy = [], []
    together = 0
    for number in filter(picture.is_strip, range(len(picture.groups))):
        nodes = picture.groups[number].nodes
        wide = 2 * picture.half_width(number)
        parts = np.array_split(
            nodes, min(len(nodes), max(1, int(wide * _ROW_WIDTH * width_in * POINTS_PER_INCH / _CELL_PT)))
        )
        left = picture.place[number, 0] - wide / 2
        for place, part in enumerate(parts):
            corner = (left + place * wide / len(parts), picture.place[number, 1] - half)
            cells.append(Rectangle(corner, wide / len(parts), 2 * half))
            busy.append(picture.node[part].max())
            together = max(together, len(part))
    if cells:
        drawn = PatchCollection(
            cells, cmap=AMOUNTS, clim=(0, top), edgecolors=INK, linewidths=line_pt / 3, zorder=2, label="cells"
        )
        drawn.set_array(np.ma.array(busy))
        axes.add_collection(drawn)
    return together


def _shape(picture: _Picture, number: int) -> str:
    """Circles are ranks and machines, squares all else; "" of marks of cells."""
    if picture.is_strip(number):
        return ""
    return "o" if picture.groups[number].layer == 0 else "s"


def _curve(picture: _Picture, a: int, b: int) -> NDArray[np.float64]:
    """The way between two groups: straight, but below its row where both are in one."""
    first, second = picture.place[a].copy(), picture.place[b].copy()
    for mine, number, other in ((first, a, second), (second, b, first)):
        # a line meets a mark of cells as straight as it can
        half = 0.85 * picture.half_width(number) if len(picture.groups[number].nodes) > 1 else 0.0
        mine[0] = np.clip(other[0], mine[0] - half, mine[0] + half)
    if picture.is_circle or first[1] != second[1]:
        return np.array([first, second])
    points: NDArray[np.float64] = first + np.outer(_CURVE, second - first)
    points[:, 1] -= 4 * _CURVE * (1 - _CURVE) * (0.15 + 0.3 * abs(second[0] - first[0]))
    return points


def _name(axes: Axes, platform: Platform, picture: _Picture, most: int) -> None:
    """Write what each row is, and the names of its nodes where these are few."""
    axes.set_xlim(-0.03, 1.03)
    layers = sorted({group.layer for group in picture.groups})
    if picture.is_circle:
        axes.set_aspect("equal")
        axes.set(xticks=[], yticks=[], ylim=(-0.12, 1.12), xlabel=_row_name(platform, picture.groups))
    else:
        rows = [[group for group in picture.groups if group.layer == level] for level in layers]
        ticks = {float(row): _row_name(platform, groups) for row, groups in enumerate(rows)}
        if picture.is_grouped:
            for (low, high), load in picture.between.items():
                if low == high:
                    ticks[layers.index(low)] += f"\ninside: busiest {load.max():.3g} %"
                elif layers.index(high) == layers.index(low) + 1:
                    ticks[layers.index(low) + 0.5] = _load_name(load)
        axes.set_yticks(list(ticks), list(ticks.values()))
        axes.tick_params(axis="y", length=0)
        axes.set(xticks=[], ylim=(-0.35, len(rows) - 0.65))
    axes.spines[:].set_visible(False)
    if not picture.is_circle:
        _name_nodes(axes, platform, picture, layers[0], most, is_below=True)
        _name_nodes(axes, platform, picture, layers[-1], most, is_below=False)


def _name_nodes(axes: Axes, platform: Platform, picture: _Picture, level: int, most: int, *, is_below: bool) -> None:
    """Write the names of the nodes of an outer layer, if they are few, on the side where no line is."""
    mine = [number for number, group in enumerate(picture.groups) if group.layer == level]
    if len(mine) > most or any(len(picture.groups[number].nodes) > 1 for number in mine):
        return
    for number in mine:
        axes.annotate(
            str(platform.graph.nodes[picture.groups[number].nodes[0]]["name"]),
            picture.place[number],
            (0, -1 if is_below else 1),
            textcoords="offset fontsize",
            ha="center",
            va="top" if is_below else "bottom",
        )


def _row_name(platform: Platform, groups: Sequence[Group]) -> str:
    """What the groups of a layer are: their number, how many nodes are in one, and the names of the nodes."""
    graph, level = platform.graph, groups[0].layer
    is_machines = level == 0 and any(len(group.nodes) > 1 for group in groups)
    nodes = [node for group in groups for node in group.nodes]
    if level == 0:
        nodes = [node for node in nodes if graph.nodes[node]["kind"] == NodeKind.ACCELERATOR]
    lines = name_range(graph, nodes).split(" ")
    most = max(len(group.nodes) if level else _ranks_in(platform, group) for group in groups)
    if most > 1 or is_machines:
        lines.append(f"{most} a mark")
    return "\n".join(lines[:1] + lines[-1:] if len(lines) > 4 else lines)


def _load_name(load: NDArray[np.float64]) -> str:
    """What is said of the links between two rows, of whose directions these are the loads."""
    links = len(load) // 2
    return f"{links:,} link{'' if links == 1 else 's'}\nmean {load.mean():.3g} %\nbusiest {load.max():.3g} %"


def _ranks_in(platform: Platform, group: Group) -> int:
    return sum(platform.graph.nodes[node]["kind"] == NodeKind.ACCELERATOR for node in group.nodes)


def _busiest(source: NDArray[np.object_], target: NDArray[np.object_], percent: NDArray[np.float64]) -> str:
    if not len(percent) or not percent.any():
        return "no link carries anything"
    busiest = int(percent.argmax())
    return f"busiest link: {source[busiest]} to {target[busiest]}, {percent[busiest]:.1f} %"
