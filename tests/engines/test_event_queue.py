# SPDX-License-Identifier: GPL-2.0-only
"""The queue of pending events: any pushes, pops and removals against a sorted list."""

from __future__ import annotations

import bisect
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import astra_py._ns3_ext as native
from astra_py.errors import ConfigError

#: One past the last time of an event, in ps.
END = 2**60


@st.composite
def _delay(draw: st.DrawFn) -> int:
    """Of any magnitude: the instant itself, a frame, a timer, the end of time."""
    return draw(st.one_of(st.just(0), st.integers(1, 2 ** draw(st.integers(1, 60)))))


#: Pushes of several at once, so that there are more than a heap alone holds; pops; removals.
_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("push"), st.integers(1, 60), _delay(), _delay()),
        st.tuples(st.just("pop"), st.integers(1, 100)),
        st.tuples(st.just("forget"), st.integers(2, 5)),
    ),
    max_size=30,
)


@given(_STEPS, st.randoms(use_true_random=False))
def test_events_come_by_time_and_order(steps: list[tuple[Any, ...]], random: Any) -> None:
    queue, expected, now, number = native.EventQueueTrial(), [], 0, 0
    for step in steps:
        if step[0] == "push":
            _, count, delay, spread = step
            for _ in range(count):
                time = min(now + delay + random.randrange(spread + 1), END - 1)
                # orders rise or fall, and no two are the same
                order = (random.randrange(4) << 62) | (number if random.random() < 0.5 else 2**40 - number)
                bisect.insort(expected, (time, order, number))
                queue.push(time, order, number)
                number += 1
        elif step[0] == "pop":
            for _ in range(min(step[1], len(expected))):
                now, _, argument = expected.pop(0)
                assert queue.pop() == argument
        else:
            gone = {argument for _, _, argument in expected if argument % step[1] == 0}
            expected = [event for event in expected if event[2] not in gone]
            queue.forget(gone)
        assert len(queue) == len(expected)
    assert [queue.pop() for _ in expected] == [argument for _, _, argument in expected]


def test_many_events_of_one_instant_keep_their_order() -> None:
    queue = native.EventQueueTrial()
    for number in range(5_000):
        queue.push(10**6, number, number)
        queue.push(10**6 + 1 + number, 0, 5_000 + number)
    assert [queue.pop() for _ in range(10_000)] == list(range(10_000))


def test_nothing_is_put_in_before_what_was_taken() -> None:
    queue = native.EventQueueTrial()
    queue.push(10, 0, 0)
    queue.pop()
    with pytest.raises(ConfigError, match="from 10 ps on"):
        queue.push(9, 0, 1)
    with pytest.raises(ConfigError, match="no event is pending"):
        queue.pop()


def test_a_bare_loop_tells_its_cpu_time() -> None:
    assert 0 < native.bare_event_loop(1_000, 10_000) < 60
