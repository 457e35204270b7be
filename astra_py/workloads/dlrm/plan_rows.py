# SPDX-License-Identifier: GPL-2.0-only
"""Shards as they are written down, one by one and each with where it stands, on their way to a Plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from astra_py.errors import WorkloadError, did_you_mean
from astra_py.workloads.dlrm.model import DlrmModel
from astra_py.workloads.dlrm.plan import Plan
from astra_py.workloads.dlrm.sharding import TIERS, ShardError, Sharding, Tier

__all__ = ["PlanRows"]

#: Largest figure that a plan's file may hold; the largest table of a model has fewer rows.
_MOST = 2**40


@dataclass
class PlanRows:
    """Collects shards of a file.

    Parameters
    ----------
    source : the file, as messages begin.
    model : whose tables.
    ranks : number of ranks of the job.
    """

    source: str
    model: DlrmModel
    ranks: int
    sharding: dict[int, Sharding] = field(default_factory=dict)
    first: dict[int, str] = field(default_factory=dict)
    shards: list[tuple[int, int, int, int, int, int, int]] = field(default_factory=list)
    where: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._everywhere: dict[int, str] = {}
        self._index = {table.name: index for index, table in enumerate(self.model.tables)}

    def error(self, where: str, what: str) -> WorkloadError:
        """Make an error about a place in the file."""
        return WorkloadError(f"{self.source}{where}: {what}")

    def name(self, index: int) -> str:
        """Return the name of a table."""
        return self.model.tables[index].name

    def table(self, where: str, name: object, sharding: object) -> int:
        """Return the number of a table, and note how it is divided.

        Raises
        ------
        WorkloadError : the model has no such table, there is no such way, or the table was divided in another way.
        """
        if not isinstance(name, str) or name not in self._index:
            hint = did_you_mean(str(name), self._index)
            some = ", ".join(list(self._index)[:3]) + (", ..." if len(self._index) > 3 else "")
            raise self.error(where, f"the model has no table {name!r}{hint}; allowed: its tables, {some}")
        index = self._index[name]
        try:
            way = Sharding(sharding)  # type: ignore[arg-type]
        except ValueError:
            hint = did_you_mean(str(sharding), map(str, Sharding))
            raise self.error(
                where, f"table {name!r}: there is no sharding {sharding!r}{hint}; allowed: {', '.join(Sharding)}"
            ) from None
        if self.sharding.setdefault(index, way) is not way:
            raise self.error(
                where,
                f"table {name!r} is {way} here and {self.sharding[index]} at {self.first[index]}; allowed: one way",
            )
        self.first.setdefault(index, where)
        return index

    def tier(self, where: str, name: object) -> int:
        """Return the number of a tier.

        Raises
        ------
        WorkloadError : there is no such tier.
        """
        try:
            return TIERS.index(Tier(name))  # type: ignore[arg-type]
        except ValueError:
            hint = did_you_mean(str(name), map(str, Tier))
            raise self.error(where, f"there is no tier {name!r}{hint}; allowed: {', '.join(Tier)}") from None

    def figure(self, where: str, what: str, value: object) -> int:
        """Return a whole number of a file.

        Raises
        ------
        WorkloadError : it is none.
        """
        if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit() and len(value.strip()) < 15:
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MOST:
            raise self.error(where, f"{what} = {_short(value)} is not allowed; allowed: a whole number from 0 to 2^40")
        return value

    def rank(self, where: str, name: str, value: object) -> int:
        """Return a rank of the job.

        Raises
        ------
        WorkloadError : there is no such rank.
        """
        rank = self.figure(where, f"table {name!r}: rank", value)
        if rank >= self.ranks:
            raise self.error(where, f"table {name!r} has a shard on rank {rank}; allowed: 0 to {self.ranks - 1}")
        return rank

    def add(self, where: str, index: int, rank: int, cells: Sequence[int], tier: int) -> None:
        """Add a shard; ``cells`` are its first row, rows, first column and columns."""
        row_begin, rows, dim_begin, dims = cells
        if dim_begin + dims > 2**31 - 1:
            raise self.error(where, f"columns {dim_begin} to {dim_begin + dims - 1} are not in the table")
        self.shards.append((index, rank, row_begin, rows, dim_begin, dims, tier))
        self.where.append(where)

    def add_everywhere(self, where: str, index: int, tier: int, cells: Sequence[int] | None = None) -> None:
        """Add a shard on every rank, the whole table where ``cells`` is None.

        Raises
        ------
        WorkloadError : there was such a shard of the table before, which would be many more rows than the file has.
        """
        table = self.model.tables[index]
        if index in self._everywhere:
            raise self.error(where, f"table {table.name!r} is on all ranks at {self._everywhere[index]} already")
        self._everywhere[index] = where
        for rank in range(self.ranks):
            self.add(where, index, rank, (0, table.rows, 0, table.dim) if cells is None else cells, tier)

    def plan(self) -> Plan:
        """Return the plan.

        Raises
        ------
        WorkloadError : the shards are none; the message says where they stand.
        """
        for index, table in enumerate(self.model.tables):
            if index not in self.sharding:
                raise self.error("", f"table {table.name!r} has no shard; allowed: each of the model's tables, once")
        columns: Any = np.array(self.shards, dtype=np.int64).reshape(-1, 7).T
        try:
            return Plan(
                model=self.model,
                ranks=self.ranks,
                sharding=tuple(self.sharding[index] for index in range(len(self.model.tables))),
                table=columns[0].astype(np.int32),
                rank=columns[1].astype(np.int32),
                row_begin=columns[2],
                rows=columns[3],
                dim_begin=columns[4].astype(np.int32),
                dims=columns[5].astype(np.int32),
                tier=columns[6].astype(np.uint8),
            )
        except ShardError as error:
            where = dict.fromkeys(self.where[shard] for shard in error.shards)
            places = " and ".join(f"line {each[1:]}" if each[:1] == ":" else each.strip() for each in where)
            what = str(error).removeprefix(f"{self.model.source}: ")
            at = f" (at {places})" if places else ""
            raise self.error("", f"{what}{at}") from None


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."
