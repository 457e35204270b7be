# SPDX-License-Identifier: GPL-2.0-only
"""The bottleneck of a collective over TCP: each kind named where it is one by construction."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from astra_py.api import one_collective
from astra_py.config import load_scenario


def bound(kind: str, size_bytes: int, *overrides: str) -> pd.Series[Any]:
    given = {"platform": {"ranks": 2 if kind == "sendrecv" else 8}, "transport": {"kind": "tcp"}}
    return one_collective(load_scenario(given, overrides), kind, size_bytes).run().collectives.iloc[0]


@pytest.mark.parametrize(
    ("kind", "size_bytes", "overrides", "bottleneck", "where"),
    [
        ("all_to_all", 8_000_000, (), "link", "rank0 -> switch0"),
        ("all_reduce", 800, (), "latency", ""),
        ("sendrecv", 4_000_000, ("host.cores=1", "host.per_packet=5us"), "core", "core 0 of machine 1"),
        ("sendrecv", 4_000_000, ("host.cores=1", "host.copy_rate=10Gbps"), "copy", "core 0 of machine"),
        ("sendrecv", 4_000_000, ("host.staging=always", "host.staging_rate=10Gbps"), "pcie", "copies out of rank 0"),
        ("sendrecv", 4_000_000, ("transport.tcp.receive_buffer=20kB",), "window", "rank 0 to rank 1"),
        ("sendrecv", 4_000_000, ("transport.tcp.send_buffer=20kB",), "window", "rank 0 to rank 1"),
        (
            *("gather", 800_000),
            ("transport.congestion_control=newreno", "transport.tcp.ecn=false", "switch.buffer=100kB"),
            *("congestion", "to rank 0"),
        ),
    ],
)
def test_what_bounds_it(kind: str, size_bytes: int, overrides: tuple[str, ...], bottleneck: str, where: str) -> None:
    row = bound(kind, size_bytes, *overrides)
    assert row["bottleneck"] == bottleneck
    assert where in row["bottleneck_at"]
    assert 50 < row["bottleneck_percent"] <= 101


@pytest.mark.parametrize("delayed_ack", [1, 2])
def test_a_report_names_windows_that_waited_for_a_delayed_acknowledgement(delayed_ack: int) -> None:
    # an incast whose marks cut windows to one segment, which a receiver does not acknowledge before its timer ends
    given = {"platform": {"ranks": 8}, "transport": {"kind": "tcp", "tcp": {"delayed_ack": delayed_ack}}}
    result = one_collective(load_scenario(given), "gather", 4_000_000).run()
    assert not result.sockets["retransmitted_segments"].any()
    is_told = "transport.tcp.delayed_ack = 1 shows what" in result.report()
    # 2.5 ms is half of the shortest retransmission timeout
    assert is_told == (result.sockets["longest_hold_us"].max() >= 2500) == (delayed_ack == 2)


def test_windows_of_sockets_that_lost_something_are_not_laid_to_delayed_acknowledgements() -> None:
    given = {"platform": {"ranks": 8}, "transport": {"kind": "tcp", "congestion_control": "newreno"}}
    keys = ("transport.tcp.ecn=false", "switch.buffer=200kB", "switch.reserve=10kB")
    result = one_collective(load_scenario(given, keys), "gather", 4_000_000).run()
    sockets = result.sockets
    lost = sockets["retransmitted_segments"] > 0
    assert lost.any()
    told = "transport.tcp.delayed_ack = 1" in result.report()
    assert told == bool((sockets["longest_hold_us"][~lost] >= 2500).any())
