# SPDX-License-Identifier: GPL-2.0-only
"""What a run says of its DLRM: the model, the plan, the volumes and the times, a sentence each."""

from __future__ import annotations

import math

from astra_py.workloads.dlrm.dtypes import DTYPE_BYTES
from astra_py.workloads.dlrm.exchanges import Exchanges
from astra_py.workloads.dlrm.model import DlrmModel
from astra_py.workloads.dlrm.sharding import Tier
from astra_py.workloads.dlrm.step_times import StepTimes
from astra_py.workloads.dlrm.text import rounded_size, span, widths

__all__ = ["model_note", "plan_note", "time_note", "volume_note"]

#: Ranks up to which a plan is printed rank by rank.
_MOST_RANKS_LISTED = 32


def model_note(model: DlrmModel, ranks: int) -> str:
    """The model's figures, and the batch on ``ranks`` ranks."""
    parameters = sum(table.rows * table.dim for table in model.tables)
    projected = f", projected to {model.projection:,}" if model.projection is not None else ""
    return (
        f"{model.source}: DLRM {model.name}, bottom MLP {widths(model.bottom)}, {len(model.tables)} tables with "
        f"{parameters:.4g} parameters and a sum of dims of {model.sum_of_dims:,}, {model.interaction} to "
        f"{model.interaction_width:,}{projected}, top MLP {widths(model.top)}; local batch {model.local_batch}, global "
        f"{model.local_batch * ranks}"
    )


def plan_note(exchanges: Exchanges, memory_bytes: int) -> str:
    """Which share each rank has, how uneven that is, and how much of an accelerator's memory it takes."""
    plan = exchanges.plan
    bytes_out = exchanges.pooled()[:, 0] * (plan.ranks - 1)
    most, least = rounded_size(bytes_out.max()), rounded_size(bytes_out.min())
    sent = f"all-to-all-v bytes sent forward: {most} at most, {least} at least, max/min over ranks {plan.imbalance:.2f}"
    if math.isinf(plan.imbalance):
        without = int((plan.rank_shards == 0).sum())
        sent = f"{without} of {plan.ranks} ranks hold no table, the others send up to {most} forward"
    tables = span(plan.rank_memory_bytes(Tier.HBM) / 1e9, ".4g")
    by_rank = ""
    if plan.ranks <= _MOST_RANKS_LISTED:
        by_rank = "; sums of dims by rank: " + " ".join(map(str, plan.rank_dims.tolist()))
    return (
        f"table-wise sharding, costliest table first: {span(plan.rank_shards)} tables a rank, "
        f"sum of dims {span(plan.rank_dims)}, "
        f"{tables} GB of an accelerator's {memory_bytes / 1e9:g} GB; {sent}{by_rank}"
    )


#: Continues "indices and lengths ..." by ``workload.index_exchange``.
_INDEX_WORDS = {
    "in_step": "sent before the lookup",
    "prefetched": "sent in the iteration before",
    "none": "not sent: workload.index_exchange = 'none'",
}


def volume_note(exchanges: Exchanges, index_exchange: str) -> str:
    """What a rank receives and sends in an iteration, with the closed forms; the same on every rank."""
    model, dtypes = exchanges.model, exchanges.model.dtypes
    elements = f"{model.local_batch} x {model.sum_of_dims}"
    lookups = int(exchanges.plan.rank_lookups.sum())
    lengths = f"{model.local_batch * len(model.tables)} x {DTYPE_BYTES[dtypes.lengths]} B"
    reduced = [exchanges.dense(layer) for layer in (*model.bottom_layers, *model.top_layers)]
    scale = f", scaled by {exchanges.scale:g}" if exchanges.scale != 1 else ""
    return (
        f"a rank and iteration, its own part included{scale}: "
        f"pooled vectors in {rounded_size(exchanges.pooled()[:, 0].sum())} "
        f"({elements} x {DTYPE_BYTES[dtypes.forward_all_to_all]} B), "
        f"gradients out {rounded_size(exchanges.gradients()[0].sum())} "
        f"({elements} x {DTYPE_BYTES[dtypes.backward_all_to_all]} B), "
        f"indices and lengths out {rounded_size(exchanges.indices()[0].sum())} "
        f"({lookups} x {DTYPE_BYTES[dtypes.indices]} B + {lengths}), "
        f"{_INDEX_WORDS[index_exchange]}; "
        f"{len(reduced)} all-reduces of {rounded_size(sum(reduced))} together"
    )


def time_note(times: StepTimes, source: str) -> str:
    """What a rank computes in an iteration, where the times come from, and what takes none."""
    return (
        f"compute in us a rank and iteration: lookup {span(times.lookup_ps / 1e6, ',.5g')}, update "
        f"{span(times.update_ps / 1e6, ',.5g')}, dense layers {times.dense_ps / 1e6:,.5g}, interaction "
        f"{times.interaction_forward_ps / 1e6:,.5g} and back {times.interaction_backward_ps / 1e6:,.5g} ({source}); no "
        "time for: biases, projections, the dense weights' update"
    )
