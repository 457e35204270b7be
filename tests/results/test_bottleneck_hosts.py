# SPDX-License-Identifier: GPL-2.0-only
"""The bottleneck of a collective over TCP by what hosts and sockets tell, each figure given by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from astra_py.api import one_collective
from astra_py.config import load_scenario
from astra_py.results.collectives import collectives_table
from astra_py.results.record import RunRecord
from result_cases import with_columns

SIZE = 100_000


@pytest.fixture(scope="module")
def record() -> RunRecord:
    """One message over links of 100 us, which need 8 us of its 300 and more: latency, if nothing else is told."""
    keys = ["transport.kind=tcp", "platform.ranks=2", "platform.link_delay=100us", "host.staging_rate=8Gbps"]
    return one_collective(load_scenario({}, [*keys, "host.staging=always"]), "sendrecv", SIZE).record()


def told(record: RunRecord, **columns: float) -> RunRecord:
    """The record with figures of its message, times as shares of the collective's."""
    time = int(collectives_table(plain(record))["time_ps"][0])
    given = {
        name: np.array([value if name.endswith("_core") else int(value * time)], dtype=np.int64)
        for name, value in columns.items()
    }
    return with_columns(plain(record), **given)


def plain(record: RunRecord) -> RunRecord:
    """The record with a message that no host worked for and nothing held, and without copies."""
    zero, none = np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64)
    work = ("src_core_ps", "dst_core_ps", "copy_ps", "cwnd_limited_ps", "rwnd_limited_ps", "sndbuf_limited_ps")
    columns: dict[str, Any] = {f"message_{name}": zero for name in ("src_core", "dst_core", *work)}
    staging = ("rank", "out_busy_ps", "in_busy_ps", "out_bytes", "in_bytes")
    return with_columns(record, **columns, **{f"staging_{name}": none for name in staging})


@pytest.mark.parametrize(
    ("columns", "kind", "percent", "where"),
    [
        ({}, "latency", 95, ""),
        ({"message_src_core_ps": 0.9}, "core", 90, "core 0 of machine 0"),
        ({"message_dst_core": 3, "message_dst_core_ps": 0.85}, "core", 85, "core 3 of machine 1"),
        # of 90 at the receiver 60 are a copy, as are 60 at the sender
        (
            {"message_src_core_ps": 0.6, "message_dst_core_ps": 0.9, "message_copy_ps": 1.2},
            *("copy", 90, "core 0 of machine 1"),
        ),
        ({"message_rwnd_limited_ps": 0.9}, "window", 90, "rank 0 to rank 1"),
        ({"message_sndbuf_limited_ps": 0.5, "message_rwnd_limited_ps": 0.4}, "window", 90, "rank 0 to rank 1"),
        ({"message_cwnd_limited_ps": 0.9, "message_rwnd_limited_ps": 0.05}, "congestion", 90, "rank 0 to rank 1"),
        # while a core is busy all the time, windows are full, too
        ({"message_cwnd_limited_ps": 1.0, "message_src_core_ps": 0.9}, "core", 90, "core 0 of machine 0"),
        # held for less than half of the time that nothing needs
        ({"message_cwnd_limited_ps": 0.3}, "latency", 70, ""),
        # a core that is needed for more than nothing explains, and less than four fifths
        ({"message_src_core_ps": 0.6}, "core", 60, "core 0 of machine 0"),
    ],
)
def test_what_bounds_it(record: RunRecord, columns: dict[str, float], kind: str, percent: float, where: str) -> None:
    table = collectives_table(told(record, **columns))
    assert (table["bottleneck"][0], table["bottleneck_at"][0]) == (kind, where)
    # what held senders is told beyond the link's 3 %
    assert table["bottleneck_percent"][0] == pytest.approx(percent, abs=4)


def test_copies_to_and_from_accelerators_are_pcie(record: RunRecord) -> None:
    figures = {
        "staging_rank": np.array([1], dtype=np.int32),
        **{f"staging_{name}": np.array([SIZE]) for name in ("out_bytes", "in_bytes", "out_busy_ps", "in_busy_ps")},
    }
    # 100 us of 300
    late = with_columns(plain(record), **figures, op_end_ps=np.full(2, 110 * 10**6))
    table = collectives_table(late)
    assert (table["bottleneck"][0], table["bottleneck_at"][0]) == ("pcie", "copies in of rank 1")
    assert table["bottleneck_percent"][0] == pytest.approx(100 * 100 / 110, abs=0.1)
