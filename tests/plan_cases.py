# SPDX-License-Identifier: GPL-2.0-only
"""Sharding plans that the tests use, written shard by shard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from astra_py.workloads.dlrm import TIERS, DlrmModel, Plan, Sharding, Tier
from dlrm_cases import table, with_tables

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


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Plans of a few tables on up to 9 ranks, each divided in a way of its own."""
    ranks = draw(st.integers(1, 9))
    model: DlrmModel = with_tables(
        *(
            table(f"t{i}", rows=draw(st.integers(9, 99)), dim=draw(st.integers(2, 9)), pooling=draw(st.integers(1, 5)))
            for i in range(draw(st.integers(1, 4)))
        )
    )
    ways = [draw(st.sampled_from(Sharding)) for _ in model.tables]
    shards = []
    for index, (each, way) in enumerate(zip(model.tables, ways, strict=True)):
        holders = draw(st.lists(st.integers(0, ranks - 1), min_size=1, max_size=ranks, unique=True))
        if way == Sharding.TABLE_WISE:
            shards.append((index, holders[0]))
        elif way != Sharding.DATA_PARALLEL:
            whole = each.dim if way == Sharding.COLUMN_WISE else each.rows
            cuts = np.linspace(0, whole, min(len(holders), whole) + 1).astype(int).tolist()
            parts = zip(holders, cuts, cuts[1:], strict=False)
            shards += [(index, rank, (begin, end - begin)) for rank, begin, end in parts]
    return plan_of(model, ranks, ways, shards)
