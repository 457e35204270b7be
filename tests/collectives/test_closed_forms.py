# SPDX-License-Identifier: GPL-2.0-only
"""Closed forms: times of MODELS' table in exact fractions, and the bytes a whole Trace declares."""

from fractions import Fraction
from math import ceil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from astra_py.collectives import (
    ClosedForm,
    ScheduleBuilder,
    bus_bytes,
    closed_form,
    closed_forms,
    collective,
    declared_level_bytes,
    declared_rank_bytes,
    lower,
    register_closed_form,
    registry,
)
from astra_py.errors import CheckError, ConfigError
from astra_py.workloads import CollectiveCall, Trace, TraceBuilder
from collective_cases import matrices, sizes

ranks_ = st.integers(2, 4096)
latencies = st.integers(0, 10**10)
rates = st.integers(10**6, 10**12)


@settings(deadline=None)
@given(n=ranks_, size=sizes, a=latencies, rate=rates)
def test_times_are_those_of_the_table(n: int, size: int, a: int, rate: int) -> None:
    b = Fraction(rate, 8 * 10**12)  # bytes per ps
    expected = {
        ("all_reduce", "ring"): 2 * (n - 1) * (a + Fraction(size, n) / b),
        ("all_reduce", "direct"): 2 * a + Fraction(2 * (n - 1), n) * size / b,
        ("reduce_scatter", "ring"): (n - 1) * (a + Fraction(size, n) / b),
        ("reduce_scatter", "direct"): a + Fraction(n - 1, n) * size / b,
        ("all_gather", "ring"): (n - 1) * (a + Fraction(size, n) / b),
        ("all_gather", "direct"): a + Fraction(n - 1, n) * size / b,
        ("all_to_all", "direct"): a + Fraction(n - 1, n) * size / b,
        ("sendrecv", "direct"): a + size / b,
    }
    for (kind, algorithm), time in expected.items():
        assert closed_form(kind, algorithm).time_ps(n, size, a, rate) == ceil(time)
        assert closed_form(kind, algorithm).time_ps(1, size, a, rate) == 0


@settings(deadline=None)
@given(matrix=matrices(), a=latencies, rate=rates)
def test_uneven_exchange_takes_as_long_as_its_busiest_rank(matrix: NDArray[np.int64], a: int, rate: int) -> None:
    n = len(matrix)
    busiest = max(
        sum(
            int(matrix[pair])
            for other in range(n)
            if other != rank
            for pair in [(rank, other) if out else (other, rank)]
        )
        for rank in range(n)
        for out in (True, False)
    )
    time = closed_form("all_to_all_v", "direct").time_ps(n, matrix, a, rate)
    assert time == (ceil(a + Fraction(busiest * 8 * 10**12, rate)) if n > 1 else 0)
    assert bus_bytes("all_to_all_v", n, matrix) == busiest


def trace_of(*calls: CollectiveCall, ranks: int = 6) -> Trace:
    build = TraceBuilder(ranks)
    for call in calls:
        build.collective(call)
    return build.build()


@settings(deadline=None)
@given(
    size=sizes,
    group=st.lists(st.integers(0, 5), min_size=1, max_size=6, unique=True),
    matrix=matrices(most_ranks=6),
)
def test_a_trace_declares_what_its_schedule_sends(size: int, group: list[int], matrix: NDArray[np.int64]) -> None:
    trace = trace_of(
        CollectiveCall(name="r", kind="all_reduce", group=tuple(group), size_bytes=size),
        CollectiveCall(name="v", kind="all_to_all_v", group=tuple(range(len(matrix)))[::-1], matrix=matrix),
        CollectiveCall(name="a", kind="all_to_all", group=tuple(group), size_bytes=size),
        CollectiveCall(name="s", kind="sendrecv", group=(4, 1), size_bytes=size),
    )
    schedule = lower(trace)
    sent, received = np.zeros(6, dtype=np.int64), np.zeros(6, dtype=np.int64)
    for instance in range(len(schedule.instance_call)):
        template = schedule.templates[schedule.instance_template[instance]]
        ranks = schedule.group(schedule.instance_group[instance])
        for op in np.flatnonzero(template.is_send):
            sent[ranks[template.src[op]]] += template.size_bytes[op]
            received[ranks[template.dst[op]]] += template.size_bytes[op]
    declared = declared_rank_bytes(trace)
    assert declared[0].tolist() == sent.tolist()
    assert declared[1].tolist() == received.tolist()


def test_an_algorithm_of_ones_own_declares_its_checked_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    own = registry._algorithms["sendrecv"]
    monkeypatch.setattr(own, "_known", dict(own._known))
    monkeypatch.setattr(closed_forms, "_closed_forms", dict(closed_forms._closed_forms))
    lost = {"bytes": 0}

    @collective("sendrecv", name="there_and_back")
    def there_and_back(build: ScheduleBuilder, group: registry.Group, size_bytes: int) -> None:
        there = build.send(0, 1, size_bytes - lost["bytes"], blocks=0)
        build.send(1, 0, size_bytes, after=there, blocks=0)

    trace = trace_of(CollectiveCall(name="s", kind="sendrecv", group=(2, 0), size_bytes=100), ranks=3)
    algorithms = {"sendrecv": "there_and_back"}
    with pytest.raises(ConfigError, match="no closed form of sendrecv algorithm 'there_and_back'"):
        declared_rank_bytes(trace, algorithms)
    declared = declared_rank_bytes(trace, algorithms, lower(trace, algorithms))
    assert [column.tolist() for column in declared] == [[100, 0, 100], [100, 0, 100]]

    lost["bytes"] = 1
    with pytest.raises(CheckError, match="99 bytes, and its blocks have 100"):
        declared_rank_bytes(trace, algorithms, lower(trace, algorithms))

    once = ClosedForm(
        rank_bytes=lambda ranks, size: (np.array([size, 0]), np.array([0, size])),
        steps=lambda ranks: 2,
        wire_bytes=lambda ranks, size: (size, 1),
    )
    register_closed_form("sendrecv", "there_and_back", once)
    declared = declared_rank_bytes(trace, algorithms, lower(trace, algorithms))
    assert [column.tolist() for column in declared] == [[0, 0, 100], [100, 0, 0]]


def test_bytes_without_pairs_cannot_be_parted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(closed_forms, "_closed_forms", dict(closed_forms._closed_forms))
    form = closed_form("sendrecv", "direct")
    register_closed_form("sendrecv", "direct", ClosedForm(form.rank_bytes, form.steps, form.wire_bytes))
    trace = trace_of(CollectiveCall(name="s", kind="sendrecv", group=(2, 0), size_bytes=100), ranks=3)
    with pytest.raises(ConfigError, match="sendrecv algorithm 'direct' has no pair_bytes"):
        declared_level_bytes(trace, np.arange(3, dtype=np.int32))
