# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import numpy as np
import pytest

from astra_py.errors import ConfigError
from astra_py.workloads import CollectiveCall, Trace, TraceBuilder
from astra_py.workloads.adjusted import drawn_factors, named_factors, prioritised, slowed


def job() -> Trace:
    build = TraceBuilder(4)
    work = build.compute(range(4), 1_000, name="work")
    build.memory(range(4), 333, name="update", after=work)
    for kind, priority in (("all_to_all", 2), ("all_reduce", 5)):
        call = CollectiveCall(name=kind, kind=kind, group=(0, 1, 2, 3), size_bytes=64, priority=priority)
        build.collective(call, after=work)
    return build.build()


def test_slow_ranks_take_their_factor() -> None:
    trace = job()
    slow = slowed(trace, named_factors(4, ((1, 1.5), (3, 0.25))))
    times = {rank: slow.duration_ps[(slow.rank == rank) & (slow.call < 0)].tolist() for rank in range(4)}
    assert times == {0: [1_000, 333], 1: [1_500, 500], 2: [1_000, 333], 3: [250, 83]}
    assert (slow.duration_ps[slow.call >= 0] == 0).all()


def test_ranks_have_to_be_there() -> None:
    with pytest.raises(ConfigError, match=r"system.stragglers: rank 4 is not in the job; allowed: 0 to 3"):
        named_factors(4, ((4, 2.0),))


def test_drawn_factors_follow_the_seed_and_the_spread() -> None:
    factors = drawn_factors(20_000, 0.1, seed=7)
    assert np.array_equal(factors, drawn_factors(20_000, 0.1, seed=7))
    assert not np.array_equal(factors, drawn_factors(20_000, 0.1, seed=8))
    assert np.log(factors).std() == pytest.approx(0.1, rel=0.05)
    assert np.log(factors).mean() == pytest.approx(0.0, abs=0.005)


@pytest.mark.parametrize(("rule", "priorities"), [("workload", [2, 5]), ("all_to_all_first", [6, 0]), ("none", [0, 0])])
def test_priorities_by_rule(rule: str, priorities: list[int]) -> None:
    assert [call.priority for call in prioritised(job(), rule).calls] == priorities
