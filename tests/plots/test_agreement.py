# SPDX-License-Identifier: GPL-2.0-only
"""What pictures show is what the table of messages has: they are drawn from other tables, which come from elsewhere."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

import astra_py as ap
from astra_py.plots import (
    plot_busbw,
    plot_flows,
    plot_links,
    plot_queues,
    plot_timeline,
    plot_topology,
    plot_traffic,
    plot_why,
)
from astra_py.plots.style import COMPUTE, MEMORY
from astra_py.units import parse_time
from plot_cases import ENGINES, flows_result, result_of

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


@pytest.mark.parametrize("engine", ENGINES)
def test_a_timeline_shows_collectives_from_the_first_message_to_the_last(engine: str) -> None:
    result = result_of(engine)
    table = result.messages
    for iteration in (0, 1):
        rank = int(result.iterations["rank"].iloc[iteration])
        axes = plot_timeline(result, iteration=iteration)
        assert axes.get_xlabel() == "time since the start (µs)"
        begin, end = axes.get_xlim()
        colours = {COMPUTE, MEMORY}
        bars = sorted(
            (box.x0, box.x1)
            for drawn in axes.collections
            if isinstance(drawn, PolyCollection) and to_hex(drawn.get_facecolor()[0]).upper() not in colours
            for box in (path.get_extents() for path in drawn.get_paths())
        )
        sent, received = table[table["src"] == rank], table[table["dst"] == rank]
        spans = pd.DataFrame(
            {
                "start": sent.groupby("collective")["posted_ps"].min() / 1e6,
                "end": received.groupby("collective")["delivered_ps"].max() / 1e6,
                "acked": sent.groupby("collective")["acked_ps"].max() / 1e6,
            }
        )
        # to the exactness of the axis, in which the bars are
        spans = spans[(spans["end"] > begin + 1e-6) & (spans["start"] < end - 1e-6)].sort_values(["start", "end"])
        assert len(bars) == len(spans) >= 3
        assert [start for start, _ in bars] == pytest.approx(list(spans["start"]))
        if engine == "flow":
            # a rank's part ends no earlier, and when all that it sent is there
            for (_, stop), span in zip(bars, spans.itertuples(), strict=True):
                assert span.end - 1e-9 <= stop <= max(span.end, span.acked) + 1e-9
        else:
            assert [stop for _, stop in bars] == pytest.approx(list(spans["end"]))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_timeline_s_exposed_time_is_that_without_compute(engine: str) -> None:
    result = result_of(engine)
    for row in result.iterations.itertuples():
        axes = plot_timeline(result, iteration=row.iteration)
        own = result.operations.query("kind == 'compute' and iteration == @row.iteration and rank == @row.rank")
        moments = np.unique(np.concatenate([own["start_ps"], own["end_ps"]]))
        middles = (moments[:-1] + moments[1:]) / 2
        is_busy = [((own["start_ps"] < each) & (each < own["end_ps"])).any() for each in middles]
        exposed_us = row.time_us - np.diff(moments)[is_busy].sum() / 1e6
        early = np.diff(np.minimum(moments / 1e6, row.start_us))[is_busy].sum()
        shaded = sum(patch.get_width() for patch in axes.patches if isinstance(patch, Rectangle))
        assert shaded - early == pytest.approx(exposed_us)
        title = axes.figure.legends[0].get_title().get_text()
        figure, unit = re.search(r"exposed ([\d.,]+) (ns|µs)", title).groups()
        assert float(figure.replace(",", "")) * {"ns": 1e-3, "µs": 1}[unit] == pytest.approx(exposed_us, rel=1e-3)


def test_links_of_a_topology_carry_the_messages() -> None:
    result = flows_result()
    table = result.messages
    frames = -(-table["size_bytes"] // 4096)
    # a data frame has 82 B beside its payload on the line, and its acknowledgement 86 B: Ethernet 38, IPv4 20, UDP 8,
    # BTH 12, invariant CRC 4, and AETH 4; the first frame of a message has RETH too, 16 B
    data = table["size_bytes"] + 82 * frames + 16
    up = data.groupby(table["src"]).sum().reindex(range(8), fill_value=0)
    down = data.groupby(table["dst"]).sum().reindex(range(8), fill_value=0)
    acks_up = 86 * frames.groupby(table["dst"]).sum().reindex(range(8), fill_value=0)
    acks_down = 86 * frames.groupby(table["src"]).sum().reindex(range(8), fill_value=0)
    busier = np.maximum(up + acks_up, down + acks_down)
    bits_us = result.links["rate_Gbps"].iloc[0] * 1e3
    wanted = 100 * 8 * busier / (bits_us * result.manifest["run"]["time_ps"] / 1e6)
    axes = plot_topology(result)
    (drawn,) = (each for each in axes.collections if each.get_label() == "links")
    assert list(drawn.get_array()) == pytest.approx(sorted(wanted), rel=1e-6)


def test_a_queue_is_what_messages_have_still_to_deliver() -> None:
    result = flows_result()
    table, platform = result.messages, result.manifest["scenario"]["platform"]
    axes = plot_queues(result)
    (stairs,) = axes.patches
    assert stairs.get_label() == "switch0 to rank0"
    values, edges, _ = stairs.get_data()
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("time since the start (µs)", "longest queue (kB)")
    # when the last frame of the senders is in the switch, the port sends without a break until the last is delivered
    # kB/us and kB
    rate = result.links["rate_Gbps"].iloc[0] / 8
    delay_us, latency_us = (parse_time(platform[name]) / 1e6 for name in ("link_delay", "switch_latency"))
    last_sent, last_there = table["sent_ps"].max() / 1e6, table["delivered_ps"].max() / 1e6
    in_switch = last_sent + delay_us + latency_us
    frame = 4.158
    assert values.max() == pytest.approx((last_there - delay_us - in_switch) * rate, abs=frame)
    draining = [
        (start, value) for start, value in zip(edges[:-1], values, strict=True) if in_switch < start < last_there - 1
    ]
    assert len(draining) > 10
    for start, value in draining:
        assert value == pytest.approx((last_there - delay_us - start) * rate, abs=frame)


def test_bars_of_why_are_from_the_first_message_to_the_last() -> None:
    compared = ap.compare({}, "platform.ranks=4", engines=["packet"], collective="all_reduce", sizes=[2**12, 2**18])
    axes = plot_why(compared)
    assert axes.get_xlabel() == "time on the critical path (µs)"
    whole = np.sum([[bar.get_width() for bar in bars] for bars in axes.containers], axis=0)
    tables = [result.messages for results in compared.results for result in results]
    assert len(tables) == len(whole) == 2
    spans = [(table["delivered_ps"].max() - table["posted_ps"].min()) / 1e6 for table in tables]
    assert list(whole) == pytest.approx(spans)
