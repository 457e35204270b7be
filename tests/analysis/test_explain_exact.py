# SPDX-License-Identifier: GPL-2.0-only
"""In the exact regime every picosecond of a collective has a record that explains it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis_cases import EXACT, explained, parts_of, time_of
from astra_py.analysis.stretches import Part
from astra_py.collectives.registry import algorithm_names
from astra_py.workloads.calls import COLLECTIVE_KINDS

MESSAGE = (*EXACT, "platform.ranks=2", "platform.link_rate=100Gbps", "platform.link_delay=500ns")


def test_a_message_is_what_the_recurrence_says():
    explanation = explained("sendrecv", 10_000, *MESSAGE, "platform.switch_latency=300ns", group=(0, 1))
    parts = parts_of(explanation)
    # the first packet has the longest headers, so that the others wait behind it on the second link (80 ps a byte)
    assert parts[Part.PAYLOAD] == 80 * (4096 + 10_000)
    assert parts[Part.HEADERS] == 80 * (98 + 98 + 82 + 82)
    assert parts[Part.PROPAGATION] == 2 * 500_000
    assert parts[Part.SWITCHING] == 300_000
    assert sum(parts.values()) == time_of(explanation)
    assert {part for part, time in parts.items() if time} == {
        Part.PAYLOAD,
        Part.HEADERS,
        Part.PROPAGATION,
        Part.SWITCHING,
    }


@pytest.mark.parametrize("kind", ["all_reduce", "all_gather", "reduce_scatter"])
@pytest.mark.parametrize("algorithm", ["ring", "direct"])
@pytest.mark.parametrize("ranks", [2, 5])
def test_flat_collectives_are_explained_to_the_picosecond(kind, algorithm, ranks):
    explanation = explained(kind, 20_000 * ranks, *EXACT, f"platform.ranks={ranks}", f"collective.{kind}={algorithm}")
    parts = parts_of(explanation)
    assert parts[Part.UNEXPLAINED] == 0
    assert sum(parts.values()) == time_of(explanation)
    assert explanation.stretches[0][0].start_ps == 0


#: Two machines of four, so that algorithms of two levels have both; rings and rails through switches.
MACHINES = ("platform.kind=zionex", "platform.nodes=2", "platform.accelerators_per_node=4")
EIGHT = ("platform.ranks=8",)
ALGORITHMS = [(kind, name) for kind in COLLECTIVE_KINDS if kind != "sendrecv" for name in algorithm_names(kind)]


@pytest.mark.parametrize("platform", [EIGHT, MACHINES], ids=["switch", "machines"])
@pytest.mark.parametrize(("kind", "algorithm"), ALGORITHMS)
def test_every_algorithm_is_explained_to_the_picosecond(kind, algorithm, platform):
    size = 0 if kind == "barrier" else 100_003
    explanation = explained(kind, size, *EXACT, *platform, f"collective.{kind}={algorithm}")
    assert parts_of(explanation)[Part.UNEXPLAINED] == 0
    assert sum(parts_of(explanation).values()) == time_of(explanation) > 0


@settings(max_examples=8)
@given(
    ranks=st.integers(2, 6),
    size=st.integers(1, 60_000),
    kind=st.sampled_from(["all_to_all", "all_reduce", "broadcast", "gather"]),
    delay_ns=st.integers(1, 3000),
    latency_ns=st.integers(0, 900),
    endpoint_ns=st.integers(0, 50),
)
def test_nothing_is_unexplained_whatever_the_figures(ranks, size, kind, delay_ns, latency_ns, endpoint_ns):
    explanation = explained(
        kind,
        size * ranks,
        *EXACT,
        f"platform.ranks={ranks}",
        f"platform.link_delay={delay_ns}ns",
        f"platform.switch_latency={latency_ns}ns",
        f"system.endpoint_delay={endpoint_ns}ns",
    )
    assert parts_of(explanation)[Part.UNEXPLAINED] == 0
    assert sum(parts_of(explanation).values()) == time_of(explanation)


def test_twice_the_link_delay_moves_propagation_alone():
    ring = (*EXACT, "platform.ranks=4", "collective.all_reduce=ring")
    once = parts_of(explained("all_reduce", 400_000, *ring, "platform.link_delay=1us"))
    twice = parts_of(explained("all_reduce", 400_000, *ring, "platform.link_delay=2us"))
    # six steps over two links
    assert twice[Part.PROPAGATION] - once[Part.PROPAGATION] == 6 * 2 * 1_000_000
    assert {part: time for part, time in once.items() if part != Part.PROPAGATION} == {
        part: time for part, time in twice.items() if part != Part.PROPAGATION
    }


def test_latencies_and_delays_of_endpoints_are_the_hosts():
    explanation = explained(
        "sendrecv",
        1000,
        *MESSAGE,
        "system.endpoint_delay=10ns",
        "transport.send_latency=200ns",
        "transport.receive_latency=3us",
        group=(0, 1),
    )
    # 10 ns before the post, and 10 ns after the notification
    assert parts_of(explanation)[Part.HOST] == 10_000 + 200_000 + 3_000_000 + 10_000
    assert parts_of(explanation)[Part.UNEXPLAINED] == 0


def test_half_the_link_rate_doubles_serialisation_alone():
    ring = (*EXACT, "platform.ranks=4", "collective.all_reduce=ring")
    fast = parts_of(explained("all_reduce", 400_000, *ring, "platform.link_rate=100Gbps"))
    slow = parts_of(explained("all_reduce", 400_000, *ring, "platform.link_rate=50Gbps"))
    for part, time in fast.items():
        factor = 2 if part in (Part.PAYLOAD, Part.HEADERS) else 1
        assert slow[part] == factor * time
