# SPDX-License-Identifier: GPL-2.0-only
"""Samples by rank and micro-batch, and what becomes of a remainder."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra_py.errors import WorkloadError
from astra_py.workloads.dlrm import equal_batches, shared_batch
from dlrm_cases import job


def test_a_remainder_is_refused_spread_or_dropped() -> None:
    with pytest.raises(WorkloadError, match=r"global_batch = 10 is no multiple of the job's 4 ranks.* such as 8, or"):
        shared_batch(10, 4, "error")
    spread, dropped = shared_batch(10, 4, "spread"), shared_batch(10, 4, "drop")
    assert (spread.local.tolist(), spread.samples, spread.dropped) == ([3, 3, 2, 2], 10, 0)
    assert (dropped.local.tolist(), dropped.samples, dropped.dropped) == ([2, 2, 2, 2], 8, 2)
    assert shared_batch(8, 4, "error").local.tolist() == [2] * 4


def test_too_few_samples() -> None:
    with pytest.raises(WorkloadError, match="global_batch = 3: the job has 4 ranks; allowed: a sample a rank and more"):
        shared_batch(3, 4, "spread")
    with pytest.raises(WorkloadError, match="micro_batches = 3: a rank has 2 samples in an iteration; allowed: 1 to 2"):
        shared_batch(10, 4, "spread", 3)


def test_micro_batches_by_hand() -> None:
    assert [part.tolist() for part in shared_batch(10, 4, "spread", 2).parts()] == [[2, 2, 1, 1], [1, 1, 1, 1]]
    assert [part.tolist() for part in equal_batches(8, 2, 3).parts()] == [[3, 3], [3, 3], [2, 2]]


@given(
    global_batch=st.integers(1, 10**6),
    ranks=st.integers(1, 99),
    remainder=st.sampled_from(["spread", "drop"]),
    micro_batches=st.integers(1, 9),
)
def test_no_sample_is_lost(global_batch: int, ranks: int, remainder: str, micro_batches: int) -> None:
    if global_batch < ranks * micro_batches:
        return
    batches = shared_batch(global_batch, ranks, remainder, micro_batches)
    assert batches.samples + batches.dropped == global_batch
    assert np.sum(batches.parts(), axis=0).tolist() == batches.local.tolist()
    assert batches.local.max() - batches.local.min() <= (remainder == "spread")
    assert max(part.max() for part in batches.parts()) - min(part.min() for part in batches.parts()) <= 2


def test_a_spread_batch_reaches_matrices_times_and_notes() -> None:
    one = job(4, preset="dlrm_s", global_batch=4 * 2048 + 3, remainder="spread")
    received = one.exchanges.pooled().sum(axis=0)
    assert received.tolist() == [2049 * 512 * 4] * 3 + [2048 * 512 * 4]
    assert one.model.local_batch == 2049
    assert len(set(one.times.interaction_forward_ps.tolist())) == 2
    assert "local batch 2048 to 2049, global 8195" in one.notes[0]
    assert "fixed by the description: the global batch" in one.notes[-1]
    dropped = job(4, preset="dlrm_s", global_batch=4 * 2048 + 3, remainder="drop")
    assert "local batch 2048, global 8192; 3 samples of the global batch are left out" in dropped.notes[0]
