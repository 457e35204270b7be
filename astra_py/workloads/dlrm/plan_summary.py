# SPDX-License-Identifier: GPL-2.0-only
"""What a plan means for each rank: memory, lookups, and bytes to and from others in an iteration.

With b samples a rank, R ranks and e bytes of a vector's element, a shard with whole rows sends ``b x dims x e`` to each
other rank. The n holders of a table divided by rows reduce-scatter ``R x b x dim x e``, each sending ``(n-1)/n`` of it
and receiving as much, and pass what they added up for the other ``R - n`` ranks on, ``(R-n)/n x b x dim x e`` each.
Backward is the mirror, in its own type. Figures are those of algorithms that send nothing twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.workloads.dlrm.dtypes import DTYPE_BYTES
from astra_py.workloads.dlrm.memory import Memory
from astra_py.workloads.dlrm.plan import Plan
from astra_py.workloads.dlrm.sharding import Sharding, Tier
from astra_py.workloads.dlrm.text import rounded_size

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FIGURES", "plan_notes", "plan_table", "rank_table"]

F64 = NDArray[np.float64]

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


def rank_table(plan: Plan, memory: Memory) -> pd.DataFrame:
    """One row a rank.

    Returns
    -------
    Columns ``rank``, ``shards``, ``memory_bytes`` (tables and their optimiser's state), ``host_bytes`` (of that, in the
    host's memory), ``looked_up_bytes`` (of all ranks' samples), and bytes to and from other ranks in an iteration:
    ``index_out_bytes``, ``index_in_bytes``, ``forward_out_bytes``, ``forward_in_bytes``, ``backward_out_bytes``,
    ``backward_in_bytes``.
    """
    import pandas as pd

    dtypes = plan.model.dtypes
    size = memory.plan_bytes(plan)
    forward, backward = (DTYPE_BYTES[each] for each in (dtypes.forward_all_to_all, dtypes.backward_all_to_all))
    index_out, index_in = _indices(plan)
    out, into = _vectors(plan)
    return pd.DataFrame(
        {
            "rank": np.arange(plan.ranks),
            "shards": plan.rank_shards,
            "memory_bytes": plan.per_rank(size),
            "host_bytes": plan.per_rank(np.where(plan.tier_is(Tier.HOST), size, 0)),
            "looked_up_bytes": plan.rank_lookup_bytes,
            "index_out_bytes": index_out,
            "index_in_bytes": index_in,
            "forward_out_bytes": np.rint(out * forward).astype(np.int64),
            "forward_in_bytes": np.rint(into * forward).astype(np.int64),
            "backward_out_bytes": np.rint(into * backward).astype(np.int64),
            "backward_in_bytes": np.rint(out * backward).astype(np.int64),
        }
    )


def plan_notes(plan: Plan, memory: Memory) -> tuple[str, ...]:
    """What the plan does, a sentence each: ways of sharding, memory, and how uneven each figure is over ranks."""
    tables, ways = plan.sharding, []
    for way in Sharding:
        if count := tables.count(way):
            shards = int(np.isin(plan.table, np.flatnonzero([each is way for each in tables])).sum())
            ways.append(f"{count} {way} in {shards} shards")
    figures = rank_table(plan, memory)
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


def _indices(plan: Plan) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Bytes of indices and lengths that each rank sends to others, and receives; both i64[ranks]."""
    batch, dtypes = plan.model.local_batch, plan.model.dtypes
    asked = plan.lookups(batch) * DTYPE_BYTES[dtypes.indices] + batch * DTYPE_BYTES[dtypes.lengths]
    held = plan.per_rank(np.where(plan.is_data_parallel, 0, asked))
    return held.sum() - held, held * (plan.ranks - 1)


def _vectors(plan: Plan) -> tuple[F64, F64]:
    """Elements of vectors that each rank sends to others forward, and receives; both f64[ranks]."""
    batch, ranks, dims = plan.model.local_batch, plan.ranks, plan.dims.astype(np.float64)
    by_rows = plan.is_by_rows
    whole = ~by_rows & ~plan.is_data_parallel
    n = np.bincount(plan.table, minlength=len(plan.sharding))[plan.table].astype(np.float64)
    summed = np.where(by_rows, (n - 1) / n * ranks * batch * dims, 0)
    passed = np.where(by_rows, (ranks - n) / n * batch * dims, 0)

    def total(figures: F64) -> F64:
        return np.bincount(plan.rank, weights=figures, minlength=ranks).astype(np.float64)

    made = total(np.where(whole, batch * dims, 0))
    # of a table divided by rows, a rank that holds none of it gets the whole vectors of its samples
    held = total(np.where(by_rows, batch * dims, 0))
    all_by_rows = batch * sum(
        table.dim
        for table, sharding in zip(plan.model.tables, plan.sharding, strict=True)
        if sharding in (Sharding.ROW_WISE, Sharding.TABLE_ROW_WISE)
    )
    out = made * (ranks - 1) + total(summed + passed)
    into = made.sum() - made + total(summed) + (all_by_rows - held)
    return out, into
