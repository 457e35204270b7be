# SPDX-License-Identifier: GPL-2.0-only
"""How many events are pending at once, of which benchmarks choose what they compare with."""

from __future__ import annotations

from astra_py.api import one_collective
from astra_py.config import load_scenario


def test_pending_events_are_seen_every_32_768_events() -> None:
    few, many = (
        one_collective(load_scenario({}, ["platform.ranks=8", "transport.payload=256B"]), "all_to_all", size).run()
        for size in (8_192, 2**22)
    )
    assert few.counters["events"] < 2**15 < many.counters["events"]
    assert few.counters["most_pending_events"] == 0, "nobody has looked"
    # a frame on each of 16 channels, a timer a queue pair and some more
    assert 16 <= many.counters["most_pending_events"] < 1_000
