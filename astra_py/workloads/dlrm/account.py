# SPDX-License-Identifier: GPL-2.0-only
"""What a run says of its DLRM: the model, the plan, the volumes and the times, a sentence each."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from astra_py.workloads.dlrm.batches import Batches
from astra_py.workloads.dlrm.dtypes import DTYPE_BYTES
from astra_py.workloads.dlrm.exchanges import Exchanges
from astra_py.workloads.dlrm.model import DlrmModel
from astra_py.workloads.dlrm.sharding import Sharding, Tier
from astra_py.workloads.dlrm.step_times import StepTimes
from astra_py.workloads.dlrm.text import rounded_size, span, widths

if TYPE_CHECKING:
    from astra_py.config import WorkloadConfig
    from astra_py.workloads.dlrm.plan import Plan

__all__ = ["model_note", "plan_note", "scaling_note", "time_note", "volume_notes"]

#: Ranks up to which a plan is printed rank by rank.
_MOST_RANKS_LISTED = 32


def model_note(model: DlrmModel, batches: Batches) -> str:
    """The model's figures, and the batch."""
    parameters = sum(table.rows * table.dim for table in model.tables)
    projected = f", projected to {model.projection:,}" if model.projection is not None else ""
    dropped = f"; {batches.dropped} samples of the global batch are left out" if batches.dropped else ""
    parts = f", in {batches.micro_batches} micro-batches" if batches.micro_batches > 1 else ""
    return (
        f"{model.source}: DLRM {model.name}, bottom MLP {widths(model.bottom)}, {len(model.tables)} tables with "
        f"{parameters:.4g} parameters and a sum of dims of {model.sum_of_dims:,}, {model.interaction} to "
        f"{model.interaction_width:,}{projected}, top MLP {widths(model.top)}; local batch "
        f"{span(batches.local, '')}{parts}, global {batches.samples}{dropped}"
    )


def plan_note(exchanges: Exchanges, memory_bytes: int, sharder: str) -> str:
    """How tables are divided and by whom, what each rank has, how uneven that is, and how much memory it takes."""
    plan = exchanges.plan
    counts = Counter(plan.sharding)
    if set(counts) == {Sharding.TABLE_WISE}:
        ways, unit = f"table-wise sharding, {sharder}", "tables"
    else:
        found = ", ".join(f"{counts[way]} {way}" for way in Sharding if way in counts)
        ways, unit = f"tables are {found}{_undivided(plan)}, {sharder}", "shards"
    by_rank = ""
    if plan.ranks <= _MOST_RANKS_LISTED:
        by_rank = "; sums of dims by rank: " + " ".join(map(str, plan.rank_dims.tolist()))
    own = span(plan.rank_memory_bytes(Tier.HBM) / 1e9, ".4g")
    host = plan.rank_memory_bytes(Tier.HOST)
    in_host = f" and {span(host / 1e9, '.4g')} GB in its host's memory" if host.any() else ""
    return (
        f"{ways}: {span(plan.rank_shards)} {unit} a rank, "
        f"sum of dims {span(plan.rank_dims)}, "
        f"{own} GB of an accelerator's {memory_bytes / 1e9:g} GB{in_host}; "
        f"{_sent(exchanges)}{by_rank}"
    )


def _undivided(plan: Plan) -> str:
    """How many tables are to be divided by columns and are whole: too narrow, or on one rank."""
    columns = [i for i, way in enumerate(plan.sharding) if way == Sharding.COLUMN_WISE]
    whole = int((np.bincount(plan.table, minlength=len(plan.sharding))[columns] == 1).sum())
    return f" ({whole} of those column_wise in one piece)" if whole else ""


def _sent(exchanges: Exchanges) -> str:
    """How uneven the all-to-all of pooled vectors is."""
    plan, pooled = exchanges.plan, exchanges.pooled()
    if not pooled.any():
        return "no rank sends vectors in an all-to-all-v forward, all are added up"
    bytes_out = pooled.sum(axis=1) - np.diagonal(pooled)
    most, least = rounded_size(bytes_out.max()), rounded_size(bytes_out.min())
    if plan.ranks > 1 and bytes_out.min() == 0:
        without = int((bytes_out == 0).sum())
        return f"{without} of {plan.ranks} ranks send no all-to-all-v forward, the others up to {most}"
    ratio = bytes_out.max() / bytes_out.min() if plan.ranks > 1 else math.nan
    return f"all-to-all-v bytes sent forward: {most} at most, {least} at least, max/min over ranks {ratio:.2f}"


#: Continues "indices and lengths ..." by ``workload.index_exchange``.
_INDEX_WORDS = {
    "in_step": "sent before the lookup",
    "prefetched": "sent in the iteration before",
    "none": "not sent: workload.index_exchange = 'none'",
}


def volume_notes(exchanges: Exchanges, index_exchange: str) -> list[str]:
    """What a rank receives and sends in an iteration, with the closed forms; of the rank with the largest batch."""
    model, dtypes, plan = exchanges.model, exchanges.model.dtypes, exchanges.plan
    batch = model.local_batch
    of_groups = sum(group.dims for group in exchanges.groups)
    dims = int(exchanges.dims.sum())
    lookups = int(plan.rank_lookups.sum())
    asked = int((~plan.is_data_parallel).sum())
    lengths = f"{batch * asked} x {DTYPE_BYTES[dtypes.lengths]} B"
    reduced = [exchanges.dense(layer) for layer in (*model.bottom_layers, *model.top_layers)]
    scale = f", scaled by {exchanges.scale:g}" if exchanges.scale != 1 else ""
    elements = f"{batch} x {dims}"
    forward, backward = (
        f" ({elements} x {DTYPE_BYTES[dtype]} B)" if exchanges.volumes == "pooled" else ""
        for dtype in (dtypes.forward_all_to_all, dtypes.backward_all_to_all)
    )
    replicas = [exchanges.replica(table) for table in exchanges.replicated]
    tables = f" and {len(replicas)} data-parallel tables of {rounded_size(sum(replicas))}" if replicas else ""
    pooled = exchanges.pooled()
    parts = [
        f"pooled vectors in {rounded_size(pooled.sum(axis=0).max())}{forward}, "
        f"gradients out {rounded_size(exchanges.gradients().sum(axis=1).max())}{backward}",
        f"indices and lengths out {rounded_size(exchanges.indices().sum(axis=1).max())} "
        f"({lookups} x {DTYPE_BYTES[dtypes.indices]} B + {lengths}), "
        f"{_INDEX_WORDS[index_exchange]}",
    ]
    present = ", ".join(part for part, size in zip(parts, (pooled.any(), asked), strict=True) if size)
    notes = [
        f"a rank and iteration, its own part included{scale}: {present}{'; ' if present else ''}"
        f"{len(reduced)} all-reduces of {rounded_size(sum(reduced))} together{tables}"
    ]
    if of_groups:
        scattered = [exchanges.scattered(group) for group in exchanges.groups]
        passed_on = rounded_size(exchanges.sums().sum())
        notes.append(
            f"tables divided by rows: {len(scattered)} group{'s' * (len(scattered) > 1)} of ranks reduce-scatter "
            f"{rounded_size(sum(scattered))} together forward and all-gather as many elements backward; "
            f"{passed_on} of sums go on to ranks outside their group"
        )
    if exchanges.volumes == "mad_max":
        notes.append(
            "workload.volumes = 'mad_max': bytes of vectors are those of all looked-up rows in 4 B an element over the "
            "ranks, which no DLRM exchanges"
        )
    return notes


def time_note(times: StepTimes, source: str, config: WorkloadConfig) -> str:
    """What a rank computes in an iteration, where the times come from, and what takes none."""
    optimizer = "the dense weights' update" if config.optimizer == "none" else ""
    without = ", ".join(part for part in ("biases", "projections", optimizer) if part)
    replicas = f"data-parallel tables {span(2 * times.replica_ps / 1e6, ',.5g')}, " if times.replica_ps.any() else ""
    return (
        f"compute in us a rank and iteration: lookup {span(times.lookup_ps / 1e6, ',.5g')}, update "
        f"{span(times.update_ps / 1e6, ',.5g')}, {replicas}dense layers {span(times.dense_ps / 1e6, ',.5g')}, "
        f"interaction {span(times.interaction_forward_ps / 1e6, ',.5g')} and back "
        f"{span(times.interaction_backward_ps / 1e6, ',.5g')} ({source}); no time for: {without}"
    )


def scaling_note(model: DlrmModel, config: WorkloadConfig) -> str:
    """Which quantities go by the number of ranks, and which are fixed by the model's description."""
    batch = "the local batch" if config.global_batch is not None else "the global batch"
    fixed = "the global batch" if config.global_batch is not None else "the local batch"
    times = "compute times, " if model.times is not None else ""
    return (
        f"with the number of ranks go: {batch}, the samples whose rows each shard looks up, what each rank sends of "
        f"its vectors; fixed by the description: {fixed}, {times}tables, MLPs and the all-reduces' bytes"
    )
