# SPDX-License-Identifier: GPL-2.0-only
"""The flow engine beside progressive filling in plain Python, on random networks, messages and arrivals."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astra_py.platforms.platform import Platform
from flow_cases import PLAIN, Message, flows_of, network, of_messages, rates_of, run_messages
from reference_flow import end_times_ps, max_min_bps

#: Levels within a billionth of each other are one.
RELATIVE = 2e-9


@dataclass(frozen=True)
class Case:
    """Messages on a platform."""

    platform: Platform
    messages: list[Message]
    qps_per_peer: int


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Up to 6 ranks around a tree of up to 3 switches, some of whose links are double."""
    ranks, switches = draw(st.integers(2, 6)), draw(st.integers(1, 3))
    rates = st.sampled_from([7, 25, 40, 100, 400])
    links = [(rank, ranks + draw(st.integers(0, switches - 1)), draw(rates)) for rank in range(ranks)]
    for switch in range(1, switches):
        other = ranks + draw(st.integers(0, switch - 1))
        links += [(other, ranks + switch, draw(rates)) for _ in range(draw(st.integers(1, 2)))]
    pairs = [(a, b) for a in range(ranks) for b in range(ranks) if a != b]
    sizes = st.one_of(st.sampled_from([1000, 40_000]), st.integers(1, 10**6))
    starts = st.one_of(st.just(0), st.integers(0, 5).map(lambda i: i * 10_000_000), st.integers(0, 10**8))
    messages = [
        Message(*draw(st.sampled_from(pairs)), draw(sizes), draw(starts), draw(st.sampled_from([0, 0, 0, 2, 6])))
        for _ in range(draw(st.integers(1, 25)))
    ]
    return Case(network(ranks, switches, links), messages, draw(st.sampled_from([0, 1, 2])))


@given(case=cases())
@settings(max_examples=150, deadline=None)
def test_ends_are_those_of_the_reference(case: Case) -> None:
    model = replace(PLAIN, qps_per_peer=case.qps_per_peer)
    columns = run_messages(case.platform, case.messages, model)
    sent = of_messages(case.platform, case.messages, columns, "sent_ps")
    reference = end_times_ps(flows_of(case.platform, case.messages, case.qps_per_peer), rates_of(case.platform))
    assert sent.tolist() == pytest.approx(reference, rel=RELATIVE, abs=2)
    assert columns.counters["events_left"] == 0


@given(case=cases())
@settings(max_examples=30, deadline=None)
def test_two_runs_are_the_same_to_the_bit(case: Case) -> None:
    first, second = (run_messages(case.platform, case.messages) for _ in range(2))
    for name in ("message_sent_ps", "message_delivered_ps", "message_acked_ps", "channel_line_bytes"):
        assert getattr(first, name).tolist() == getattr(second, name).tolist()
    assert first.counters == second.counters


@pytest.mark.parametrize("seed", range(3))
def test_many_sizes_over_shared_links(seed: int) -> None:
    """Each end changes rates that others share, two hundred times."""
    rng = np.random.default_rng(seed)
    ranks, leaves, spines = 12, 3, 2
    links = [(rank, ranks + rank % leaves, 100) for rank in range(ranks)]
    links += [(ranks + leaf, ranks + leaves + spine, 100) for leaf in range(leaves) for spine in range(spines)]
    platform = network(ranks, leaves + spines, links)
    messages = [
        Message(src, dst, int(rng.integers(1, 10**6)), int(rng.integers(0, 10**8)), int(rng.integers(0, 2)))
        for src, dst in (rng.choice(ranks, 2, replace=False).tolist() for _ in range(200))
    ]
    columns = run_messages(platform, messages, replace(PLAIN, qps_per_peer=0))
    reference = end_times_ps(flows_of(platform, messages, 0), rates_of(platform))
    sent = of_messages(platform, messages, columns, "sent_ps")
    assert sent.tolist() == pytest.approx(reference, rel=RELATIVE, abs=2)


def test_the_reference_itself() -> None:
    """Bertsekas and Gallager's kind of network: a channel that is full for one flow leaves more to those elsewhere."""
    rates = max_min_bps([(0,), (0, 1), (1,), (1, 2), (2,)], [0] * 5, {0: 10, 1: 30, 2: 100})
    assert rates == [5, 5, 12.5, 12.5, 87.5]
    assert max_min_bps([(0,), (0,), (0,)], [0, 1, 0], {0: 12}) == [0, 12, 0]
