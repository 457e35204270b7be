# SPDX-License-Identifier: GPL-2.0-only
"""What ranks send each other: closed forms by hand, and conservation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra_py.workloads.dlrm import Exchanges, shard_table_wise
from dlrm_cases import SMALL, job

PLAN = shard_table_wise(SMALL, 2, 2**40)  # rank 0 has table c, rank 1 has a and b


def test_matrices_by_hand() -> None:
    exchanges = Exchanges(PLAN)
    # c: 50 lookups x 8 B + 10 samples x 4 B; a and b: (30 + 10) x 8 B + 2 x 10 x 4 B
    assert exchanges.indices().tolist() == [[440, 400], [440, 400]]
    # dims 8 and 24, 10 samples, 2 B an element
    assert exchanges.pooled().tolist() == [[160, 160], [480, 480]]
    assert exchanges.gradients().tolist() == [[160, 480], [160, 480]]
    assert [exchanges.dense(layer) for layer in SMALL.top_layers] == [640, 16]


@given(ranks=st.integers(1, 12), batch=st.integers(1, 999))
def test_every_rank_receives_all_vectors_of_its_samples(ranks: int, batch: int) -> None:
    one = job(ranks, preset="dlrm_s", local_batch=batch)
    pooled, gradients, indices = (getattr(one.exchanges, what)() for what in ("pooled", "gradients", "indices"))
    assert (pooled.sum(axis=0) == batch * 512 * 4).all()
    assert (gradients.sum(axis=1) == batch * 512 * 4).all()
    assert (indices.sum(axis=1) == batch * 8 * (100 * 8 + 8)).all()
    assert np.array_equal(pooled, gradients.T)


def test_dlrm_a_net_is_92_4_mb_per_gpu_and_direction() -> None:
    one = job(128, preset="dlrm_a_net")
    assert 512 * 970 * 93 * 2 == 92_375_040
    assert (one.exchanges.pooled().sum(axis=0) == 92_375_040).all()
    assert (one.exchanges.gradients().sum(axis=1) == 92_375_040).all()
    # as published: 1.276 GB of dense gradients in 20 layers
    layers = [one.exchanges.dense(layer) for layer in (*one.model.bottom_layers, *one.model.top_layers)]
    assert layers == [3994 * 3994 * 4] * 20
    assert sum(layers) == pytest.approx(1.276e9, rel=1e-3)


def test_astra2020_has_the_sizes_of_its_file() -> None:
    one = job(16, preset="astra2020")
    assert (one.exchanges.pooled().sum(axis=0) == 98_304).all()
    assert (one.exchanges.gradients().sum(axis=1) == 98_304).all()
    layers = [one.exchanges.dense(layer) for layer in (*one.model.bottom_layers, *one.model.top_layers)]
    assert layers == [13_312, 524_288, 524_288, 16_384, 1_064_960, 524_288, 524_288]


def test_scaled_bytes_round_to_nearest_and_do_not_vanish() -> None:
    exchanges = Exchanges(PLAN, 0.01)
    assert exchanges.pooled().tolist() == [[2, 2], [5, 5]]
    assert exchanges.indices().tolist() == [[4, 4], [4, 4]]
    assert [exchanges.dense(layer) for layer in SMALL.top_layers] == [6, 1]
    none = Exchanges(shard_table_wise(SMALL, 4, 2**40), 0.01).pooled()
    assert sorted(none[:, 0].tolist()) == [0, 2, 2, 3]
