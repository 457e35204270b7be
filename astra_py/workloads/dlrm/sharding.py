# SPDX-License-Identifier: GPL-2.0-only
"""The ways to divide an embedding table and the memories that hold the parts, in TorchRec's words."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from astra_py.errors import WorkloadError

__all__ = ["BY_ROWS", "TIERS", "ShardError", "Sharding", "Tier"]


class Sharding(StrEnum):
    """How a table is divided, as TorchRec writes it."""

    TABLE_WISE = "table_wise"
    """Whole, on one rank."""
    ROW_WISE = "row_wise"
    """By rows; each rank pools the rows that it has, and the sum of these parts is the vector."""
    COLUMN_WISE = "column_wise"
    """By columns; each shard makes its own elements of the vector."""
    TABLE_ROW_WISE = "table_row_wise"
    """By rows over the ranks of one machine."""
    DATA_PARALLEL = "data_parallel"
    """Whole, on every rank."""


class Tier(StrEnum):
    """A memory that holds shards."""

    HBM = "hbm"
    """The accelerator's own."""
    HOST = "host"
    """The host's, which the ranks of a machine share."""


#: Tiers by their number in :attr:`Plan.tier`.
TIERS = tuple(Tier)

#: Divisions by rows: vectors are sums of what several ranks pool.
BY_ROWS = (Sharding.ROW_WISE, Sharding.TABLE_ROW_WISE)


class ShardError(WorkloadError):
    """A plan that is none.

    Parameters
    ----------
    message : what is wrong, and what is allowed.
    shards : row numbers of the shards that it is about; empty where it is about one that is missing.
    """

    def __init__(self, message: str, shards: Sequence[int] = ()) -> None:
        super().__init__(message)
        self.shards = tuple(int(shard) for shard in shards)
