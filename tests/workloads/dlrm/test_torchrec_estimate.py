# SPDX-License-Identifier: GPL-2.0-only
"""TorchRec's planner's costs, each with the arithmetic of its public formulas, and the run that they become."""

from __future__ import annotations

import numpy as np
import pytest

import astra_py
from astra_py.api import one_collective
from astra_py.config import load_scenario
from astra_py.errors import ConfigError, WorkloadError
from astra_py.workloads.dlrm.model import DlrmModel, Dtypes, EmbeddingTable
from astra_py.workloads.dlrm.plan import Plan
from astra_py.workloads.dlrm.sharding import Sharding
from astra_py.workloads.dlrm.torchrec_estimate import PlannerEstimate, estimate_plan

GIB = 2**30
BATCH = 100
#: Two hosts of two ranks.
HOSTS = np.array([0, 0, 1, 1], dtype=np.int32)


def model(dim: int = 64) -> DlrmModel:
    table = EmbeddingTable(name="t", rows=1000, dim=dim, pooling=10, dtype="fp32")
    dtypes = Dtypes(
        weights="fp32",
        activations="fp32",
        compute="fp32",
        indices="int64",
        lengths="int32",
        forward_all_to_all="fp16",
        backward_all_to_all="fp32",
    )
    return DlrmModel(
        name="m",
        source="test",
        bottom=(4, 4),
        top=(1,),
        interaction="concatenation",
        tables=(table,),
        local_batch=BATCH,
        dtypes=dtypes,
    )


def estimate(sharding: Sharding, rank: list[int], rows: list[int], dims: list[int], tier: int = 0) -> PlannerEstimate:
    shards = len(rank)
    begin_rows = (
        np.cumsum([0, *rows[:-1]]) if sharding in (Sharding.ROW_WISE, Sharding.TABLE_ROW_WISE) else [0] * shards
    )
    begin_dims = np.cumsum([0, *dims[:-1]]) if sharding == Sharding.COLUMN_WISE else [0] * shards
    plan = Plan(
        model=model(sum(dims) if sharding == Sharding.COLUMN_WISE else dims[0]),
        ranks=4,
        sharding=(sharding,),
        table=np.zeros(shards, np.int32),
        rank=np.array(rank, np.int32),
        row_begin=np.array(begin_rows, np.int64),
        rows=np.array(rows, np.int64),
        dim_begin=np.array(begin_dims, np.int32),
        dims=np.array(dims, np.int32),
        tier=np.full(shards, tier, np.uint8),
    )
    return estimate_plan(plan, HOSTS)


def require(made: PlannerEstimate, rank: int, *seconds: float) -> None:
    steps = (made.forward_compute, made.forward_communication, made.backward_communication, made.backward_compute)
    assert [step[rank] for step in steps] == pytest.approx(list(seconds))


def test_table_wise() -> None:
    """All four ranks' lookups, 4,000 rows of 64 x 4 B and their indices, vectors of 2 B; a half-full block."""
    made = estimate(Sharding.TABLE_WISE, [2], [1000], [64])
    forward = (4000 * 8 + 4000 * 64 * 4 + 400 * 64 * 2) * 1.15 / (897 * GIB)
    require(made, 2, forward, 400 * 64 * 2 / (12.5 * GIB), 400 * 64 * 4 / (12.5 * GIB), 2 * forward)
    assert made.total[0] == 0


@pytest.mark.parametrize(
    ("dim", "read", "penalty"), [(128, 128, 1.0), (127, 127, 1.15), (32, 32, 1.75), (16, 32, 1.75)]
)
def test_narrow_tables_pay_for_blocks(dim: int, read: int, penalty: float) -> None:
    made = estimate(Sharding.TABLE_WISE, [0], [1000], [dim])
    forward = (4000 * 8 + 4000 * read * 4 + 400 * dim * 2) * penalty / (897 * GIB)
    assert made.forward_compute[0] == pytest.approx(forward)


def test_host_memory_is_behind_a_tenth_of_its_bus() -> None:
    made = estimate(Sharding.TABLE_WISE, [0], [1000], [128], tier=1)
    assert made.forward_compute[0] == pytest.approx((4000 * 8 + 4000 * 128 * 4 + 400 * 128 * 2) / (3.2 * GIB))


def test_column_wise_shards_are_tables_of_fewer_columns() -> None:
    made = estimate(Sharding.COLUMN_WISE, [0, 1], [1000, 1000], [128, 64])
    narrow = estimate(Sharding.TABLE_WISE, [1], [1000], [64])
    assert made.total[1] == pytest.approx(narrow.total[1])


def test_row_wise() -> None:
    """A quarter of the lookups each, but vectors of all samples, which are copied in batches backward."""
    made = estimate(Sharding.ROW_WISE, [0, 1, 2, 3], [250] * 4, [64] * 4)
    forward = (1000 * 8 + 1000 * 64 * 4 + 400 * 64 * 2) / (897 * GIB)
    gradients = 400 * 64 * 4
    back = gradients / (12.5 * GIB) + gradients * 2.455 / (897 * GIB)
    require(made, 3, forward, 400 * 64 * 2 / (12.5 * GIB), back, 2 * forward)


def test_table_row_wise() -> None:
    """Half of the lookups each; reduced inside the host, then half of the vectors between hosts, forward only."""
    made = estimate(Sharding.TABLE_ROW_WISE, [2, 3], [500, 500], [64, 64])
    forward = (2000 * 8 + 2000 * 64 * 4 + 400 * 64 * 2) / (897 * GIB)
    to = 400 * 64 * 2 / (600 * GIB) + 400 * 64 * 2 * 0.5 / (12.5 * GIB)
    back = 400 * 64 * 4 / (600 * GIB) + 400 * 64 * 4 * 2.455 / (897 * GIB)
    require(made, 2, forward, to, back, 2 * forward)


def test_data_parallel() -> None:
    """Its own 1,000 lookups at half of HBM; an all-reduce of 256 kB by two hosts' rule, and the optimiser's kernels."""
    made = estimate(Sharding.DATA_PARALLEL, [0, 1, 2, 3], [1000] * 4, [64] * 4)
    forward = (1000 * 8 + 1000 * 64 * 4 + 100 * 64 * 4) / (897 / 2 * GIB)
    back = 256_000 * 3 / 2 / (12.5 * GIB * 2) + 256_000 * 9.22 / (897 / 2 * GIB)
    require(made, 0, forward, 0, back, 2 * forward)


def test_hosts_that_differ_are_refused() -> None:
    plan = Plan.table_wise(model(), 4, np.array([0]))
    with pytest.raises(WorkloadError, match="as many ranks on each host; here they are 1 to 3"):
        estimate_plan(plan, np.array([0, 0, 0, 1], dtype=np.int32))


SCENARIO = {
    "engine": "analytic",
    "analytic": {"mode": "torchrec"},
    "platform": {"kind": "zionex", "nodes": 2},
    "workload": {"kind": "dlrm", "preset": "dlrm_s", "iterations": 2},
}


def test_a_run_has_the_estimate_as_its_iterations() -> None:
    run = astra_py.load(SCENARIO)
    result = run.run()
    assert len(result.messages) == 0
    note = next(note for note in run.notes if "TorchRec's planner takes this plan" in note)
    first = result.iterations.iloc[0]
    assert f"to cost {first['time_us'] / 1e3:.3f} ms" in note
    assert first["time_us"] == pytest.approx(first["compute_us"] + first["memory_us"])
    assert first["exposed_us"] == pytest.approx(first["memory_us"])


def test_a_job_of_its_own_has_a_plan_too() -> None:
    """The only workload is a job's: the same ranks, the same estimate."""
    workload = SCENARIO["workload"]
    alone = {key: value for key, value in SCENARIO.items() if key != "workload"}
    of_job = astra_py.load({**alone, "jobs": {"one": {"workload": workload}}}).run().iterations
    assert of_job["time_us"].tolist() == astra_py.load(SCENARIO).run().iterations["time_us"].tolist()


def test_what_has_no_plan_is_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"analytic\.mode: 'torchrec' estimates a DLRM's sharding plan, and there is none"
    ):
        load_scenario({**SCENARIO, "workload": {"kind": "file", "file": "x", "format": "astra_text"}})
    with pytest.raises(ConfigError, match="and no single collective; allowed: 'loggp'"):
        one_collective(load_scenario(SCENARIO), "all_reduce", 100)
