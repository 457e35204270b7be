# SPDX-License-Identifier: GPL-2.0-only
"""Links by bins of time: exact to the byte, and the same run with and without them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import astra_py as ap
from astra_py.api import Run, one_collective
from astra_py.config import load_scenario
from astra_py.engines.watch import Watch
from astra_py.results.columns import TABLES
from astra_py.results.link_bins import check_link_bins
from astra_py.results.record import RunRecord
from behaviour.flows import run_flows
from behaviour.test_deadlock import FLOWS, KEYS, circle, clockwise

FAST_SETTINGS = settings(max_examples=8, deadline=None)
FABRIC = {"platform.kind": "leaf_spine", "platform.ranks": "8", "platform.ranks_per_leaf": "4"}


def _run(kind: str = "all_to_all", size_bytes: int = 300_000, group: tuple[int, ...] | None = None, **keys: str) -> Run:
    overrides = [f"{key}={value}" for key, value in {**FABRIC, **keys}.items()]
    return one_collective(load_scenario({}, overrides), kind, size_bytes, group)


def _watched(run: Run) -> RunRecord:
    """The run, with every frame of every port written down."""
    channel = np.arange(2 * len(run.platform.arrays().link_a), dtype=np.int32)
    whole = np.zeros(len(channel), dtype=np.int64)
    return run.record(watch=Watch(channel=channel, from_ps=whole, until_ps=whole + 10**15))


def _sent_until(record: RunRecord, time_ps: int) -> NDArray[np.int64]:
    """Line bytes that each channel's frames had on the wire by ``time_ps``, from the frames themselves."""
    log = record.columns.log
    assert log is not None
    assert not log.is_full
    left = np.clip(log.frame_end_ps - time_ps, 0, log.frame_end_ps - log.frame_start_ps)
    duration = log.frame_end_ps - log.frame_start_ps
    unsent = -(-log.frame_line_bytes * left // duration)
    sent = np.zeros(len(record.columns.channel_line_bytes), dtype=np.int64)
    np.add.at(sent, log.frame_channel, log.frame_line_bytes - unsent)
    return sent


@FAST_SETTINGS
@given(
    bins=st.integers(1, 30).map(lambda half: 2 * half),
    size=st.integers(1, 400_000),
    kind=st.sampled_from(["all_to_all", "all_reduce", "gather"]),
    rate=st.sampled_from(["40Gbps", "100Gbps", "130Gbps"]),
)
def test_bins_have_the_bytes_that_frames_had_on_the_wire(bins: int, size: int, kind: str, rate: str) -> None:
    record = _watched(_run(kind, size, **{"results.link_bins": str(bins), "platform.link_rate": rate}))
    columns = record.columns
    channels = len(columns.channel_line_bytes)
    line = columns.bin_line_bytes.reshape(-1, channels)
    assert 1 <= len(line) <= bins
    for end, sent in zip(columns.bin_end_ps, np.cumsum(line, axis=0), strict=True):
        assert (sent == _sent_until(record, int(end))).all()
    widths = np.diff(columns.bin_end_ps, prepend=0)
    assert (widths[:-1] == widths[0]).all()
    assert 0 < widths[-1] <= widths[0]
    assert all(check.passed for check in check_link_bins(record))


#: Where a queue's record decides: timeouts are as long as the longest queue of the way takes.
SAME = {
    "marks": {"transport.congestion_control": "dcqcn", "seed": "3"},
    "pauses": {"switch.buffer": "200kB", "switch.headroom": "20kB", "transport.congestion_control": "none"},
    "losses": {"platform.link_loss": "0.02", "seed": "5"},
    "selective repeat, cut through": {
        "platform.link_loss": "0.05",
        "switch.forwarding": "cut_through",
        "transport.recovery": "selective_repeat",
        "seed": "579",
    },
    "whole nanoseconds, cut through": {
        "platform.link_loss": "0.05",
        "switch.forwarding": "cut_through",
        "transport.preset": "astra_ns3",
        "transport.window": "none",
        "seed": "579",
    },
    "least loaded": {"platform.routing": "least_loaded", "seed": "7"},
    "TCP": {"transport.kind": "tcp", "seed": "2"},
}


@pytest.mark.parametrize("keys", SAME.values(), ids=SAME)
def test_without_bins_the_run_is_the_same(keys: dict[str, str]) -> None:
    with_bins, without = (_run(**keys, **{"results.link_bins": bins}).run() for bins in ("64", "0"))
    for name in TABLES:
        if name != "link_bins":
            assert with_bins.table(name).equals(without.table(name)), name
    assert with_bins.counters == without.counters
    assert len(with_bins.link_bins)
    assert not len(without.link_bins)
    assert with_bins.digest == without.digest


def test_a_deadlock_is_found_at_the_same_time() -> None:
    told = []
    for bins in ("64", "0"):
        with pytest.raises(ap.DeadlockError) as raised:
            run_flows(FLOWS, *KEYS, f"results.link_bins={bins}", platform=circle(), routing_hook=clockwise)
        told.append(str(raised.value))
    assert told[0] == told[1]


def test_a_time_limit_ends_at_the_same_event() -> None:
    told = []
    for bins in ("64", "0"):
        with pytest.raises(ap.SimulationError) as raised:
            _run(**{"results.link_bins": bins, "limits.max_time": "20us"}).run()
        told.append(str(raised.value))
    assert told[0] == told[1]


def test_rows_are_of_channels_in_use_and_utilisation_is_of_their_rate() -> None:
    result = _run("sendrecv", 1_000_000, (0, 5)).run()
    table, links = result.link_bins, result.links.set_index("channel")
    assert set(table["channel"]) == set(links.index[links["line_bytes"] > 0])
    time_s = table["time_us"] / 1e6
    capacity = links["rate_Gbps"].loc[table["channel"]].to_numpy() * 1e9 / 8 * time_s
    assert np.allclose(table["utilisation_percent"], 100 * table["line_bytes"] / capacity)
    assert table["utilisation_percent"].max() == pytest.approx(100, abs=0.1)
    assert (table.groupby("channel")["line_bytes"].sum() == links["line_bytes"][lambda each: each > 0]).all()
    longest = table.groupby("channel")["max_queue_bytes"].max()
    assert (longest == links["max_queue_bytes"].loc[longest.index]).all()


@pytest.mark.parametrize("engine", ["flow", "analytic"])
def test_engines_without_ports_have_none(engine: str) -> None:
    assert not len(_run(engine=engine).run().link_bins)


def test_bins_that_do_not_add_up_are_found() -> None:
    record = _run().record()
    wrong = record.columns.bin_line_bytes.copy()
    wrong[5] += 1
    check = check_link_bins(replace(record, columns=replace(record.columns, bin_line_bytes=wrong)))[0]
    assert not check.passed
    assert "1 place differs" in check.where
