# SPDX-License-Identifier: GPL-2.0-only
"""Pauses and cut-through to the picosecond, by hand; shares of weighted priorities."""

from __future__ import annotations

import pytest

import astra_py as ap
from astra_py.platforms import Platform
from astra_py.platforms.platform import NodeKind
from behaviour.flows import GBPS, MS, Flow, graph_of, run_flows

RANK, SWITCH = NodeKind.ACCELERATOR, NodeKind.SWITCH
#: Packets of 1,000 B: 1,098 line bytes the first, 1,082 the others; 20 B fewer in a buffer.
PLAIN = (
    "transport.payload=1000B",
    "transport.ack=out_of_band",
    "transport.congestion_control=none",
    "platform.switch_latency=0ns",
)


def bottleneck(fast_bps: int, slow_bps: int) -> Platform:
    """rank 0 - switch - rank 1, the second link slower; a microsecond each."""
    return graph_of([RANK, SWITCH, RANK], [(0, 1, fast_bps, 1_000_000), (1, 2, slow_bps, 1_000_000)])


# The switch shares 24,000 B of its buffer, 100,000 B more are each port's headroom. A queue of x shared bytes pauses
# above (24,000 - x) / 8: 1,078 B and 2,140 B are below, 3,202 B are above, so the third packet pauses. Later ones go to
# headroom, which is given back first; at no more than 2,666 shared bytes the queue resumes.
#
# 100 Gb/s, 80 ps a byte; 25 Gb/s behind it; 60 quanta of 512 bits are 307,200 ps:
#   third packet there                1,000,000 + (1,098 + 2 x 1,082) x 80           = 1,260,960
#   the PAUSE acts                    + 84 x 80 + 1,000,000 + 307,200                = 2,574,880
#   packet k >= 2 starts at           87,840 + (k - 2) x 86,560: before the PAUSE acts, packets up to 30
#   in the buffer in all              1,078 + 29 x 1,062 = 31,876, of which 31,876 - 2,666 = 29,210 must go: 28 packets
#   packet 28 has left                1,000,000 + 87,840 + 351,360 + 27 x 346,240    = 10,787,680
#   the RESUME acts                   + 84 x 80 + 1,000,000 + 307,200                = 12,101,600
#   packet 31 has left the sender     + 86,560                                       = 12,188,160
# 40 Gb/s, 200 ps a byte; 10 Gb/s behind it; 20 quanta are 256,000 ps:
#   third packet there                1,000,000 + 3,262 x 200                        = 1,652,400
#   the PAUSE acts                    + 16,800 + 1,000,000 + 256,000                 = 2,925,200
#   packet k >= 2 starts at           219,600 + (k - 2) x 216,400: packets up to 14
#   in the buffer in all              1,078 + 13 x 1,062 = 14,884, of which 12,218 must go: 12 packets
#   packet 12 has left                1,000,000 + 219,600 + 878,400 + 11 x 865,600   = 11,619,600
#   the RESUME acts                   + 16,800 + 1,000,000 + 256,000                 = 12,892,400
#   packet 15 has left the sender     + 216,400                                      = 13,108,800
@pytest.mark.parametrize(
    ("fast", "slow", "quanta", "packets", "start_ps", "end_ps", "sent_ps"),
    [
        (100 * GBPS, 25 * GBPS, 60, 31, 2_574_880, 12_101_600, 12_188_160),
        (40 * GBPS, 10 * GBPS, 20, 15, 2_925_200, 12_892_400, 13_108_800),
    ],
)
def test_a_pause_acts_and_ends_at_its_instant(
    fast: int, slow: int, quanta: int, packets: int, start_ps: int, end_ps: int, sent_ps: int
) -> None:
    keys = (
        "switch.buffer=224000B",
        "switch.reserve=0B",
        "switch.headroom=100kB",
        "switch.xon_offset=0B",
        "switch.lossless=[0]",
        f"switch.pfc_response_quanta={quanta}",
    )

    def run(count: int) -> ap.Result:
        return run_flows([Flow(0, 1, 1000 * count)], *PLAIN, *keys, platform=bottleneck(fast, slow))

    result = run(packets)
    assert len(result.pauses) == 1
    pause = result.pauses.iloc[0]
    assert (pause["paused"], pause["by"], pause["priority"]) == ("rank0", "switch1", 0)
    assert (pause["start_ps"], pause["end_ps"]) == (start_ps, end_ps)
    assert result.messages["sent_ps"].item() == sent_ps
    # the packet before left before the pause acted, and the whole message with it had it been the last
    assert run(packets - 1).messages["sent_ps"].item() < start_ps + (sent_ps - end_ps)


@pytest.mark.parametrize(
    ("forwarding", "rates", "delivered_ps"),
    [
        # three links of 500 ns, two switches of 300 ns, 1,098 bytes of 80 ps on each link
        ("store_and_forward", (100, 100, 100), 3 * 500_000 + 2 * 300_000 + 3 * 87_840),
        # 64 bytes of it at each switch, and all of it once
        ("cut_through", (100, 100, 100), 3 * 500_000 + 2 * 300_000 + 2 * 64 * 80 + 87_840),
        # onto a slower link a frame may cut through
        ("cut_through", (100, 100, 25), 3 * 500_000 + 2 * 300_000 + 2 * 64 * 80 + 4 * 87_840),
        # onto a faster one it may not: it is stored at the first switch, and cuts through the second
        ("cut_through", (25, 100, 100), 3 * 500_000 + 2 * 300_000 + 4 * 87_840 + 64 * 80 + 87_840),
    ],
)
def test_a_frame_over_two_switches(forwarding: str, rates: tuple[int, ...], delivered_ps: int) -> None:
    links = [(i, i + 1, rate * GBPS, 500_000) for i, rate in enumerate(rates)]
    platform = graph_of([RANK, SWITCH, SWITCH, RANK], links, latency_ps=300_000)
    result = run_flows([Flow(0, 1, 1000)], *PLAIN, f"switch.forwarding={forwarding}", platform=platform)
    assert result.messages["delivered_ps"].item() == delivered_ps


@pytest.mark.parametrize(("weights", "ratio"), [((3, 1), 3.0), ((1, 1), 1.0), ((1, 5), 0.2)])
def test_weighted_priorities_share_a_port_by_their_weights(weights: tuple[int, int], ratio: float) -> None:
    flows = [Flow(1 + priority, 0, 20_000_000, messages=2000, priority=priority) for priority in (0, 1)]
    listed = ",".join(map(str, (*weights, 1, 1, 1, 1, 1)))
    keys = ("switch.scheduling=dwrr", f"switch.weights=[{listed}]", "transport.congestion_control=none")
    messages = run_flows(flows, *keys, "platform.ranks=3").messages
    # from when both have filled the switch to when the first is done
    within = messages["delivered_ps"].between(MS // 5, messages.groupby("src")["delivered_ps"].max().min())
    got = messages[within].groupby("src")["size_bytes"].sum()
    assert got[1] / got[2] == pytest.approx(ratio, rel=0.01)
