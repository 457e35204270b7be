# SPDX-License-Identifier: GPL-2.0-only
"""The bottleneck of a collective: each kind named where it is one by construction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from astra_py.api import load, one_collective
from astra_py.config import load_scenario
from astra_py.results.host_report import bottlenecks_section
from astra_py.results.work import SharedWork, Work

#: Seven senders at two other leaves fill rank 4's link; a victim crosses their way, and ends at rank 5, which is idle.
CROSSING: dict[str, Any] = {
    "platform": {"kind": "leaf_spine", "ranks": 12, "ranks_per_leaf": 4, "spines": 1, "fabric_rate": "400Gbps"},
    "transport": {"congestion_control": "none"},
    "background": {
        "incast": {"kind": "incast", "ranks": "1-4,8-11", "receiver": 4, "size": "1MB"},
        "victim": {"kind": "incast", "ranks": "0,5", "receiver": 5, "size": "1MB"},
    },
}


def bound(kind: str, size_bytes: int, *overrides: str) -> pd.Series[Any]:
    scenario = load_scenario({"platform": {"ranks": 2 if kind == "sendrecv" else 8}}, overrides)
    return one_collective(scenario, kind, size_bytes).run().collectives.iloc[0]


@pytest.mark.parametrize("engine", ["packet", "flow", "analytic"])
def test_a_large_collective_is_bound_by_links(engine: str) -> None:
    row = bound("all_to_all", 8_000_000, f"engine={engine}")
    assert (row["bottleneck"], row["bottleneck_at"]) == ("link", "rank0 -> switch0")
    assert row["bottleneck_percent"] > 95


def test_an_incast_is_bound_by_its_receivers_link() -> None:
    row = bound("gather", 8_000_000)
    assert (row["bottleneck"], row["bottleneck_at"]) == ("link", "switch0 -> rank0")
    assert row["bottleneck_percent"] > 95


@pytest.mark.parametrize(("size_bytes", "is_explained"), [(800, True), (8_000_000, False)])
def test_the_report_says_what_latency_is_where_it_is_named(size_bytes: int, is_explained: bool) -> None:
    scenario = load_scenario({"engine": "analytic", "platform": {"ranks": 8}})
    lines = bottlenecks_section(one_collective(scenario, "all_to_all", size_bytes).run())
    assert lines[-1].startswith("latency is neither: ") == is_explained


@pytest.mark.parametrize("engine", ["packet", "flow", "analytic"])
def test_a_small_collective_is_bound_by_latency(engine: str) -> None:
    row = bound("all_reduce", 800, f"engine={engine}")
    assert (row["bottleneck"], row["bottleneck_at"]) == ("latency", "")
    assert row["bottleneck_percent"] > 95


def test_packets_that_go_any_way_are_bound_by_the_links_of_a_rank() -> None:
    row = bound("all_to_all", 4_000_000, "platform.kind=leaf_spine", "platform.routing=spray")
    assert row["bottleneck"] == "link"
    assert 90 < row["bottleneck_percent"] <= 100


def test_a_pcie_link_is_named() -> None:
    keys = ("platform.kind=zion", "platform.nodes=2", "platform.link_rate=1Tbps", "transport.congestion_control=none")
    scenario = load_scenario({}, keys)
    row = one_collective(scenario, "sendrecv", 8_000_000, (0, 8)).run().collectives.iloc[0]
    assert (row["bottleneck"], row["bottleneck_at"]) == ("pcie", "rank0 -> host0")


def test_a_window_of_two_packets_holds_its_sender() -> None:
    row = bound("sendrecv", 4_000_000, "transport.congestion_control=none", "transport.window=8192B")
    assert (row["bottleneck"], row["bottleneck_at"]) == ("window", "rank0 -> switch0")
    assert row["bottleneck_percent"] > 50


def test_no_window_holds_no_sender() -> None:
    assert bound("sendrecv", 4_000_000, "transport.congestion_control=none")["bottleneck"] == "link"


def test_a_victim_of_pauses_is_bound_by_them() -> None:
    table = load(CROSSING, "switch.buffer=2MB").run().collectives
    assert table["bottleneck"].tolist() == ["link", "pause"]
    assert table["bottleneck_at"].tolist() == ["leaf1 -> rank4", "rank0 -> leaf0"]


def test_with_buffers_enough_the_victim_is_bound_by_its_own_link() -> None:
    table = load(CROSSING, "switch.buffer=unlimited", "platform.fabric_rate=1600Gbps").run().collectives
    assert table["bottleneck"].tolist() == ["link", "link"]


def test_a_flow_whose_control_is_slow_to_recover_is_bound_by_congestion() -> None:
    keys = ("transport.congestion_control=dcqcn", "background.victim.receiver=4", "background.victim.ranks=0,4")
    table = load(CROSSING, *keys, "background.victim.size=8MB").run().collectives
    victim = table.iloc[1]
    assert (victim["bottleneck"], victim["bottleneck_at"]) == ("congestion", "rank0 -> leaf0")
    assert load(CROSSING, *keys[1:], "background.victim.size=8MB").run().collectives.iloc[1]["bottleneck"] == "link"


def test_a_link_that_others_fill_is_the_bottleneck() -> None:
    """The victim needs little of the shared uplink, and waits in its queue behind what others send."""
    keys = ("platform.fabric_rate=100Gbps", "switch.buffer=unlimited")
    victim = load(CROSSING, *keys).run().collectives.iloc[1]
    assert victim["bottleneck"] == "link"
    assert victim["bottleneck_at"] in ("leaf0 -> spine0", "spine0 -> leaf1")


def test_retransmissions_are_counted() -> None:
    row = bound("all_to_all", 400_000, "platform.link_loss=0.001")
    assert row["retransmitted_packets"] > 0


def test_work_is_spread_and_never_more_than_all_of_a_link() -> None:
    begin, end = np.array([0, 0, 100]), np.array([100, 200, 200])
    work = Work(begin, end, np.array([50.0, 50.0, 100.0]))
    whole = work.during(np.array([0]), np.array([200]))
    assert whole == 75 + 100
    assert work.during(np.array([0, 100]), np.array([100, 200])) == whole
    assert work.during(np.array([50]), np.array([100])) == 37


def test_of_shared_ones_the_busiest_is_found() -> None:
    key, begin, end = np.array([7, 3, 7]), np.array([0, 0, 100]), np.array([100, 200, 200])
    shared = SharedWork(key, begin, end, np.array([50.0, 120.0, 90.0]))
    assert shared.most(np.array([3, 7]), 0, 200) == (7, 0.7)
    assert shared.most(np.array([3, 7]), 0, 100) == (3, 0.6)
    assert shared.most(np.array([3]), 0, 200) == (3, 0.6)
