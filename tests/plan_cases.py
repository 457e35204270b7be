# SPDX-License-Identifier: GPL-2.0-only
"""Sharding plans that the tests use, written shard by shard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from astra_py.workloads.dlrm import TIERS, DlrmModel, Plan, Sharding, Tier

#: (table, rank), or (table, rank, (first row, rows)), or (table, rank, (first dim, dims)) by the table's sharding.
Shard = tuple[Any, ...]


def plan_of(
    model: DlrmModel, ranks: int, ways: Sequence[Sharding], shards: Sequence[Shard], host: bool = False
) -> Plan:
    """Return the plan of some shards, all in host memory where ``host``; data-parallel tables come by themselves."""
    rows = []
    for index, rank, *part in shards:
        table, way = model.tables[index], ways[index]
        by_rows = part and way in (Sharding.ROW_WISE, Sharding.TABLE_ROW_WISE)
        by_dims = part and way == Sharding.COLUMN_WISE
        rows.append(
            (index, rank, *(part[0] if by_rows else (0, table.rows)), *(part[0] if by_dims else (0, table.dim)))
        )
    for index, table in enumerate(model.tables):
        if ways[index] == Sharding.DATA_PARALLEL:
            rows += [(index, rank, 0, table.rows, 0, table.dim) for rank in range(ranks)]
    columns = np.array(rows, dtype=np.int64).T
    names = ("table", "rank", "row_begin", "rows", "dim_begin", "dims")
    return Plan(
        model=model,
        ranks=ranks,
        sharding=tuple(ways),
        tier=np.full(len(rows), TIERS.index(Tier.HOST if host else Tier.HBM)),
        **dict(zip(names, columns, strict=True)),
    )


def even_rows(table: int, rows: int, ranks: Sequence[int]) -> list[Shard]:
    """Shards of ``rows`` rows in equal parts."""
    each, over = divmod(rows, len(ranks))
    assert not over
    return [(table, rank, (i * each, each)) for i, rank in enumerate(ranks)]
