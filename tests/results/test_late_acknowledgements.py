# SPDX-License-Identifier: GPL-2.0-only
"""Acknowledgements that a held sender had to wait for until the receiver's timer."""

import pytest

from astra_py.api import one_collective
from astra_py.config import load_scenario

#: Half of the default least timeout, in us.
TIMER_US = 2500.0


@pytest.mark.parametrize(("delayed_ack", "is_late"), [(1, False), (2, True)])
def test_windows_of_one_segment_wait_for_the_delayed_ack_timer(delayed_ack: int, is_late: bool) -> None:
    # losses without timeouts, repaired with a window that shrinks to a segment
    given = {
        "seed": 6,
        "platform": {"ranks": 2, "link_loss": 0.03},
        "transport": {"kind": "tcp", "congestion_control": "newreno", "tcp": {"delayed_ack": delayed_ack}},
    }
    result = one_collective(load_scenario(given), "sendrecv", 600_000).run()
    late = int(result.sockets["late_acks"].sum())
    assert result.counters["timeouts"] == 0
    assert (late > 0) == is_late
    assert late * TIMER_US < result.collectives["time_us"].item() < (late + 1) * TIMER_US
    assert ("came by the delayed-ACK timer" in result.report()) == is_late
