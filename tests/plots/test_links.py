# SPDX-License-Identifier: GPL-2.0-only
"""Links and queues over time are the table of bins."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import PolyCollection

from astra_py.errors import ConfigError
from astra_py.plots import plot_links, plot_queues
from plot_cases import BINS, links_of, made_up, many_ranks, result_of, with_bins

KEYS = {"kind": "leaf_spine", "ranks": 4, "ranks_per_leaf": 2}


def test_each_direction_of_a_link_is_a_row_of_its_class() -> None:
    result = with_bins(links_of(KEYS), KEYS)
    axes = plot_links(result)
    (mesh,) = (drawn for drawn in axes.collections if drawn.get_array() is not None)
    drawn = np.asarray(mesh.get_array())
    values = result.link_bins["utilisation_percent"].to_numpy().reshape(-1, BINS)
    mean = values @ [10, 10, 10, 10, 4]
    classes = result.links["link_class"].to_numpy()
    order = [
        row for name in ("host", "fabric") for row in sorted(np.flatnonzero(classes == name), key=lambda r: -mean[r])
    ]
    np.testing.assert_array_equal(drawn, values[order])
    assert [label.get_text() for label in axes.get_yticklabels()] == ["host: 8", "fabric: 8"]
    assert axes.get_xlim() == (0, 44)
    assert axes.child_axes[0].get_ylabel() == "utilisation (%)"


def test_many_links_share_rows_that_show_their_mean() -> None:
    links = many_ranks().columns("links")
    result = with_bins(links, {"kind": "zionex", "nodes": 128})
    axes = plot_links(result)
    (mesh,) = (drawn for drawn in axes.collections if drawn.get_array() is not None)
    drawn = np.asarray(mesh.get_array())
    assert len(drawn) <= 240
    assert drawn.mean() == pytest.approx(result.link_bins["utilisation_percent"].mean(), rel=1e-2)
    assert axes.get_yticklabels()[0].get_text() == "nvlink: 2,048\n26 a row"


def test_the_fullest_queues_are_drawn() -> None:
    result = with_bins(links_of(KEYS), KEYS)
    axes = plot_queues(result, ports=3)
    queues = result.link_bins["max_queue_bytes"].to_numpy().reshape(-1, BINS)
    fullest = np.argsort(-queues.max(axis=1))[:3]
    for stairs, channel in zip(axes.patches, fullest, strict=True):
        values, edges, _ = stairs.get_data()
        np.testing.assert_allclose(values, queues[channel] / 1e3)
        np.testing.assert_allclose(edges, [0, 10, 20, 30, 40, 44])
        link = result.links.iloc[channel]
        assert stairs.get_label() == f"{link['from']} to {link['to']}"
    assert axes.get_ylabel() == "longest queue (kB)"
    assert axes.get_ylim()[0] == 0


def test_pauses_are_strips_below() -> None:
    queues = with_bins(links_of(KEYS), KEYS).link_bins["max_queue_bytes"].to_numpy().reshape(-1, BINS)
    fullest, other = np.argsort(-queues.max(axis=1))[[0, -1]]
    pauses = {"channel": [fullest, other], "start_ps": [2 * 10**6, 10**7], "end_ps": [5 * 10**6, 3 * 10**7]}
    axes = plot_queues(with_bins(links_of(KEYS), KEYS, pauses=pauses), ports=1)
    boxes = [
        path.get_extents() for each in axes.collections if isinstance(each, PolyCollection) for path in each.get_paths()
    ]
    assert [(box.x0, box.x1) for box in boxes] == [(2, 5), (10, 30)]
    assert all(axes.get_ylim()[0] < box.y0 < box.y1 <= 0 for box in boxes)
    (legend,) = axes.figure.legends
    assert legend.get_title().get_text() == "the fullest port, strips below: held by PFC"
    assert legend.get_texts()[-1].get_text() == "another port was held"


def test_what_cannot_be_drawn_is_said() -> None:
    for plot in (plot_links, plot_queues):
        with pytest.raises(ConfigError, match=r"the run has no link_bins: .* results\.link_bins above 0"):
            plot(result_of("analytic"))
    result = with_bins(links_of(KEYS), KEYS)
    with pytest.raises(ConfigError, match="queues of 0 ports; allowed: 1 to 8"):
        plot_queues(result, ports=0)
    bins = {**result.columns("link_bins"), "max_queue_bytes": np.zeros(16 * BINS, dtype=int)}
    with pytest.raises(ConfigError, match="no port had a queue"):
        plot_queues(made_up({"links": links_of(KEYS), "link_bins": bins}, KEYS))
