# SPDX-License-Identifier: GPL-2.0-only
"""Table-wise sharding: which rank holds which embedding table.

Each table goes whole to one rank, the costliest first, each to the rank with the least cost so far that has room for
it (Graham, 1969: longest processing time first; Mudigere et al., ISCA 2022, section 4.2.5, place tables so).

A table's cost is its share of all bytes that its owners put on or take from the wire, plus its share of all bytes that
they look up: ``wire / sum(wire) + lookup / sum(lookup)``. Both weigh the same and neither depends on the platform's
rates, so that a sweep over rates trains the same plan. What is balanced is the sum, so neither is even by itself.
"""

from __future__ import annotations

import heapq

import numpy as np

from astra_py.workloads.dlrm.dtypes import DTYPE_BYTES
from astra_py.workloads.dlrm.model import DlrmModel, EmbeddingTable
from astra_py.workloads.dlrm.plan import Plan
from astra_py.workloads.dlrm.text import rounded_size

__all__ = ["shard_table_wise", "table_costs"]


def table_costs(model: DlrmModel) -> list[int]:
    """Cost of each table as the module describes it, as exact integers: times the product of the two sums."""
    wire = [_wire_bytes(model, table) for table in model.tables]
    lookup = [table.lookups(model.local_batch) * table.row_bytes for table in model.tables]
    all_wire, all_lookup = sum(wire), sum(lookup)
    return [w * all_lookup + r * all_wire for w, r in zip(wire, lookup, strict=True)]


def shard_table_wise(model: DlrmModel, ranks: int, memory_bytes: int) -> Plan:
    """Assign each table to a rank.

    Parameters
    ----------
    model : whose tables.
    ranks : number of ranks.
    memory_bytes : memory of each accelerator; the dense weights and their gradients, which every rank has, go off it.

    Raises
    ------
    WorkloadError : a table, or all of them together, do not fit; or a table finds no rank with room left.
    """
    dense = 2 * model.dense_weights_bytes
    room = memory_bytes - dense
    has = (
        f"an accelerator has {rounded_size(memory_bytes)}, {rounded_size(dense)} for dense weights and their gradients"
    )
    sizes = [table.memory_bytes for table in model.tables]
    largest = max(range(len(sizes)), key=sizes.__getitem__)
    if sizes[largest] > room:
        raise model.error(
            f"table {model.tables[largest].name!r} needs {rounded_size(sizes[largest])} of memory, and {has}; "
            "table-wise sharding splits no table: allowed are smaller tables, or accelerators with more memory"
        )
    if sum(sizes) > ranks * room:
        raise model.error(
            f"{len(sizes)} tables need {rounded_size(sum(sizes))} of memory on {ranks} ranks, and {has}; "
            f"allowed are at least {-(-sum(sizes) // room)} ranks, smaller tables, or accelerators with more memory"
        )
    costs = table_costs(model)
    owner = np.empty(len(sizes), dtype=np.int32)
    left = [room] * ranks
    queue = [(0, rank) for rank in range(ranks)]  # (cost so far, rank), a heap
    for index in sorted(range(len(sizes)), key=lambda i: (-costs[i], i)):
        full = []
        while queue and left[queue[0][1]] < sizes[index]:
            full.append(heapq.heappop(queue))
        if not queue:
            raise model.error(
                f"table {model.tables[index].name!r} of {rounded_size(sizes[index])} finds no rank with room: the "
                f"costliest are placed first, and the most that is left is {rounded_size(max(left))}, where {has}; "
                "allowed are more ranks, smaller tables, or accelerators with more memory"
            )
        cost, rank = heapq.heappop(queue)
        owner[index] = rank
        left[rank] -= sizes[index]
        for entry in (*full, (cost + costs[index], rank)):
            heapq.heappush(queue, entry)
    return Plan.table_wise(model, ranks, owner)


def _wire_bytes(model: DlrmModel, table: EmbeddingTable) -> int:
    """Bytes between a table's owner and one rank in an iteration: indices, lengths, pooled vectors, gradients."""
    dtypes, batch = model.dtypes, model.local_batch
    vectors = DTYPE_BYTES[dtypes.forward_all_to_all] + DTYPE_BYTES[dtypes.backward_all_to_all]
    return (
        batch * table.dim * vectors
        + table.lookups(batch) * DTYPE_BYTES[dtypes.indices]
        + batch * DTYPE_BYTES[dtypes.lengths]
    )
