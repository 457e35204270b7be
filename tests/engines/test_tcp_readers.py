# SPDX-License-Identifier: GPL-2.0-only
"""Applications that read and write slower than the network is: windows close and open again, and nothing stalls."""

from __future__ import annotations

import pytest

from astra_py.engines.base import EngineColumns
from behaviour.flows import Flow, FlowRun

TCP = ("transport.kind=tcp", "platform.ranks=2", "platform.link_rate=100Gbps")
SIZE = 3_000_000
PS_PER_S = 10**12


def carry(*overrides: str) -> EngineColumns:
    """One message from rank 0 to rank 1, as the engine measured it."""
    prepared = FlowRun([Flow(0, 1, SIZE)], *TCP, *overrides).prepare()
    try:
        return prepared.run()
    finally:
        prepared.close()


@pytest.mark.parametrize("buffer", ["17896B", "40kB", "1MB"])
def test_a_slow_reader_sets_the_pace(buffer: str) -> None:
    """ns-3 tells of a window with acknowledgements only: without a late reader's word a stream would stall."""
    rate_bps = 5 * 10**9
    columns = carry(f"host.copy_rate={rate_bps}bps", f"transport.tcp.receive_buffer={buffer}")
    assert columns.counters["timeouts"] == columns.counters["repeated_packets"] == 0
    delivered = int(columns.message_delivered_ps[0])
    copied = SIZE * 8 * PS_PER_S // rate_bps
    # where one segment fits at a time, each waits for the word of the one before
    assert copied < delivered < (1.02 if buffer != "17896B" else 1.2) * copied
    # the sender copies as slowly, so that it is held only where there is room for no more than one segment
    assert (int(columns.message_rwnd_limited_ps[0]) > 0) == (buffer == "17896B")


def test_a_small_send_buffer_is_named() -> None:
    plain, small = (
        carry("platform.link_delay=20us", f"transport.tcp.send_buffer={buffer}") for buffer in ("4MB", "40kB")
    )
    took = int(small.message_delivered_ps[0])
    assert took > 2 * int(plain.message_delivered_ps[0])
    assert int(small.message_sndbuf_limited_ps[0]) > took / 2
    assert int(plain.message_sndbuf_limited_ps[0]) == 0
