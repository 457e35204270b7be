# SPDX-License-Identifier: GPL-2.0-only
"""At the size of a paper every picture is readable: of eight ranks and of 1,024, with long names and many variants."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.text import Text

import astra_py as ap
from astra_py import plots
from astra_py.plots.style import SIZES
from astra_py.plots.why import Why, read_why
from plot_cases import flows_result, many_ranks, result_of, variants_of, with_bins

#: Points: smaller letters are not read on paper; publishers ask for this.
SMALLEST_PT = 6
#: Artists of a picture, each of which is a shape or text of its own in a file.
MOST_ARTISTS = 1200


@cache
def eight_variants() -> Why:
    compared = ap.compare({}, "platform.ranks=2", engines=["packet"], collective="all_to_all", sizes=[2**12])
    with tempfile.TemporaryDirectory() as folder:
        return variants_of(read_why(compared.save(Path(folder, "saved"))))


@cache
def busy_ranks(ranks: int = 1024) -> Any:
    return with_bins(many_ranks(ranks).columns("links"), {"kind": "zionex", "nodes": ranks // 8})


PICTURES: dict[str, Callable[[str], Any]] = {
    "timeline": lambda size: plots.plot_timeline(result_of("packet"), size=size),
    "timeline of iteration 1": lambda size: plots.plot_timeline(result_of("packet"), iteration=1, size=size),
    "timeline of 1,024": lambda size: plots.plot_timeline(many_ranks(), size=size),
    "map": lambda size: plots.plot_timeline(result_of("packet"), "all", size=size),
    "map of 1,024": lambda size: plots.plot_timeline(many_ranks(), "all", size=size),
    "busbw": lambda size: plots.plot_busbw(*map(result_of, ("packet", "flow", "analytic")), size=size),
    "why of eight variants": lambda size: plots.plot_why(eight_variants(), size=size),
    "topology": lambda size: plots.plot_topology(result_of("packet"), size=size),
    "topology of 1,024": lambda size: plots.plot_topology(many_ranks(), size=size),
    "links": lambda size: plots.plot_links(result_of("packet"), size=size),
    "links of 1,024": lambda size: plots.plot_links(busy_ranks(), size=size),
    "queues": lambda size: plots.plot_queues(result_of("packet"), 8, size=size),
    "queues of 1,024": lambda size: plots.plot_queues(busy_ranks(), size=size),
    "flows": lambda size: plots.plot_flows(result_of("packet"), size=size),
    "slowdown": lambda size: plots.plot_flows(flows_result(), "slowdown", size=size),
    "traffic": lambda size: plots.plot_traffic(result_of("packet"), size=size),
    "traffic of 1,024": lambda size: plots.plot_traffic(many_ranks(), size=size),
}


def drawn_texts(figure: Any) -> list[Text]:
    """What is written when the figure is drawn, once: ticks outside of their axis are not."""
    found: dict[Text, None] = {}
    draw = Text.draw

    def note(text: Text, renderer: Any) -> None:
        if text.get_visible() and text.get_text().strip():
            found[text] = None
        draw(text, renderer)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Text, "draw", note)
        figure.canvas.draw()
    return list(found)


def are_apart(texts: Sequence[Text]) -> bool:
    """Whether no two of these cover each other."""
    boxes = [text.get_window_extent() for text in texts]
    return not any(one.overlaps(other) for number, one in enumerate(boxes) for other in boxes[:number])


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("picture", PICTURES)
def test_nothing_is_cut_covered_or_too_small(picture: str, size: str) -> None:
    axes = PICTURES[picture](size)
    figure = axes.figure
    dots = figure.dpi
    texts = drawn_texts(figure)
    assert len(texts) > 5
    for text in texts:
        assert text.get_fontsize() >= SMALLEST_PT, text
        box = text.get_window_extent()
        assert (box.x0, box.y0) >= (-0.5, -0.5), text
        assert box.x1 <= figure.get_figwidth() * dots + 0.5, text
        assert box.y1 <= figure.get_figheight() * dots + 0.5, text
    assert are_apart(texts)
    # the legend, the data and the caption stand one below the other
    caption = figure._supxlabel.get_window_extent()
    legend = figure.legends[0].get_window_extent()
    data = axes.get_window_extent()
    assert caption.y1 <= data.y0 < data.y1 <= legend.y0 + 0.5
    # the data have a good part of the figure, and a page holds it
    assert data.height > 0.25 * figure.get_figheight() * dots
    assert data.width > 0.3 * figure.get_figwidth() * dots
    assert figure.get_figheight() <= SIZES[size].tallest_in


@pytest.mark.parametrize("picture", PICTURES)
def test_each_caption_has_scenario_platform_engine_and_seed(picture: str) -> None:
    said = PICTURES[picture]("column").figure.get_supxlabel().replace("\n", " ")
    assert re.match(r"\S.*, \w+ of [\d,]+ ranks, engine (packet|flow|analytic)\S*, seed \d+, digest [0-9a-f]{12}", said)
    assert not said.startswith(("engine", "seed"))


@pytest.mark.parametrize("picture", PICTURES)
def test_a_picture_has_few_shapes(picture: str) -> None:
    axes = PICTURES[picture]("paper")
    shapes = sum(max(len(each.get_paths()), len(each.get_offsets())) for each in axes.collections if not is_mesh(each))
    assert len(axes.lines) + len(axes.patches) + len(axes.texts) + shapes <= MOST_ARTISTS
    assert all(np.prod(image.get_array().shape) <= 512**2 for image in axes.images)


def is_mesh(drawn: Any) -> bool:
    return hasattr(drawn, "get_coordinates")


def test_what_covers_is_found() -> None:
    axes = plots.plot_why(eight_variants(), size="column")
    axes.set_yticks(axes.get_yticks(), ["transport.window=none, transport.payload=1024B"] * len(axes.get_yticks()))
    axes.figure.set_figheight(2)
    with pytest.warns(UserWarning, match="constrained_layout not applied"):
        axes.figure.canvas.draw()
    assert not are_apart(axes.get_yticklabels())
    assert not all(one.get_window_extent().x0 >= 0 for one, _ in pairwise(axes.get_yticklabels()))
