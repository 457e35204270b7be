# SPDX-License-Identifier: GPL-2.0-only
"""Plans: what makes shards one, and what follows for each rank, by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra_py.errors import WorkloadError
from astra_py.workloads.dlrm import Plan, ShardError, Sharding, Tier
from dlrm_cases import SMALL, table, with_tables

# Tables a (dim 8, pooling 3), b (dim 16, pooling 1), c (dim 8, pooling 5) of 1,000 rows; 3 ranks, 10 samples each.
ROWS = {
    "table": [0, 0, 1, 1, 2, 2, 2],
    "rank": [0, 2, 0, 1, 0, 1, 2],
    "row_begin": [0, 600, 0, 0, 0, 0, 0],
    "rows": [600, 400, 1000, 1000, 1000, 1000, 1000],
    "dim_begin": [0, 0, 0, 12, 0, 0, 0],
    "dims": [8, 8, 12, 4, 8, 8, 8],
    "tier": [0, 1, 0, 0, 0, 0, 0],
}
WAYS = (Sharding.ROW_WISE, Sharding.COLUMN_WISE, Sharding.DATA_PARALLEL)


def plan(sharding: tuple[Sharding, ...] = WAYS, **changed: Any) -> Plan:
    """Return the plan with some values of some columns replaced: ``rank={3: 2}``."""
    columns = {name: list(values) for name, values in ROWS.items()}
    for name, values in changed.items():
        for shard, value in values.items():
            columns[name][shard] = value
    arrays: dict[str, Any] = {name: np.array(values) for name, values in columns.items()}
    return Plan(model=SMALL, ranks=3, sharding=sharding, **arrays)


def test_what_follows_for_each_rank() -> None:
    made = plan()
    assert made.lookups(10).tolist() == [18, 12, 10, 10, 50, 50, 50]
    assert made.memory_bytes.tolist() == [9_600, 6_400, 24_000, 8_000, 16_000, 16_000, 16_000]
    assert made.rank_shards.tolist() == [3, 2, 2]
    assert made.rank_dims.tolist() == [8 + 12, 4, 8]
    assert made.rank_lookups.tolist() == [18 + 10, 10, 12]
    # looked up for three ranks' samples, the data-parallel table for a rank's own alone
    assert made.rank_lookup_bytes.tolist() == [3 * (18 * 16 + 10 * 24) + 800, 3 * 10 * 8 + 800, 3 * 12 * 16 + 800]
    assert made.rank_memory_bytes(Tier.HBM).tolist() == [9_600 + 24_000 + 16_000, 8_000 + 16_000, 16_000]
    assert made.rank_memory_bytes(Tier.HOST).tolist() == [0, 0, 6_400]
    assert made.imbalance == 5


@pytest.mark.parametrize(
    ("changed", "message", "shards"),
    [
        ({"table": {0: 3}}, r"no table 3; allowed: 0 to 2", (0,)),
        ({"rank": {2: 3}}, r"'b' has a shard on rank 3; allowed: 0 to 2", (2,)),
        ({"tier": {2: 2}}, r"'b' has a shard in tier 2; allowed: hbm, host", (2,)),
        ({"rows": {1: 401}}, r"'a' has a shard of rows 600 to 1000, .*; allowed: within its 1000 rows and 8", (1,)),
        ({"dims": {3: 0}}, r"'b' has a shard of .* within its 1000 rows and 16 columns", (3,)),
        ({"row_begin": {0: -1}}, r"'a' has a shard of rows -1", (0,)),
        ({"dims": {1: 7}}, r"'a' is row_wise and has a shard of .*; allowed: shards with all columns", (1,)),
        ({"rows": {3: 999}}, r"'b' is column_wise and has a shard of .*; allowed: shards with all rows", (3,)),
        ({"rows": {5: 999}}, r"'c' is data_parallel and has .* all rows and columns", (5,)),
        ({"row_begin": {1: 500}}, r"'a': two shards have rows 500 to 599, columns 0 to 7", (0, 1)),
        ({"rows": {0: 599}}, r"'a': no shard has rows 599, columns 0 to 7", (1,)),
        ({"rows": {1: 399}}, r"'a': no shard has rows 999, columns 0 to 7", (1,)),
        ({"dim_begin": {3: 11}, "dims": {3: 5}}, r"'b': two shards have rows 0 to 999, columns 11", (2, 3)),
        ({"dims": {2: 10}}, r"'b': no shard has rows 0 to 999, columns 10 to 11", (3,)),
        ({"rank": {1: 0}}, r"'a' is divided by rows and has two shards on rank 0", (0, 1)),
        ({"rank": {5: 0}}, r"'c' is data_parallel and twice on rank 0", (4, 5)),
        ({"table": {4: 1}, "dim_begin": {2: 8, 4: 0}, "dims": {2: 4}}, r"'c' is data_parallel and not on rank 0", (5,)),
        ({"table": {0: 1, 1: 1}, "row_begin": {1: 0}, "rows": {0: 1000, 1: 1000}}, r"'b': two shards", None),
    ],
)
def test_shards_that_are_no_plan(changed: dict[str, Any], message: str, shards: tuple[int, ...] | None) -> None:
    with pytest.raises(ShardError, match="small.toml: .*" + message) as caught:
        plan(**changed)
    if shards is not None:
        assert caught.value.shards == shards


def test_every_table_has_shards_and_a_sharding() -> None:
    without_b: dict[str, Any] = {name: np.array(values[:2] + values[4:]) for name, values in ROWS.items()}
    with pytest.raises(ShardError, match="table 'b': no shard has rows 0 to 999, columns 0 to 15"):
        Plan(model=SMALL, ranks=3, sharding=WAYS, **without_b)
    with pytest.raises(WorkloadError, match="2 shardings for 3 tables"):
        plan(WAYS[:2])


@given(rows=st.integers(1, 2**40), pooling=st.floats(0.1, 2**20), cuts=st.lists(st.floats(0, 1), max_size=6))
def test_lookups_of_row_shards_add_up(rows: int, pooling: float, cuts: list[float]) -> None:
    model = with_tables(table(rows=rows, pooling=pooling))
    bounds = sorted({0, rows, *(int(cut * rows) for cut in cuts)})
    begin, end = np.array(bounds[:-1]), np.array(bounds[1:])
    shards = len(begin)
    made = Plan(
        model=model,
        ranks=7,
        sharding=(Sharding.ROW_WISE,),
        table=np.zeros(shards, dtype=np.int32),
        rank=np.arange(shards, dtype=np.int32),
        row_begin=begin,
        rows=end - begin,
        dim_begin=np.zeros(shards, dtype=np.int32),
        dims=np.full(shards, 8, dtype=np.int32),
        tier=np.zeros(shards, dtype=np.uint8),
    )
    lookups = made.lookups(2**20)
    whole = model.tables[0].lookups(2**20)
    assert lookups.sum() == whole
    assert (np.abs(lookups - whole * ((end - begin) / rows)) <= 1 + whole * 1e-9).all()
