# SPDX-License-Identifier: GPL-2.0-only
"""ASTRA-sim 2 with its ns-3 backend, to the nanosecond.

The table holds results of that simulator (https://github.com/astra-sim/astra-sim, with its ns-3 network backend, March
2026): hosts on one switch, 400 Gb/s and 500 ns a link, packets of 1,000 B, an ACK of 48 B per packet, one chunk, no
congestion control. Nothing of it is fitted.
"""

from __future__ import annotations

import numpy as np
import pytest

from astra_py.collectives import EdgeOn, SystemModel, build_template
from astra_py.config import load_scenario
from astra_py.engines.packet import PacketEngine
from astra_py.engines.resolve import engine_options, transport_model
from astra_py.platforms import build_platform
from engine_cases import one_instance

MIB = 2**20
# kind, algorithm, ranks, bytes per rank, simulated ns, messages, data packets
ROWS = [
    ("all_reduce", "ring", 8, 1 * MIB, 69_891, 112, 14_784),
    ("all_reduce", "ring", 8, 16 * MIB, 701_256, 112, 234_976),
    ("all_reduce", "ring", 16, 1 * MIB, 104_590, 480, 31_680),
    ("all_reduce", "ring", 64, 1 * MIB, 301_402, 8_064, 137_088),
    ("all_reduce", "ring", 128, 1 * MIB, 562_239, 32_512, 292_608),
    ("all_to_all", "direct", 8, 1 * MIB, 22_185, 56, 7_392),
    ("all_to_all", "direct", 16, 1 * MIB, 23_618, 240, 15_840),
    ("all_to_all", "direct", 64, 1 * MIB, 24_700, 4_032, 68_544),
    ("all_to_all", "direct", 128, 1 * MIB, 25_013, 16_256, 146_304),
]


@pytest.mark.parametrize(("kind", "algorithm", "ranks", "size", "simulated_ns", "messages", "packets"), ROWS)
def test_row(kind: str, algorithm: str, ranks: int, size: int, simulated_ns: int, messages: int, packets: int) -> None:
    scenario = load_scenario(
        {
            "platform": {
                "kind": "single_switch",
                "ranks": ranks,
                "link_rate": "400Gbps",
                "link_delay": "500ns",
                "switch_latency": "0ns",
            },
            "transport": {"preset": "astra_ns3"},
            "system": {"endpoint_delay": "10ns", "local_memory_bandwidth": "1600GB/s"},
        }
    )
    system = SystemModel(local_memory_bandwidth_bps=8 * 1600 * 10**9, is_whole_ns=True, notify_on=EdgeOn.ACKED)
    schedule = one_instance(build_template(kind, algorithm, ranks, size, system), range(ranks), [0] * ranks)
    platform = build_platform(scenario.platform)
    columns = PacketEngine().run(schedule, platform, transport_model(scenario), engine_options(scenario))

    assert columns.end_ps == simulated_ns * 1000
    assert len(columns.message_op) == messages
    # Every packet crosses two links, and so does its ACK.
    assert columns.channel_data_frames.sum() == 2 * packets
    assert columns.channel_frames.sum() == 4 * packets
    assert np.array_equal(columns.message_delivered_bytes, columns.message_size_bytes)
