# SPDX-License-Identifier: GPL-2.0-only
"""What TorchRec's planner takes a sharding plan's embeddings to cost, by its public formulas and constants.

Source: github.com/pytorch/torchrec, ``torchrec/distributed/planner``: ``constants.py``, ``EmbeddingPerfEstimator`` of
``shard_estimators.py``, tables pooled and unweighted, training, no cache; a plan costs what its slowest rank does
(``NoopPerfModel`` of ``perf_models.py``). It knows no schedule: a rank's shards follow one another, all of a batch's
vectors go over one bandwidth, that between hosts as soon as there are two, and nothing overlaps. Its "GB/s" is 2^30
B/s.

With b samples a rank, n ranks, L of them on a host, pooling factor p, d columns and e bytes an element:

- *table-wise, column-wise*: reads ``8 b p n`` of indices and ``b p n max(d, 32) e`` of rows, writes ``b n d`` elements,
  slower below 128 columns; these go both ways between ranks.
- *row-wise, table-row-wise*: a rank has an n-th, or L-th, of the lookups; vectors are reduced and copied in batches.
- *data-parallel*: its own samples' lookups by the dense kernel; an all-reduce of the table, and the optimiser's
  element-wise kernels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from astra_py.errors import WorkloadError
from astra_py.workloads.dlrm.dtypes import DTYPE_BYTES
from astra_py.workloads.dlrm.plan import Plan
from astra_py.workloads.dlrm.sharding import TIERS, Sharding, Tier
from astra_py.workloads.trace import Trace
from astra_py.workloads.trace_builder import TraceBuilder

__all__ = ["PlannerEstimate", "estimate_plan", "planner_trace"]

F64 = NDArray[np.float64]

#: Its unit of bandwidth (constants.py: x * 1024 * 1024 * 1024 / 1000 bytes a ms).
GIB_PER_S = 2**30
#: constants.py: INTRA_NODE_BANDWIDTH, CROSS_NODE_BANDWIDTH, HBM_MEM_BW, HBM_TO_DDR_MEM_BW.
INTRA_HOST_BPS = 600 * GIB_PER_S
INTER_HOST_BPS = 12.5 * GIB_PER_S
HBM_BPS = 897 * GIB_PER_S
HBM_TO_HOST_BPS = 32 * GIB_PER_S
#: kernel_bw_lookup: kernels "fused", "dense" (data-parallel tables), "fused_uvm" (tables in host memory).
FUSED_BPS = HBM_BPS
DENSE_BPS = 0.5 * HBM_BPS
FUSED_UVM_BPS = HBM_TO_HOST_BPS / 10
#: Bytes of an index (BIGINT_DTYPE).
INDEX_BYTES = 8
#: FULL_BLOCK_EMB_DIM; HALF_BLOCK_PENALTY from half of it, QUARTER_BLOCK_PENALTY below.
FULL_BLOCK_DIM, HALF_BLOCK_PENALTY, QUARTER_BLOCK_PENALTY = 128, 1.15, 1.75
#: Fewest columns that a lookup kernel reads.
LEAST_DIM = 32
BWD_COMPUTE_MULTIPLIER = 2.0
BATCHED_COPY_PERF_FACTOR = 2.455
DP_ELEMENTWISE_KERNELS_PERF_FACTOR = 9.22

#: What a rank does in an iteration, in order; columns of :class:`PlannerEstimate`.
STEPS = ("forward_compute", "forward_communication", "backward_communication", "backward_compute")


@dataclass(frozen=True, eq=False)
class PlannerEstimate:
    """Seconds of each rank's shards, one after another; each f64[ranks]."""

    forward_compute: F64
    forward_communication: F64
    backward_communication: F64
    backward_compute: F64

    @property
    def total(self) -> F64:
        """f64[ranks]: all of it; a plan costs the largest."""
        forward = self.forward_compute + self.forward_communication
        return forward + self.backward_communication + self.backward_compute

    @property
    def note(self) -> str:
        """What the estimate is, and why a simulated iteration is something else."""
        slowest = int(self.total.argmax())
        parts = ", ".join(f"{step.replace('_', ' ')} {getattr(self, step)[slowest] * 1e3:.3f} ms" for step in STEPS)
        return (
            f"analytic.mode = 'torchrec': TorchRec's planner takes this plan to cost {self.total[slowest] * 1e3:.3f} "
            f"ms, on rank {slowest} ({parts}). It has embeddings alone, by constants of its own (HBM 897, links inside "
            "hosts 600, between them 12.5, each x 2^30 B/s) whatever the platform; nothing overlaps, dense layers and "
            "indices on the network take no time, and no byte is on any link"
        )


def estimate_plan(plan: Plan, machines: NDArray[np.int32]) -> PlannerEstimate:
    """Return what the planner takes each rank's shards to cost.

    Parameters
    ----------
    plan : the shards; the model has the samples of a rank and the types on the wire.
    machines : i32[ranks], the host of each rank.

    Raises
    ------
    WorkloadError : hosts have different numbers of ranks, which its topology does not know.
    """
    counts = np.unique_counts(machines).counts
    if (counts != counts[0]).any():
        raise WorkloadError(
            f"TorchRec's planner has as many ranks on each host; here they are {counts.min()} to {counts.max()}"
        )
    shards = _Shards(plan, plan.ranks, int(counts[0]))
    per_shard = np.zeros((len(STEPS), len(plan.table)))
    for sharding in Sharding:
        mine = np.array([each == sharding for each in plan.sharding], dtype=np.bool_)[plan.table]
        if mine.any():
            per_shard[:, mine] = np.stack(shards.costs(sharding))[:, mine]
    per_rank = np.zeros((len(STEPS), plan.ranks))
    for step, costs in enumerate(per_shard):
        np.add.at(per_rank[step], plan.rank, costs)
    return PlannerEstimate(*per_rank)


_Costs = tuple[F64, F64, F64, F64]


class _Shards:
    """Figures of all shards, f64[shards]; costs are worked out as if all were sharded alike."""

    def __init__(self, plan: Plan, world: int, local: int) -> None:
        tables, dtypes = plan.model.tables, plan.model.dtypes
        self.world, self.local = world, local
        self.samples = float(plan.model.local_batch)
        self.lookups = self.samples * np.array([table.pooling for table in tables], dtype=np.float64)[plan.table]
        self.element = plan.element_bytes.astype(np.float64)
        self.dims = plan.dims.astype(np.float64)
        self.rows = plan.rows.astype(np.float64)
        self.forward_element = DTYPE_BYTES[dtypes.forward_all_to_all]
        self.backward_element = DTYPE_BYTES[dtypes.backward_all_to_all]
        self.kernel = np.where(plan.tier == TIERS.index(Tier.HOST), FUSED_UVM_BPS, FUSED_BPS)
        self.between = INTER_HOST_BPS if world > local else INTRA_HOST_BPS

    def costs(self, sharding: Sharding) -> _Costs:
        """Costs of the steps, in their order."""
        match sharding:
            case Sharding.TABLE_WISE | Sharding.COLUMN_WISE:
                return self._table_wise()
            case Sharding.ROW_WISE:
                return self._by_rows(self.world)
            case Sharding.TABLE_ROW_WISE:
                return self._by_rows(self.local)
            case Sharding.DATA_PARALLEL:
                return self._data_parallel()

    def _table_wise(self) -> _Costs:
        indices = np.ceil(self.lookups * self.world * INDEX_BYTES)
        rows = self.lookups * self.world * np.maximum(self.dims, LEAST_DIM) * self.element
        vectors = self.samples * self.world * self.dims
        half = np.where(self.dims < FULL_BLOCK_DIM / 2, QUARTER_BLOCK_PENALTY, HALF_BLOCK_PENALTY)
        penalty = np.where(self.dims < FULL_BLOCK_DIM, half, 1.0)
        forward = (indices + rows + vectors * self.forward_element) * penalty / self.kernel
        to, back = (vectors * element / self.between for element in (self.forward_element, self.backward_element))
        return forward, to, back, forward * BWD_COMPUTE_MULTIPLIER

    def _by_rows(self, holders: int) -> _Costs:
        lookups = self.lookups / holders * self.world
        vectors = self.samples * self.world * self.dims
        sums, gradients = vectors * self.forward_element, vectors * self.backward_element
        forward = (np.ceil(lookups * INDEX_BYTES) + lookups * self.dims * self.element + sums) / self.kernel
        copied = gradients * BATCHED_COPY_PERF_FACTOR / self.kernel
        backward = forward * BWD_COMPUTE_MULTIPLIER
        if holders == self.world:
            return forward, sums / self.between, gradients / self.between + copied, backward
        to = sums / INTRA_HOST_BPS
        if self.world > self.local:
            to = to + sums * (self.local / self.world) / INTER_HOST_BPS
        return forward, to, gradients / INTRA_HOST_BPS + copied, backward

    def _data_parallel(self) -> _Costs:
        indices = np.ceil(self.lookups * INDEX_BYTES)
        rows = self.lookups * self.dims * self.element
        forward = (indices + rows + self.samples * self.dims * self.element) / DENSE_BPS
        table = self.rows * self.dims * self.element
        hosts = min(self.world / self.local, 2)
        reduced = table * (2 * hosts - 1) / hosts / (INTER_HOST_BPS * self.local)
        if self.world > 2 * self.local:
            reduced = reduced * 2
        optimiser = table * DP_ELEMENTWISE_KERNELS_PERF_FACTOR / DENSE_BPS
        return forward, np.zeros_like(forward), reduced + optimiser, forward * BWD_COMPUTE_MULTIPLIER


def planner_trace(estimate: PlannerEstimate, iterations: int) -> Trace:
    """Return each rank's steps, one after another, as compute and, for communication, as memory work.

    No byte is on any link: the planner estimates no collective. So an iteration's exposed time is its communication.
    """
    ranks = np.arange(len(estimate.total))
    build = TraceBuilder(len(ranks))
    last = None
    for iteration in range(iterations):
        for step in STEPS:
            duration = np.round(getattr(estimate, step) * 1e12).astype(np.int64)
            add = build.memory if step.endswith("communication") else build.compute
            last = add(ranks, duration, name=f"planner.{step}", after=last, iteration=iteration)
    return build.build()
