# SPDX-License-Identifier: GPL-2.0-only
"""Single collectives, explained: ground for the tests of where the time went."""

from __future__ import annotations

from astra_py.analysis.explain import Explanation, explain
from astra_py.analysis.stretches import Part, sum_by_part
from astra_py.api import one_collective
from astra_py.config import load_scenario

#: No ACK on the wire, no window, no control, no loss: every egress is fed by one ingress at a time.
EXACT = ("transport.ack=out_of_band", "transport.congestion_control=none")


def explained(kind: str, size_bytes: int, *overrides: str, group: tuple[int, ...] | None = None) -> Explanation:
    """One collective alone on the packet engine."""
    return explain(one_collective(load_scenario({}, overrides), kind, size_bytes, group))


def parts_of(explanation: Explanation, instance: int = 0) -> dict[Part, int]:
    """Time of each part of a collective in ps."""
    return sum_by_part(explanation.stretches[instance])


def time_of(explanation: Explanation, instance: int = 0) -> int:
    """The collective's time in ps, as the tables have it."""
    from astra_py.results.collectives import collectives_table

    return int(collectives_table(explanation.record)["time_ps"][instance])
