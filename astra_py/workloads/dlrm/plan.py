# SPDX-License-Identifier: GPL-2.0-only
"""A sharding plan: which rank holds which rows and columns of which embedding table, and in which memory.

Whoever makes a plan (a sharder, a file, TorchRec) makes these columns, and all that follows is computed from them: what
the ranks send each other, look up and keep in memory. Words and values are TorchRec's (Ivchenko et al., RecSys 2022).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from astra_py.workloads.dlrm.dtypes import DTYPE_BYTES
from astra_py.workloads.dlrm.model import DlrmModel, EmbeddingTable
from astra_py.workloads.dlrm.plan_rules import check_plan
from astra_py.workloads.dlrm.sharding import BY_ROWS, TIERS, Sharding, Tier

__all__ = ["Plan"]

I64 = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """Shards, one a row of the columns.

    Of a table that is not data parallel, each row and column is in exactly one shard. ROW_WISE and TABLE_ROW_WISE
    shards have all columns and COLUMN_WISE ones all rows; a rank has at most one shard of a table that is divided by
    rows. A DATA_PARALLEL table is whole on every rank.

    Attributes
    ----------
    model : whose tables these are.
    ranks : number of ranks of the job. A rank without shards only looks up what is elsewhere.
    sharding : how each table is divided.
    table : i32[shards], index into ``model.tables``.
    rank : i32[shards], who holds the shard.
    row_begin, rows : i64[shards], its first row and how many.
    dim_begin, dims : i32[shards], its first column and how many.
    tier : u8[shards], index into :data:`TIERS`.

    Raises
    ------
    ShardError : the shards are not as above; the message names table, rows and columns.
    """

    model: DlrmModel
    ranks: int
    sharding: tuple[Sharding, ...]
    table: NDArray[np.int32]
    rank: NDArray[np.int32]
    row_begin: I64
    rows: I64
    dim_begin: NDArray[np.int32]
    dims: NDArray[np.int32]
    tier: NDArray[np.uint8]

    def __post_init__(self) -> None:
        for name, dtype in _COLUMNS.items():
            column = np.ascontiguousarray(getattr(self, name), dtype=dtype)
            if column.shape != np.shape(self.table):
                raise self.model.error(f"column {name} of a plan has shape {column.shape}; allowed: one value a shard")
            column.flags.writeable = False
            object.__setattr__(self, name, column)
        if len(self.sharding) != len(self.model.tables):
            raise self.model.error(f"{len(self.sharding)} shardings for {len(self.model.tables)} tables")
        check_plan(self)

    @classmethod
    def table_wise(cls, model: DlrmModel, ranks: int, owner: NDArray[Any]) -> Plan:
        """Return the plan in which rank ``owner[t]`` holds table t whole, in its accelerator's memory."""
        count = len(model.tables)
        return cls(
            model=model,
            ranks=ranks,
            sharding=(Sharding.TABLE_WISE,) * count,
            table=np.arange(count, dtype=np.int32),
            rank=np.asarray(owner, dtype=np.int32),
            row_begin=np.zeros(count, dtype=np.int64),
            rows=np.array([table.rows for table in model.tables], dtype=np.int64),
            dim_begin=np.zeros(count, dtype=np.int32),
            dims=np.array([table.dim for table in model.tables], dtype=np.int32),
            tier=np.zeros(count, dtype=np.uint8),
        )

    def __repr__(self) -> str:
        return f"<Plan of {self.model.name}: {len(self.table)} shards on {self.ranks} ranks>"

    def table_of(self, shard: int) -> EmbeddingTable:
        """Return the table that a shard is of."""
        return self.model.tables[int(self.table[shard])]

    @cached_property
    def is_data_parallel(self) -> NDArray[np.bool_]:
        """bool[shards]: whether the shard's vectors are for its own rank's samples alone."""
        return self._sharded_as(Sharding.DATA_PARALLEL)[self.table]

    @cached_property
    def is_by_rows(self) -> NDArray[np.bool_]:
        """bool[shards]: whether the shard has a part of the rows, so that its vectors are parts of sums."""
        return self._sharded_as(*BY_ROWS)[self.table]

    @cached_property
    def memory_bytes(self) -> I64:
        """i64[shards]: bytes of the weights; the optimiser's state is not counted."""
        return self.rows * self.dims * self.element_bytes

    @cached_property
    def element_bytes(self) -> I64:
        """i64[shards]: bytes of an element in memory."""
        return np.array([DTYPE_BYTES[table.dtype] for table in self.model.tables], dtype=np.int64)[self.table]

    def lookups(self, samples: int) -> I64:
        """i64[shards]: rows that ``samples`` samples look up in each shard.

        A column shard is asked for all of a table's lookups. Those of a table that is divided by rows go to its shards
        in proportion to their rows, and add up to the table's.
        """
        whole = np.array([table.lookups(samples) for table in self.model.tables], dtype=np.int64)[self.table]
        shards = np.flatnonzero(self.is_by_rows)
        of = np.array([table.rows for table in self.model.tables], dtype=np.int64)[self.table[shards]]
        begin, all_lookups = self.row_begin[shards], whole[shards]
        end = begin + self.rows[shards]
        whole[shards] = _proportion(all_lookups, end, of) - _proportion(all_lookups, begin, of)
        return whole

    def per_rank(self, figures: NDArray[Any]) -> I64:
        """i64[ranks]: sums of one figure a shard over each rank's shards.

        Raises
        ------
        WorkloadError : they do not fit into 64 bits.
        """
        if np.sum(figures, dtype=np.float64) >= 2**63:
            raise self.model.error(f"the tables' figures add up to more than 2^63 - 1 on {self.ranks} ranks")
        total = np.zeros(self.ranks, dtype=np.int64)
        np.add.at(total, self.rank, figures.astype(np.int64))
        return total

    @cached_property
    def rank_shards(self) -> I64:
        """i64[ranks]: number of shards."""
        return np.bincount(self.rank, minlength=self.ranks).astype(np.int64)

    @cached_property
    def rank_dims(self) -> I64:
        """i64[ranks]: elements of the vectors that a rank makes for a sample of another, parts of sums included."""
        return self.per_rank(np.where(self.is_data_parallel, 0, self.dims))

    @cached_property
    def rank_lookups(self) -> I64:
        """i64[ranks]: rows that the samples of one other rank look up on each rank, in an iteration."""
        return self.per_rank(np.where(self.is_data_parallel, 0, self.lookups(self.model.local_batch)))

    @cached_property
    def rank_lookup_bytes(self) -> I64:
        """i64[ranks]: bytes of all rows that are looked up on each rank in an iteration."""
        return self.per_rank(self.lookup_bytes)

    @cached_property
    def lookup_bytes(self) -> I64:
        """i64[shards]: bytes of all rows that are looked up in each shard in an iteration.

        Raises
        ------
        WorkloadError : they do not fit into 64 bits.
        """
        return self.moved_bytes(np.full(self.ranks, self.model.local_batch), self.dims * self.element_bytes)

    def lookups_of(self, batch: I64) -> I64:
        """i64[shards]: rows that are looked up in each shard for ``batch``, i64[ranks], samples of each rank.

        Those of all ranks, but in a data-parallel table of the shard's own.
        """
        total = np.zeros(len(self.table), dtype=np.int64)
        own = batch[self.rank]
        for samples, askers in zip(*np.unique(batch, return_counts=True), strict=True):
            total += self.lookups(int(samples)) * np.where(self.is_data_parallel, own == samples, askers)
        return total

    def moved_bytes(self, batch: I64, row_bytes: I64) -> I64:
        """i64[shards]: bytes that are moved for ``batch`` where each row that is looked up moves ``row_bytes``.

        Raises
        ------
        WorkloadError : they do not fit into 64 bits.
        """
        lookups = self.lookups_of(batch)
        if (lookups.astype(np.float64) * row_bytes).max() >= 2**63:
            raise self.model.error(f"the tables' figures add up to more than 2^63 - 1 on {self.ranks} ranks")
        return lookups * row_bytes

    def tier_is(self, tier: Tier) -> NDArray[np.bool_]:
        """bool[shards]: whether the shard is in a tier."""
        is_there: NDArray[np.bool_] = self.tier == TIERS.index(tier)
        return is_there

    def rank_memory_bytes(self, tier: Tier) -> I64:
        """i64[ranks]: bytes of each rank's tables in a tier."""
        return self.per_rank(np.where(self.tier_is(tier), self.memory_bytes, 0))

    @property
    def imbalance(self) -> float:
        """Largest over smallest of :attr:`rank_dims`; 1 where all are 0, infinite where only some are."""
        largest, smallest = int(self.rank_dims.max()), int(self.rank_dims.min())
        if largest == smallest:
            return 1.0
        return largest / smallest if smallest else float("inf")

    def _sharded_as(self, *shardings: Sharding) -> NDArray[np.bool_]:
        """bool[tables]: whether each table is divided in one of these ways."""
        return np.array([sharding in shardings for sharding in self.sharding], dtype=np.bool_)


_COLUMNS = {
    "table": np.int32,
    "rank": np.int32,
    "row_begin": np.int64,
    "rows": np.int64,
    "dim_begin": np.int32,
    "dims": np.int32,
    "tier": np.uint8,
}


def _proportion(whole: I64, part: I64, of: I64) -> I64:
    """floor(whole x part / of), exactly."""
    if len(whole) and float(whole.max()) * float(part.max()) >= 2**63:
        exact = whole.astype(object) * part.astype(object) // of.astype(object)
        return exact.astype(np.int64)  # type: ignore[no-any-return]
    return whole * part // of
