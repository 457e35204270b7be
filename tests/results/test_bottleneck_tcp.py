# SPDX-License-Identifier: GPL-2.0-only
"""The bottleneck of a collective over TCP: each kind named where it is one by construction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import astra_py as ap
from astra_py.api import one_collective
from astra_py.config import load_scenario

WORKLOADS = Path(__file__).parents[2] / "workloads"


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


@pytest.mark.parametrize(
    ("keys", "kinds", "where"),
    [
        (("host.cores=1", "host.per_packet=10us"), {"core"}, "core 0 of machine"),
        (("host.cores=1", "host.copy_rate=5Gbps"), {"copy", "core"}, "core 0 of machine"),
        (("host.staging=always", "host.staging_rate=2Gbps"), {"pcie"}, "copies"),
    ],
)
def test_what_collectives_at_once_share_bounds_each(keys: tuple[str, ...], kinds: set[str], where: str) -> None:
    """Each of them needs a part of the time of what all of them wait for."""
    table = (
        ap.load(WORKLOADS / "hoti2020_dlrm.toml", "platform.nodes=2", "workload.iterations=1", *keys).run().collectives
    )
    large = table[(table["kind"] == "all_reduce") & (table["size_bytes"] > 100_000)]
    assert set(large["bottleneck"]) <= kinds
    assert large["bottleneck_at"].str.startswith(where).all()
