# SPDX-License-Identifier: GPL-2.0-only
"""What a plan means for each rank: memory, lookups, and bytes to and from others in an iteration.

Bytes are those of :class:`~astra_py.workloads.dlrm.exchanges.Exchanges`: all-to-all-v without a rank's own part, and of
a reduce-scatter or all-gather of n ranks ``(n-1)/n`` of the array, as an algorithm sends that sends nothing twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.workloads.dlrm.exchanges import Exchanges
from astra_py.workloads.dlrm.memory import Memory
from astra_py.workloads.dlrm.plan import Plan
from astra_py.workloads.dlrm.row_groups import RowGroup
from astra_py.workloads.dlrm.sharding import Sharding, Tier
from astra_py.workloads.dlrm.text import rounded_size

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FIGURES", "plan_notes", "plan_table", "rank_table"]

I64 = NDArray[np.int64]

#: Columns of :func:`rank_table` whose evenness is reported, and what they are called.
FIGURES = {
    "memory_bytes": "memory of tables and their state",
    "looked_up_bytes": "bytes looked up",
    "forward_out_bytes": "vectors sent forward",
    "forward_in_bytes": "vectors received forward",
    "index_in_bytes": "indices received",
}


def plan_table(plan: Plan) -> pd.DataFrame:
    """One row a shard: table, sharding, rank, row_begin, rows, dim_begin, dims, tier, memory_bytes, lookups."""
    import pandas as pd

    tables = plan.model.tables
    return pd.DataFrame(
        {
            "table": [tables[index].name for index in plan.table.tolist()],
            "sharding": [str(plan.sharding[index]) for index in plan.table.tolist()],
            "rank": plan.rank,
            "row_begin": plan.row_begin,
            "rows": plan.rows,
            "dim_begin": plan.dim_begin,
            "dims": plan.dims,
            "tier": [str(tuple(Tier)[tier]) for tier in plan.tier.tolist()],
            "memory_bytes": plan.memory_bytes,
            "lookups": plan.lookups(plan.model.local_batch),
        }
    )


def rank_table(exchanges: Exchanges, memory: Memory) -> pd.DataFrame:
    """One row a rank, of what its plan means with its samples, scale and volumes.

    Returns
    -------
    Columns ``rank``, ``shards``, ``memory_bytes`` (tables and their optimiser's state), ``host_bytes`` (of that, in the
    host's memory), ``looked_up_bytes`` (of all ranks' samples), and bytes to and from other ranks in an iteration:
    ``index_out_bytes``, ``index_in_bytes``, ``forward_out_bytes``, ``forward_in_bytes``, ``backward_out_bytes``,
    ``backward_in_bytes``; and ``replica_bytes`` of data-parallel tables' gradients that are all-reduced.
    """
    import pandas as pd

    plan = exchanges.plan
    size = memory.plan_bytes(plan)
    looked_up = plan.moved_bytes(exchanges.samples, plan.dims * plan.element_bytes)
    index_out, index_in = _sent_and_received(exchanges.indices())
    forward_out, forward_in = _sent_and_received(exchanges.pooled() + exchanges.sums())
    backward_out, backward_in = _sent_and_received(exchanges.gradients() + exchanges.sum_gradients())
    scattered, gathered = (_of_groups(exchanges, size_of) for size_of in (exchanges.scattered, exchanges.gathered))
    return pd.DataFrame(
        {
            "rank": np.arange(plan.ranks),
            "shards": plan.rank_shards,
            "memory_bytes": plan.per_rank(size),
            "host_bytes": plan.per_rank(np.where(plan.tier_is(Tier.HOST), size, 0)),
            "looked_up_bytes": plan.per_rank(looked_up),
            "index_out_bytes": index_out,
            "index_in_bytes": index_in,
            "forward_out_bytes": forward_out + scattered,
            "forward_in_bytes": forward_in + scattered,
            "backward_out_bytes": backward_out + gathered,
            "backward_in_bytes": backward_in + gathered,
            "replica_bytes": sum(exchanges.replica(table) for table in exchanges.replicated),
        }
    )


def plan_notes(exchanges: Exchanges, memory: Memory) -> tuple[str, ...]:
    """What the plan does, a sentence each: ways of sharding, memory, and how uneven each figure is over ranks."""
    plan = exchanges.plan
    tables, ways = plan.sharding, []
    for way in Sharding:
        if count := tables.count(way):
            shards = int(np.isin(plan.table, np.flatnonzero([each is way for each in tables])).sum())
            ways.append(f"{count} {way} in {shards} shards")
    figures = rank_table(exchanges, memory)
    holders = int((plan.rank_shards > 0).sum())
    host = int(figures["host_bytes"].sum())
    total = int(figures["memory_bytes"].sum())
    uneven = []
    for column, what in FIGURES.items():
        values = figures[column].to_numpy(dtype=np.float64)
        if values.max() > 0:
            uneven.append(
                f"{what} {rounded_size(int(values.max()))} at most, max/mean {values.max() / values.mean():.3f}"
            )
    return (
        f"{len(tables)} tables on {holders} of {plan.ranks} ranks: {', '.join(ways)}",
        f"{rounded_size(total)} of tables and state (optimiser {memory.optimizer}), {rounded_size(host)} of it in host "
        f"memory; {memory.has(plan.model)}",
        f"a rank and iteration: {'; '.join(uneven)}",
    )


def _sent_and_received(matrix: I64) -> tuple[I64, I64]:
    """Return what each rank sends to others, and receives, of a matrix of bytes; both i64[ranks]."""
    own = np.diagonal(matrix)
    return matrix.sum(axis=1) - own, matrix.sum(axis=0) - own


def _of_groups(exchanges: Exchanges, size_of: Callable[[RowGroup], int]) -> I64:
    """i64[ranks]: bytes that each rank sends, and as many that it receives, in its groups' collectives."""
    total = np.zeros(exchanges.plan.ranks, dtype=np.int64)
    for group in exchanges.groups:
        n = len(group.holders)
        total[group.holders] += size_of(group) * (n - 1) // n
    return total
