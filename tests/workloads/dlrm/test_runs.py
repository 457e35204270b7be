# SPDX-License-Identifier: GPL-2.0-only
"""DLRMs of any plan, batch and order, run whole: each ends with its checks passed, and sends what its exchanges say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import astra_py as ap
from astra_py.workloads import Trace, workload
from astra_py.workloads.dlrm import Exchanges, MicroBatch, Plan, Roofline, dlrm_trace, roofline_times, shared_batch
from dlrm_cases import A100
from plan_cases import plans

#: What the workload below makes its Trace of.
drawn: dict[str, Any] = {}


@workload("dlrm_as_drawn")
def as_drawn(scenario: ap.Scenario, ranks: int) -> Trace:
    plan, batches, order = drawn["plan"], drawn["batches"], drawn["order"]
    roofline = Roofline(accelerator=A100, flops_efficiency=0.5, memory_efficiency=0.5)
    parts = [MicroBatch(Exchanges(plan, batch=part), roofline_times(plan, roofline, part)) for part in batches.parts()]
    return dlrm_trace(Exchanges(plan, batch=batches.local), parts, iterations=2, **order)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(
    plan=plans(),
    samples=st.integers(3, 40),
    micro_batches=st.integers(1, 3),
    order=st.fixed_dictionaries(
        {
            "ordering": st.sampled_from(["neo", "mad_max"]),
            "index_exchange": st.sampled_from(["in_step", "prefetched", "none"]),
            "bucket_bytes": st.none() | st.integers(1, 2000),
            "step_ps": st.sampled_from([{}, {"top_0": 1000, "replicas": 2000}]),
        }
    ),
)
@pytest.mark.parametrize("engine", ["analytic", "packet"])
def test_any_dlrm_ends_and_sends_what_it_says(
    engine: str, plan: Plan, samples: int, micro_batches: int, order: dict[str, Any]
) -> None:
    # a few samples more than a multiple of the ranks
    batches = shared_batch(samples * plan.ranks + plan.ranks // 2, plan.ranks, "spread", micro_batches)
    drawn.update(plan=plan, batches=batches, order=order)
    run = ap.load({"platform": {"ranks": plan.ranks}, "workload": {"kind": "dlrm_as_drawn"}, "engine": engine})
    if plan.ranks == 1:
        assert all(len(call.group) == 1 for call in run.trace.calls)
        return
    result = run.run()
    assert all(check.passed for check in result.checks)
    sent = result.messages.groupby("src")["size_bytes"].sum().reindex(range(plan.ranks), fill_value=0).to_numpy()
    assert sent.sum() == run.declared_bytes[0].sum()
    assert np.array_equal(sent, run.declared_bytes[0])
