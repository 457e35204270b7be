# SPDX-License-Identifier: GPL-2.0-only
"""The tables of a DLRM's sharding plan: its shards, and what it means for each rank. Other jobs have none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from astra_py.results.columns import TABLES, Columns

if TYPE_CHECKING:
    from astra_py.results.record import RunRecord

__all__ = ["plan_ranks_table", "plan_table"]

#: numpy's name of a type where it is not pandas'.
_EMPTY = {"str": "object"}


def plan_table(record: RunRecord) -> Columns:
    """Columns of the table ``plan``, one row a shard."""
    return _of_job(record, "plan")


def plan_ranks_table(record: RunRecord) -> Columns:
    """Columns of the table ``plan_ranks``, one row a rank."""
    return _of_job(record, "plan_ranks")


def _of_job(record: RunRecord, table: str) -> Columns:
    columns = TABLES[table]
    if table not in record.job_tables:
        return {
            column.name: np.zeros(0, dtype="object" if column.dtype == "str" else column.dtype) for column in columns
        }
    made = record.job_tables[table]()
    return {column.name: made[column.name] for column in columns}
