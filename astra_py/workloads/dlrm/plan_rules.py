# SPDX-License-Identifier: GPL-2.0-only
"""What makes shards a plan: each cell of each table is held once, in the way that the table's sharding says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.workloads.dlrm.sharding import BY_ROWS, TIERS, ShardError, Sharding

if TYPE_CHECKING:
    from astra_py.workloads.dlrm.plan import Plan

__all__ = ["check_plan"]

#: What a shard of a table must have whole, by the table's sharding.
_WHOLE = {
    Sharding.TABLE_WISE: ("rows", "columns"),
    Sharding.ROW_WISE: ("columns",),
    Sharding.COLUMN_WISE: ("rows",),
    Sharding.TABLE_ROW_WISE: ("columns",),
    Sharding.DATA_PARALLEL: ("rows", "columns"),
}


def check_plan(plan: Plan) -> None:
    """Check that each cell is held as its table's sharding says.

    Raises
    ------
    ShardError : it is not; of several faults, the first one found.
    """
    _check_places(plan)
    _check_shapes(plan)
    _check_cover(plan)
    _check_replicas(plan)


def _check_places(plan: Plan) -> None:
    """Each shard is of a table, on a rank and in a tier that exist."""
    tables = len(plan.model.tables)
    for shard in _where((plan.table < 0) | (plan.table >= tables)):
        raise _fault(plan, f"there is no table {plan.table[shard]}; allowed: 0 to {tables - 1}", [shard])
    for shard in _where((plan.rank < 0) | (plan.rank >= plan.ranks)):
        what = f"{_name(plan, shard)} has a shard on rank {plan.rank[shard]}; allowed: 0 to {plan.ranks - 1}"
        raise _fault(plan, what, [shard])
    for shard in _where(plan.tier >= len(TIERS)):
        what = f"{_name(plan, shard)} has a shard in tier {plan.tier[shard]}; allowed: {', '.join(TIERS)}"
        raise _fault(plan, what, [shard])


def _check_shapes(plan: Plan) -> None:
    """Each shard lies inside its table and has whole what its sharding does not divide."""
    height, width = _heights(plan), _widths(plan)
    inside = (plan.row_begin >= 0) & (plan.rows >= 1) & (plan.rows <= height - plan.row_begin)
    inside &= (plan.dim_begin >= 0) & (plan.dims >= 1) & (plan.dims <= width - plan.dim_begin)
    for shard in _where(~inside):
        table = plan.table_of(shard)
        what = f"{_name(plan, shard)} has a shard of {_cells(plan, shard)}"
        raise _fault(plan, f"{what}; allowed: within its {table.rows} rows and {table.dim} columns", [shard])
    for sharding, whole in _WHOLE.items():
        misfit = np.zeros(len(plan.table), dtype=np.bool_)
        if "rows" in whole:
            misfit |= plan.rows < height
        if "columns" in whole:
            misfit |= plan.dims < width
        for shard in _where(misfit & _is(plan, sharding)):
            what = f"{_name(plan, shard)} is {sharding} and has a shard of {_cells(plan, shard)}"
            raise _fault(plan, f"{what}; allowed: shards with all {' and '.join(whole)}", [shard])


def _check_cover(plan: Plan) -> None:
    """Each cell of a table that is not data parallel is held once; shards by rows are on different ranks."""
    by_rows = _is(plan, *BY_ROWS)
    begin = np.where(by_rows, plan.row_begin, plan.dim_begin)
    end = begin + np.where(by_rows, plan.rows, plan.dims)
    whole = np.where(by_rows, _heights(plan), _widths(plan))
    shards = np.flatnonzero(~_is(plan, Sharding.DATA_PARALLEL))
    order = shards[np.lexsort((begin[shards], plan.table[shards]))]
    table = plan.table[order]
    is_first = np.r_[True, table[1:] != table[:-1]][: len(order)]
    is_last = np.r_[table[1:] != table[:-1], True][: len(order)]
    before = np.where(is_first, 0, np.r_[0, end[order][:-1]][: len(order)])

    for i in _where(begin[order] < before):
        twice = _part(plan, order[i], int(begin[order[i]]), int(min(before[i], end[order[i]])))
        raise _fault(plan, f"{_name(plan, order[i])}: two shards have {twice}", [order[i - 1], order[i]])
    for i in _where(begin[order] > before):
        never = _part(plan, order[i], int(before[i]), int(begin[order[i]]))
        raise _fault(plan, f"{_name(plan, order[i])}: no shard has {never}", [order[i]])
    for i in _where(is_last & (end[order] < whole[order])):
        never = _part(plan, order[i], int(end[order[i]]), int(whole[order[i]]))
        raise _fault(plan, f"{_name(plan, order[i])}: no shard has {never}", [order[i]])

    pair = plan.table.astype(np.int64) * plan.ranks + plan.rank
    rows = np.flatnonzero(by_rows)
    order = rows[np.argsort(pair[rows], kind="stable")]
    for i in _where(pair[order][1:] == pair[order][:-1]):
        what = f"{_name(plan, order[i])} is divided by rows and has two shards on rank {plan.rank[order[i]]}"
        raise _fault(plan, f"{what}; allowed: one", [order[i], order[i + 1]])


def _check_replicas(plan: Plan) -> None:
    """Each table has shards, and a data-parallel one exactly one on every rank."""
    tables = plan.model.tables
    held = np.bincount(plan.table, minlength=len(tables))
    for index in _where(held == 0):
        table = tables[index]
        what = f"table {table.name!r}: no shard has rows {_interval(0, table.rows)}, columns {_interval(0, table.dim)}"
        raise _fault(plan, what)
    replicas = np.flatnonzero(_is(plan, Sharding.DATA_PARALLEL))
    order = replicas[np.lexsort((plan.rank[replicas], plan.table[replicas]))]
    same = (plan.table[order][1:] == plan.table[order][:-1]) & (plan.rank[order][1:] == plan.rank[order][:-1])
    for i in _where(same):
        what = f"{_name(plan, order[i])} is data_parallel and twice on rank {plan.rank[order[i]]}; allowed: once"
        raise _fault(plan, what, [order[i], order[i + 1]])
    for index in _where(np.bincount(plan.table[replicas], minlength=len(tables)) % plan.ranks > 0):
        mine = replicas[plan.table[replicas] == index]
        missing = int(np.setdiff1d(np.arange(plan.ranks), plan.rank[mine])[0])
        what = f"table {tables[index].name!r} is data_parallel and not on rank {missing}"
        raise _fault(plan, f"{what}; allowed: one shard on each of the {plan.ranks} ranks", mine[:1].tolist())


def _where(mask: NDArray[np.bool_]) -> list[int]:
    """Return the first row where a mask is true, in a list; an empty one where there is none."""
    return [int(row) for row in np.flatnonzero(mask)[:1]]


def _is(plan: Plan, *shardings: Sharding) -> NDArray[np.bool_]:
    """bool[shards]: whether each shard's table is divided in one of these ways."""
    return np.array([sharding in shardings for sharding in plan.sharding], dtype=np.bool_)[plan.table]


def _heights(plan: Plan) -> NDArray[np.int64]:
    """i64[shards]: rows of each shard's table."""
    return np.array([table.rows for table in plan.model.tables], dtype=np.int64)[plan.table]


def _widths(plan: Plan) -> NDArray[np.int64]:
    """i64[shards]: columns of each shard's table."""
    return np.array([table.dim for table in plan.model.tables], dtype=np.int64)[plan.table]


def _name(plan: Plan, shard: int) -> str:
    return f"table {plan.table_of(shard).name!r}"


def _cells(plan: Plan, shard: int) -> str:
    rows = int(plan.row_begin[shard]), int(plan.rows[shard])
    dims = int(plan.dim_begin[shard]), int(plan.dims[shard])
    return f"rows {_interval(*rows)}, columns {_interval(*dims)}"


def _part(plan: Plan, shard: int, begin: int, end: int) -> str:
    """Write the part from ``begin`` to ``end`` in the direction in which the shard's table is divided."""
    table = plan.table_of(shard)
    if plan.is_by_rows[shard]:
        return f"rows {_interval(begin, end - begin)}, columns {_interval(0, table.dim)}"
    return f"rows {_interval(0, table.rows)}, columns {_interval(begin, end - begin)}"


def _interval(begin: int, count: int) -> str:
    return f"{begin} to {begin + count - 1}" if count != 1 else f"{begin}"


def _fault(plan: Plan, what: str, shards: list[int] | None = None) -> ShardError:
    return ShardError(f"{plan.model.source}: {what}", shards or ())
