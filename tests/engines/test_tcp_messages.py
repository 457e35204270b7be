# SPDX-License-Identifier: GPL-2.0-only
"""TCP in the engines without packets: line bytes of a message by hand, and the times that RoCE of such packets has."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astra_py.api import one_collective
from astra_py.config import load_scenario
from astra_py.results.result import Result

#: Preamble 8, Ethernet 14, IPv4 20, TCP 20, FCS 4, gap 12 (IEEE 802.3, RFC 791, RFC 9293), and timestamps (RFC 7323).
HEADERS, TIMESTAMPS = 78, 12
TCP = "transport.kind=tcp"
WITHOUT_PACKETS = ("flow", "analytic")


def run(engine: str, kind: str, size: int, *keys: str) -> Result:
    return one_collective(load_scenario({}, [f"engine={engine}", TCP, *keys]), kind, size).run()


def line_bytes(size: int, mtu: int, *, has_timestamps: bool) -> int:
    beside = HEADERS + (TIMESTAMPS if has_timestamps else 0)
    segments = max(1, -(-size // (mtu + 38 - beside)))
    return size + segments * beside


@settings(max_examples=10)
@given(st.integers(8, 10**7), st.sampled_from([576, 1500, 9000]), st.booleans(), st.sampled_from(WITHOUT_PACKETS))
def test_a_message_is_segments_with_tcps_headers(size: int, mtu: int, has_timestamps: bool, engine: str) -> None:
    """From rank 0 to rank 1: its line bytes at 100 Gb/s, and 2 x 500 ns and 300 ns on the way.

    Whole messages cut through; of flows, the last segment is on the second link alone.
    """
    keys = (f"transport.tcp.mtu={mtu}B", f"transport.tcp.timestamps={str(has_timestamps).lower()}", "platform.ranks=2")
    result = one_collective(load_scenario({}, [f"engine={engine}", TCP, *keys]), "sendrecv", size, (0, 1)).run()
    line = line_bytes(size, mtu, has_timestamps=has_timestamps)
    alone = int(result.collectives["time_ps"].iloc[0]) - 80 * line - 1_300_000
    assert alone == 0 if engine == "analytic" else 0 < alone <= 80 * (mtu + 38)
    assert sorted(result.links["line_bytes"])[-2:] == [line, line]


@pytest.mark.parametrize("engine", WITHOUT_PACKETS)
@pytest.mark.parametrize(
    ("kind", "algorithm"), [("all_reduce", "ring"), ("all_reduce", "halving_doubling"), ("all_gather", "direct")]
)
def test_collectives_take_roces_time_with_other_headers(engine: str, kind: str, algorithm: str) -> None:
    """RoCE with TCP's sizes of packets is the same messages: to the picosecond."""
    keys = ("platform.ranks=8", f"collective.{kind}={algorithm}")
    over_tcp = run(engine, kind, 2**20, *keys)
    sizes = ("transport.payload=8948B", "transport.header_size=90B", "transport.kind=roce")
    over_roce = run(engine, kind, 2**20, *keys, *sizes)
    assert list(over_tcp.collectives["time_ps"]) == list(over_roce.collectives["time_ps"])
    assert over_tcp.messages["delivered_us"].tolist() == over_roce.messages["delivered_us"].tolist()


@pytest.mark.parametrize("engine", WITHOUT_PACKETS)
def test_what_stays_inside_a_machine_is_no_tcp(engine: str) -> None:
    keys = ("platform.kind=zionex", "platform.nodes=1")
    times = {
        mtu: run(engine, "all_to_all", 2**22, *keys, f"transport.tcp.mtu={mtu}B").collectives["time_ps"][0]
        for mtu in (1500, 9000)
    }
    over_roce = run(engine, "all_to_all", 2**22, *keys, "transport.kind=roce").collectives["time_ps"][0]
    assert times[1500] == times[9000] == over_roce


def test_the_estimate_counts_segments() -> None:
    def packets(**transport: Any) -> int:
        scenario = load_scenario({"platform": {"ranks": 4}, "transport": transport})
        return one_collective(scenario, "all_to_all", 4 * 8948 * 10).estimate().packets

    # three segments for each of ten of TCP's are 30 packets of RoCE's 4,096 B
    assert packets(kind="tcp") == 4 * 3 * 10
    assert packets(kind="roce") == 4 * 3 * -(-8948 * 10 // 4096)
