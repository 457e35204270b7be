# SPDX-License-Identifier: GPL-2.0-only
"""Sharders: from a model and the ranks' memory to a plan."""

from __future__ import annotations

from collections.abc import Mapping

from astra_py.workloads.dlrm.memory import Memory
from astra_py.workloads.dlrm.model import DlrmModel
from astra_py.workloads.dlrm.plan import Plan
from astra_py.workloads.dlrm.sharders.bins import NoRoomError
from astra_py.workloads.dlrm.sharders.costs import share_costs
from astra_py.workloads.dlrm.sharders.estimate import Rates, plan_seconds
from astra_py.workloads.dlrm.sharders.greedy import place_greedy
from astra_py.workloads.dlrm.sharders.karmarkar_karp import place_karmarkar_karp
from astra_py.workloads.dlrm.sharders.parts import MIN_SHARD_DIM, Division, Parts, Placement, column_counts, divide
from astra_py.workloads.dlrm.sharders.planner import Judge, Proposal, find_plan
from astra_py.workloads.dlrm.sharders.tiers import Placer, place_in_tiers
from astra_py.workloads.dlrm.sharding import Sharding

__all__ = [
    "MIN_SHARD_DIM",
    "PLACERS",
    "Division",
    "Judge",
    "NoRoomError",
    "Parts",
    "Placement",
    "Proposal",
    "Rates",
    "divide",
    "find_plan",
    "place_greedy",
    "place_karmarkar_karp",
    "plan_seconds",
    "shard",
    "shard_table_wise",
    "share_costs",
]

#: Ways to balance costs by name.
PLACERS: Mapping[str, Placer] = {"greedy": place_greedy, "karmarkar_karp": place_karmarkar_karp}


def shard(
    model: DlrmModel,
    memory: Memory,
    *,
    sharder: str = "greedy",
    sharding: Sharding = Sharding.TABLE_WISE,
    min_shard_dim: int = MIN_SHARD_DIM,
) -> Plan:
    """Divide all tables in one way and balance the parts over the ranks.

    Parameters
    ----------
    model : whose tables.
    memory : what the ranks have.
    sharder : a name in :data:`PLACERS`.
    sharding : how tables are divided. Column-wise, into as many shards as ``min_shard_dim`` allows.
    min_shard_dim : least columns of a column-wise shard.

    Raises
    ------
    WorkloadError : the tables do not fit; says why and what would help.
    """
    if sharding is Sharding.COLUMN_WISE:
        most = [max(column_counts(table.dim, min_shard_dim), default=1) for table in model.tables]
        divisions = [Division(sharding, columns) for columns in most]
    else:
        divisions = [Division(sharding)] * len(model.tables)
    parts = divide(model, memory, divisions)
    costs = share_costs(parts)
    return parts.plan(place_in_tiers(parts, lambda _: costs, PLACERS[sharder]))


def shard_table_wise(model: DlrmModel, ranks: int, memory_bytes: int) -> Plan:
    """Assign each table whole to a rank, longest first, with ``memory_bytes`` for each accelerator and no host tier.

    Raises
    ------
    WorkloadError : the tables do not fit; says why and what would help.
    """
    return shard(model, Memory.of_ranks(ranks, memory_bytes))
