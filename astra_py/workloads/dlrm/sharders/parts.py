# SPDX-License-Identifier: GPL-2.0-only
"""What sharders place: parts of tables, each of which goes to one rank, over one machine, or over all ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from astra_py.workloads.dlrm.dtypes import DTYPE_BYTES
from astra_py.workloads.dlrm.memory import Memory
from astra_py.workloads.dlrm.model import DlrmModel
from astra_py.workloads.dlrm.plan import Plan
from astra_py.workloads.dlrm.sharding import TIERS, Sharding, Tier

__all__ = ["COLUMN_UNIT", "MIN_SHARD_DIM", "Division", "Parts", "Placement", "Scope", "column_counts", "divide"]

I64 = NDArray[np.int64]

#: Least columns of a column-wise shard (TorchRec, ``torchrec.distributed.planner.constants.MIN_CW_DIM``).
MIN_SHARD_DIM = 128

#: Columns of a shard are a multiple of this where the table's are: FBGEMM's kernels take four elements at a time.
COLUMN_UNIT = 4


class Scope(IntEnum):
    """Where a part goes."""

    RANK = 0
    """To one rank."""
    MACHINE = 1
    """Its rows over the ranks of one machine."""
    ALL = 2
    """Its rows over all ranks, or whole on all ranks."""


_SCOPES = {
    Sharding.TABLE_WISE: Scope.RANK,
    Sharding.COLUMN_WISE: Scope.RANK,
    Sharding.TABLE_ROW_WISE: Scope.MACHINE,
    Sharding.ROW_WISE: Scope.ALL,
    Sharding.DATA_PARALLEL: Scope.ALL,
}


@dataclass(frozen=True)
class Division:
    """How one table is divided; ``columns`` is the number of its column shards, 1 but for COLUMN_WISE."""

    sharding: Sharding
    columns: int = 1


@dataclass(frozen=True, kw_only=True, eq=False)
class Placement:
    """Where parts go.

    Attributes
    ----------
    place : i32[parts], a rank, a machine, or 0 of what goes everywhere, as the part's scope says.
    is_host : bool[parts], whether it goes to the host's memory.
    """

    place: NDArray[np.int32]
    is_host: NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, eq=False)
class Parts:
    """Parts of all tables of a model, one a row of the columns.

    Attributes
    ----------
    model : whose tables.
    memory : of the ranks that they go to.
    divisions : how each table is divided.
    table : i64[parts], index into ``model.tables``.
    dim_begin, dims : i64[parts], first column and how many; a part has all rows.
    """

    model: DlrmModel
    memory: Memory
    divisions: tuple[Division, ...]
    table: I64
    dim_begin: I64
    dims: I64

    def __len__(self) -> int:
        return len(self.table)

    @cached_property
    def rows(self) -> I64:
        """i64[parts]: rows of the part's table."""
        return np.array([table.rows for table in self.model.tables], dtype=np.int64)[self.table]

    @cached_property
    def element_bytes(self) -> I64:
        """i64[parts]: bytes of an element in memory."""
        return np.array([DTYPE_BYTES[table.dtype] for table in self.model.tables], dtype=np.int64)[self.table]

    @cached_property
    def lookups(self) -> I64:
        """i64[parts]: rows that a rank's samples look up."""
        batch = self.model.local_batch
        return np.array([table.lookups(batch) for table in self.model.tables], dtype=np.int64)[self.table]

    @cached_property
    def scope(self) -> NDArray[np.uint8]:
        """u8[parts]: a :class:`Scope`."""
        scopes = [_SCOPES[division.sharding] for division in self.divisions]
        return np.array(scopes, dtype=np.uint8)[self.table]

    @cached_property
    def is_replicated(self) -> NDArray[np.bool_]:
        """bool[parts]: whether the part is whole on every rank."""
        return self.is_divided(Sharding.DATA_PARALLEL)

    def is_divided(self, sharding: Sharding) -> NDArray[np.bool_]:
        """bool[parts]: whether the part's table is divided in this way."""
        return np.array([division.sharding is sharding for division in self.divisions], dtype=np.bool_)[self.table]

    @cached_property
    def widths(self) -> I64:
        """i64[parts]: number of ranks that a part's rows are divided over, where machines are equal."""
        a_machine = int(np.bincount(self.memory.machines).min())
        by_scope = np.array([1, a_machine, self.memory.ranks], dtype=np.int64)
        return np.where(self.is_replicated, 1, by_scope[self.scope])

    @cached_property
    def block_rows(self) -> I64:
        """i64[parts]: most rows of one rank; TorchRec's block, ceil(rows / ranks)."""
        return -(-self.rows // self.widths)

    @cached_property
    def rank_bytes(self) -> I64:
        """i64[parts]: most memory that one rank needs for it, the optimiser's state included."""
        return self.memory.shard_bytes(self.block_rows, self.dims, self.element_bytes, self.is_replicated)

    @cached_property
    def all_bytes(self) -> I64:
        """i64[parts]: memory of all ranks together."""
        copies = np.where(self.is_replicated, self.memory.ranks, 1)
        return copies * self.memory.shard_bytes(self.rows, self.dims, self.element_bytes, self.is_replicated)

    def name(self, part: int) -> str:
        """Write a part as messages call it."""
        table = self.model.tables[int(self.table[part])]
        if int(self.dims[part]) == table.dim:
            return f"table {table.name!r}"
        first, count = int(self.dim_begin[part]), int(self.dims[part])
        return f"columns {first} to {first + count - 1} of table {table.name!r}"

    def plan(self, placement: Placement) -> Plan:
        """Return the plan of parts that are placed, in order of tables, columns and rows."""
        members = [np.flatnonzero(self.memory.machines == m) for m in range(self.memory.machine_count)]
        everywhere = np.arange(self.memory.ranks)
        ranks: list[NDArray[np.intp]] = []
        for scope, place in zip(self.scope.tolist(), placement.place.tolist(), strict=True):
            at = [place] if scope == Scope.RANK else members[place] if scope == Scope.MACHINE else everywhere
            ranks.append(np.asarray(at))
        counts = np.array([len(each) for each in ranks], dtype=np.int64)
        part = np.repeat(np.arange(len(self)), counts)
        position = np.arange(len(part)) - np.repeat(np.cumsum(counts) - counts, counts)
        block = np.where(self.is_replicated, self.rows, -(-self.rows // counts))[part]
        begin = np.where(self.is_replicated[part], 0, position * block)
        rows = np.minimum(block, self.rows[part] - begin)
        is_some = rows > 0
        kept = part[is_some]
        return Plan(
            model=self.model,
            ranks=self.memory.ranks,
            sharding=tuple(division.sharding for division in self.divisions),
            table=self.table[kept].astype(np.int32),
            rank=np.concatenate(ranks)[is_some].astype(np.int32),
            row_begin=begin[is_some],
            rows=rows[is_some],
            dim_begin=self.dim_begin[kept].astype(np.int32),
            dims=self.dims[kept].astype(np.int32),
            tier=np.where(placement.is_host[kept], TIERS.index(Tier.HOST), TIERS.index(Tier.HBM)).astype(np.uint8),
        )


def divide(model: DlrmModel, memory: Memory, divisions: Sequence[Division]) -> Parts:
    """Divide each table; columns into parts as equal as :data:`COLUMN_UNIT` allows, the wider first."""
    counts = np.array([division.columns for division in divisions], dtype=np.int64)
    table = np.repeat(np.arange(len(counts)), counts)
    position = np.arange(len(table)) - np.repeat(np.cumsum(counts) - counts, counts)
    dim = np.array([each.dim for each in model.tables], dtype=np.int64)
    unit = np.where((dim % COLUMN_UNIT == 0) & (dim // COLUMN_UNIT >= counts), COLUMN_UNIT, 1)
    floor, wider = np.divmod(dim // unit, counts)
    return Parts(
        model=model,
        memory=memory,
        divisions=tuple(divisions),
        table=table,
        dim_begin=(position * floor[table] + np.minimum(position, wider[table])) * unit[table],
        dims=(floor[table] + (position < wider[table])) * unit[table],
    )


def column_counts(dim: int, least: int) -> list[int]:
    """Return how many column shards of at least ``least`` columns a table of ``dim`` may have: 2, 4, 8 ... and most."""
    unit = COLUMN_UNIT if dim % COLUMN_UNIT == 0 else 1
    most = dim // unit // -(-least // unit)
    counts = {2**k for k in range(1, most.bit_length()) if 2**k <= most} | ({most} if most > 1 else set())
    return sorted(counts)
