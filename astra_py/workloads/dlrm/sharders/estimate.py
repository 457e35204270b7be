# SPDX-License-Identifier: GPL-2.0-only
"""Closed forms of what sharded tables cost an iteration, by which plans are compared before anything is simulated.

With b samples a rank, R ranks, e bytes of a vector's element, and of a table divided by rows n holders:

- *whole rows* (table-wise, column-wise): the holder takes in indices, sends ``b x dims x e`` to every other rank and
  gets as much back: to ranks of its machine at the rate inside, to others at the rate between machines;
- *by rows*: the holders reduce-scatter an array of ``R x b x dims x e``, ``(n-1)/n`` of it from each, at the rate
  between where they are in several machines, and each passes ``(R-n)/n x b x dims x e`` on; backward is the mirror;
- *data parallel*: an all-reduce of the table, ``2 (R-1)/R`` of it from each rank.

A phase takes as long as its slowest rank, and the phases (indices, lookup, forward, backward, update) one after
another: overlap with dense layers, latency and contention are left to the engines.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from astra_py.workloads.dlrm.dtypes import DTYPE_BYTES
from astra_py.workloads.dlrm.plan import Plan
from astra_py.workloads.dlrm.sharders.parts import Parts, Scope
from astra_py.workloads.dlrm.sharding import Tier

__all__ = ["Rates", "part_seconds", "plan_seconds"]

F64 = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Rates:
    """What a rank reaches, in bytes a second.

    Attributes
    ----------
    hbm_Bps, host_Bps : lookups in the accelerator's memory and in the host's.
    inside_Bps, between_Bps : to ranks of its machine and to others, each way.
    """

    hbm_Bps: float  # noqa: N815  (b is bit and B is byte)
    host_Bps: float  # noqa: N815
    inside_Bps: float  # noqa: N815
    between_Bps: float  # noqa: N815


def part_seconds(parts: Parts, rates: Rates, is_host: NDArray[np.bool_] | None = None) -> F64:
    """f64[parts]: what a part costs each rank that holds some of it; the sum over all phases.

    Parameters
    ----------
    parts : parts of tables.
    rates : what a rank reaches.
    is_host : bool[parts], which are in the hosts' memory; none where None.
    """
    model, memory = parts.model, parts.memory
    batch, ranks, n = model.local_batch, memory.ranks, parts.widths.astype(np.float64)
    dtypes = model.dtypes
    vector = float(DTYPE_BYTES[dtypes.forward_all_to_all] + DTYPE_BYTES[dtypes.backward_all_to_all])
    a_machine = float(np.bincount(memory.machines).min())
    lookups = np.where(parts.is_replicated, 1, ranks) * parts.lookups / n
    memory_Bps = np.where(False if is_host is None else is_host, rates.host_Bps, rates.hbm_Bps)  # noqa: N806
    looked_up = 2 * lookups * parts.dims * parts.element_bytes / memory_Bps
    asked = parts.lookups / n * DTYPE_BYTES[dtypes.indices] + batch * DTYPE_BYTES[dtypes.lengths]
    is_rank = parts.scope == Scope.RANK
    is_inside = n <= a_machine
    spread = asked + np.where(is_rank, batch * parts.dims * vector, 0)
    exchanged = (ranks - a_machine) * spread / rates.between_Bps + (a_machine - 1) * spread / rates.inside_Bps
    array = ranks * batch * parts.dims * vector
    rows = (n - 1) / n * array / np.where(is_inside, rates.inside_Bps, rates.between_Bps)
    rows += (ranks - n) / n * batch * parts.dims * vector / rates.between_Bps
    table = parts.rows * parts.dims * parts.element_bytes
    reduced = 2 * (ranks - 1) / ranks * table / (rates.between_Bps if ranks > a_machine else rates.inside_Bps)
    wire = exchanged + np.where(is_rank, 0, rows)
    seconds: F64 = looked_up + np.where(parts.is_replicated, reduced, wire)
    return seconds


def plan_seconds(plan: Plan, machines: NDArray[np.int32], rates: Rates) -> float:
    """Time of a plan's embedding phases in an iteration, in seconds.

    Parameters
    ----------
    plan : whose.
    machines : i32[ranks], the machine of each rank.
    rates : what a rank reaches.
    """
    model, ranks = plan.model, plan.ranks
    batch, dtypes = model.local_batch, model.dtypes
    peers = np.bincount(machines)[machines].astype(np.float64) - 1  # ranks of a rank's machine beside itself

    def across(a_rank: F64) -> F64:
        """Time to exchange as many bytes with every other rank."""
        times: F64 = (ranks - 1 - peers) * a_rank / rates.between_Bps + peers * a_rank / rates.inside_Bps
        return times

    def total(figures: NDArray[np.float64] | NDArray[np.int64]) -> F64:
        return np.bincount(plan.rank, weights=figures, minlength=ranks).astype(np.float64)

    whole = ~plan.is_by_rows & ~plan.is_data_parallel
    lookups = np.where(plan.is_data_parallel, 0, plan.lookups(batch)).astype(np.float64)
    sent = np.where(plan.is_data_parallel, 0, batch * DTYPE_BYTES[dtypes.lengths])
    asked = total(lookups * DTYPE_BYTES[dtypes.indices] + sent)
    indices = max(float(across(asked).max()), float(across(np.full(ranks, asked.mean())).max()))
    host = plan.tier_is(Tier.HOST)
    read = plan.lookup_bytes.astype(np.float64)
    lookup = total(np.where(host, 0, read)) / rates.hbm_Bps + total(np.where(host, read, 0)) / rates.host_Bps
    elements = total(np.where(whole, batch * plan.dims, 0))
    pooled = np.maximum(across(elements), across(np.full(ranks, elements.mean())))
    summed = total(_by_rows(plan, machines, rates))
    vectors = DTYPE_BYTES[dtypes.forward_all_to_all] + DTYPE_BYTES[dtypes.backward_all_to_all]
    slowest = rates.between_Bps if int(machines.max()) else rates.inside_Bps
    replicas = float(plan.memory_bytes[plan.is_data_parallel].sum()) / ranks
    reduced = 2 * (ranks - 1) / ranks * replicas / slowest
    return indices + 2 * float(lookup.max()) + float((pooled + summed).max()) * vectors + reduced


def _by_rows(plan: Plan, machines: NDArray[np.int32], rates: Rates) -> F64:
    """f64[shards]: seconds for a byte an element that a shard of a table divided by rows costs its rank's wires."""
    batch, ranks = plan.model.local_batch, plan.ranks
    tables = len(plan.model.tables)
    n = np.bincount(plan.table, minlength=tables)[plan.table].astype(np.float64)
    machine = machines[plan.rank]
    first = np.full(tables, np.iinfo(np.int32).max, dtype=np.int32)
    last = np.zeros(tables, dtype=np.int32)
    np.minimum.at(first, plan.table, machine)
    np.maximum.at(last, plan.table, machine)
    rate = np.where((first == last)[plan.table], rates.inside_Bps, rates.between_Bps)
    elements = batch * plan.dims.astype(np.float64)
    seconds = (n - 1) / n * ranks * elements / rate + (ranks - n) / n * elements / rates.between_Bps
    return np.where(plan.is_by_rows, seconds, 0.0)
