# SPDX-License-Identifier: GPL-2.0-only
"""A plan's file without the model that it is about: its tables, as far as the shards tell, and its ranks.

Rows and columns are those up to the last shard's end; what a table is looked up and its elements' type are not in the
file. So a plan that is read this way can be checked and written again, and not be run.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from astra_py.workloads.dlrm.model import DlrmModel, Dtypes, EmbeddingTable
from astra_py.workloads.dlrm.plan_files import PlanFile, parse_plan, read_plan_file
from astra_py.workloads.dlrm.plan_rows import PlanRows

__all__ = ["read_plan_alone"]

#: More ranks than any job has.
_MOST_RANKS = 2**20
_ANY = "fp32"


def read_plan_alone(path: str | Path, ranks: int | None = None) -> PlanFile:
    """Read a plan without its model.

    Parameters
    ----------
    path : the file.
    ranks : number of ranks of the job; as many as the shards need where None.

    Raises
    ------
    WorkloadError : as :func:`~astra_py.workloads.dlrm.plan_files.read_plan_file`; or the size of a data-parallel table
        is not in the file.
    """
    outline = _Outline(str(path))
    parse_plan(outline, Path(path))
    return read_plan_file(path, outline.model_of_shards(), max(ranks or 1, outline.most_rank + 1))


class _Outline(PlanRows):
    """Takes any table and rank, and keeps no shard but how far each table's go."""

    def __init__(self, source: str) -> None:
        super().__init__(source, _model((_table("none", 1, 1),)), _MOST_RANKS)
        self.names: dict[str, int] = {}
        self.ends: dict[int, tuple[int, int]] = {}
        self.most_rank = 0

    def table(self, where: str, name: object, sharding: object) -> int:
        known = str(name)
        self.names.setdefault(known, len(self.names))
        self._index = self.names
        return super().table(where, known, sharding)

    def name(self, index: int) -> str:
        return list(self.names)[index]

    def add(self, where: str, index: int, rank: int, cells: Sequence[int], tier: int) -> None:
        row_begin, rows, dim_begin, dims = cells
        self.most_rank = max(self.most_rank, rank)
        height, width = self.ends.get(index, (0, 0))
        self.ends[index] = max(height, row_begin + rows), max(width, dim_begin + dims)

    def add_everywhere(self, where: str, index: int, tier: int, cells: Sequence[int] | None = None) -> None:
        if cells is None:
            raise self.error(
                where,
                f"table {self.name(index)!r} is data parallel, and its size is not in the file; allowed here: plans "
                "that say it. With its model, workload.plan takes the file",
            )
        self.add(where, index, 0, cells, tier)

    def model_of_shards(self) -> DlrmModel:
        """A model with tables of the shards' extents."""
        for name, index in self.names.items():
            if min(self.ends.get(index, (0, 0))) < 1:
                raise self.error("", f"table {name!r} has no shard; allowed: one at least")
        return _model(tuple(_table(name, *self.ends[index]) for name, index in self.names.items()), self.source)


def _table(name: str, rows: int, dim: int) -> EmbeddingTable:
    return EmbeddingTable(name=name, rows=rows, dim=dim, pooling=1, dtype=_ANY)


def _model(tables: tuple[EmbeddingTable, ...], source: str = "a plan") -> DlrmModel:
    dtypes: dict[str, Any] = dict.fromkeys(Dtypes.__dataclass_fields__, _ANY)
    return DlrmModel(
        name="tables of a plan",
        source=source,
        bottom=(1, 1),
        top=(1,),
        interaction="concatenation",
        tables=tables,
        local_batch=1,
        dtypes=Dtypes(**dtypes),
    )
