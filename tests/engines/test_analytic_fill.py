# SPDX-License-Identifier: GPL-2.0-only
"""In the exact regime whole messages are early by the filling of the pipeline, and by nothing else.

A switch stores each packet once, a message's first one ahead of all others: so much per message of the longest chain of
messages that wait for one another, whatever the algorithm.
"""

from __future__ import annotations

import pytest

from astra_py.api import Run, one_collective
from astra_py.collectives import Template, algorithm_names
from astra_py.config import load_scenario
from astra_py.workloads import COLLECTIVE_KINDS
from collective_cases import CHOSEN_AT_ISSUE

#: At 100 Gb/s, 80 ps a byte: a full packet of 4,096 B, 16 B longer if it is a message's first, and one without payload.
FULL_PS, FIRST_PS, EMPTY_PS = 4178 * 80, (4178 + 16) * 80, 98 * 80
#: Algorithms of which two messages share a port, as the exact regime does not have it.
SHARING = {"ring_bidirectional", "double_binary_tree"}
ALGORITHMS = [
    (kind, name)
    for kind in COLLECTIVE_KINDS
    for name in algorithm_names(kind)
    if name not in CHOSEN_AT_ISSUE and name not in SHARING
]


def run_of(engine: str, kind: str, algorithm: str, ranks: int) -> Run:
    keys = [f"engine={engine}", f"platform.ranks={ranks}", f"collective.{kind}={algorithm}"]
    keys += ["transport.ack=out_of_band", "transport.congestion_control=none"]
    group = (0, 1) if kind == "sendrecv" else None
    return one_collective(load_scenario({}, keys), kind, 0 if kind == "barrier" else 4096 * 64, group)


def longest_chain(template: Template) -> int:
    """Most messages that wait for one another."""
    chains: list[int] = []
    for op, is_send in enumerate(template.is_send.tolist()):
        before = template.dep_op[template.dep_ptr[op] : template.dep_ptr[op + 1]].tolist()
        chains.append(max((chains[each] for each in before), default=0) + is_send)
    return max(chains)


@pytest.mark.parametrize("ranks", [2, 8])
@pytest.mark.parametrize(("kind", "algorithm"), ALGORITHMS)
def test_every_algorithm(kind: str, algorithm: str, ranks: int) -> None:
    packet, analytic = (run_of(engine, kind, algorithm, ranks) for engine in ("packet", "analytic"))
    times = [int(run.run().columns("collectives")["time_ps"][0]) for run in (packet, analytic)]
    chain = longest_chain(packet.schedule.templates[0])
    # a root's messages take turns at its port, and what the switch stores last is a packet in the middle of one
    has_turns = (kind, algorithm) in {("broadcast", "direct"), ("scatter", "direct")} and ranks > 2
    packet_ps = EMPTY_PS if kind == "barrier" else FULL_PS if has_turns else FIRST_PS
    assert times[0] - times[1] == chain * packet_ps
