# SPDX-License-Identifier: GPL-2.0-only
"""What pictures show is what the table of messages has: they are drawn from other tables, which come from elsewhere."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from astra_py.plots import plot_busbw, plot_flows, plot_links, plot_traffic
from plot_cases import result_of

#: Ranks of a machine of the result that is drawn.
MACHINE = 4


@pytest.fixture
def messages() -> pd.DataFrame:
    return result_of("packet").messages


def test_traffic_is_that_of_the_messages(messages: pd.DataFrame) -> None:
    cells = plot_traffic(result_of("packet")).images[0].get_array().filled(0)
    wanted = np.zeros((8, 8))
    np.add.at(wanted, (messages["src"], messages["dst"]), messages["size_bytes"] / 1e3)
    np.testing.assert_allclose(cells, wanted)


def test_links_over_time_carry_the_messages(messages: pd.DataFrame) -> None:
    result = result_of("packet")
    axes = plot_links(result)
    (mesh,) = (drawn for drawn in axes.collections if drawn.get_array() is not None)
    widths_us = np.diff(mesh.get_coordinates()[0, :, 0])
    assert axes.get_xlabel() == "time since the start (µs)"
    carried = np.asarray(mesh.get_array()) / 100 @ widths_us
    first = 0
    is_inside = messages["src"] // MACHINE == messages["dst"] // MACHINE
    # each message of a machine goes over a link to its switch and one from it; others over a link from a rank and one
    # to a rank, and what goes back are acknowledgements, so that payload is the most, and never all
    payload = {
        "nvlink": 2 * messages["size_bytes"][is_inside].sum(),
        "host": 2 * messages["size_bytes"][~is_inside].sum(),
    }
    for name, mine in result.links.groupby("link_class", sort=False):
        rows = slice(first, first + len(mine))
        first += len(mine)
        line_bytes = carried[rows].sum() * mine["rate_Gbps"].iloc[0] * 1e3 / 8
        assert line_bytes == pytest.approx(mine["line_bytes"].sum(), rel=1e-6)
        if name in payload:
            assert 1 < line_bytes / payload[name] < 1.5, name
    assert first == len(carried)


def test_completion_times_are_those_of_the_messages(messages: pd.DataFrame) -> None:
    times = (messages["delivered_ps"] - messages["posted_ps"]) / 1e6
    lines = plot_flows(result_of("packet")).lines
    assert min(line.get_xdata()[0] for line in lines) == pytest.approx(times.min())
    assert max(line.get_xdata()[-1] for line in lines) == pytest.approx(times.max())
    counts = [int(line.get_label().split(": ")[1].split()[0].replace(",", "")) for line in lines]
    assert sum(counts) == len(messages)


def test_bus_bandwidth_is_of_times_that_hold_all_messages(messages: pd.DataFrame) -> None:
    result = result_of("packet")
    spans = messages.groupby("collective").agg(begin=("posted_ps", "min"), end=("delivered_ps", "max"))
    axes = plot_busbw(result)
    points = {
        (float(x), round(float(y), 9))
        for drawn in axes.collections
        for x, y in np.asarray(drawn.get_offsets()).tolist()
    } | {(float(x), round(float(y), 9)) for line in axes.lines for x, y in zip(*line.get_data(), strict=True)}
    for row in result.collectives.itertuples():
        assert row.time_ps >= spans["end"][row.collective] - spans["begin"][row.collective]
        assert (float(row.size_bytes), round(row.busbw_GBps, 9)) in points
