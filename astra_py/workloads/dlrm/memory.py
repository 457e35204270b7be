# SPDX-License-Identifier: GPL-2.0-only
"""What memory the ranks of a DLRM have, and what takes it: tables, their optimiser's state, dense layers, activations.

- A shard takes ``rows x dims`` elements and its optimiser's state in FP32: nothing for SGD, a number a row for row-wise
  Adagrad (Mudigere et al., ISCA 2022, section 4.1.4), one an element for Adagrad, two for Adam. Gradients of sparse
  rows are fused with the update and take nothing (the same, section 4.1). A data-parallel table is trained as dense
  weights are: its gradients take as much as itself, and its state is that of their optimiser.
- Every rank has the dense weights, their gradients and their optimiser's state.
- Activations: what a batch leaves behind for the backward pass, every dense layer's input and output, the interaction's
  result, and the pooled vectors that came in with their gradients. Buffers of libraries are not counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from astra_py.errors import WorkloadError
from astra_py.workloads.dlrm.dtypes import DTYPE_BYTES
from astra_py.workloads.dlrm.model import DlrmModel
from astra_py.workloads.dlrm.plan import Plan
from astra_py.workloads.dlrm.sharding import Tier
from astra_py.workloads.dlrm.text import rounded_size

__all__ = ["STATES", "Memory", "activation_bytes", "require_room"]

I64 = NDArray[np.int64]

#: FP32 numbers of state by optimiser: (a row, an element).
STATES = {
    "none": (0, 0),
    "one_pass": (0, 0),
    "sgd": (0, 0),
    "row_wise_adagrad": (1, 0),
    "adagrad": (0, 1),
    "adam": (0, 2),
}
_STATE_BYTES = 4


@dataclass(frozen=True, kw_only=True, eq=False)
class Memory:
    """Two tiers, and the optimisers that decide what goes into them.

    Attributes
    ----------
    hbm_bytes : an accelerator's own memory.
    host_bytes : memory of a machine's host that its ranks share for tables; 0 where tables are in HBM alone.
    machines : i32[ranks], the machine of each rank, numbered from 0.
    optimizer : of the tables but data-parallel ones, a name in :data:`STATES`.
    dense_optimizer : of the dense weights and of data-parallel tables.
    """

    hbm_bytes: int
    machines: NDArray[np.int32]
    host_bytes: int = 0
    optimizer: str = "sgd"
    dense_optimizer: str = "sgd"

    @classmethod
    def of_ranks(cls, ranks: int, hbm_bytes: int) -> Memory:
        """Return the memory of machines of one rank without a host tier."""
        return cls(hbm_bytes=hbm_bytes, machines=np.arange(ranks, dtype=np.int32))

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return len(self.machines)

    @property
    def machine_count(self) -> int:
        """Number of machines."""
        return int(self.machines.max()) + 1

    def dense_bytes(self, model: DlrmModel) -> int:
        """Bytes of dense weights, gradients and state, the same on every rank."""
        states = model.dense_weights_bytes // DTYPE_BYTES[model.dtypes.weights] * STATES[self.dense_optimizer][1]
        return 2 * model.dense_weights_bytes + states * _STATE_BYTES

    def room_bytes(self, model: DlrmModel) -> int:
        """Bytes of an accelerator's memory that are left for tables; below 0 where the rest alone is too much."""
        return self.hbm_bytes - self.dense_bytes(model) - activation_bytes(model)

    def shard_bytes(self, rows: I64, dims: NDArray[Any], element_bytes: I64, is_replica: NDArray[np.bool_]) -> I64:
        """i64[shards]: bytes of shards with their optimiser's state, and with gradients where they are replicas."""
        of_replicas, of_others = STATES[self.dense_optimizer], STATES[self.optimizer]
        a_row, an_element = (np.where(is_replica, *pair) for pair in zip(of_replicas, of_others, strict=True))
        weights = rows * dims * element_bytes
        state = rows * (a_row + an_element * dims.astype(np.int64)) * _STATE_BYTES
        size: I64 = weights + state + np.where(is_replica, weights, 0)
        return size

    def plan_bytes(self, plan: Plan) -> I64:
        """i64[shards]: as :meth:`shard_bytes`, of a plan."""
        return self.shard_bytes(plan.rows, plan.dims, plan.element_bytes, plan.is_data_parallel)

    def has(self, model: DlrmModel) -> str:
        """Write what an accelerator has and what of it is taken, for messages."""
        host = f"; a host has {rounded_size(self.host_bytes)}" if self.host_bytes else ""
        return (
            f"an accelerator has {rounded_size(self.hbm_bytes)}, {rounded_size(self.dense_bytes(model))} for dense "
            f"weights, their gradients and state and {rounded_size(activation_bytes(model))} for activations{host}"
        )


def activation_bytes(model: DlrmModel) -> int:
    """Bytes that a local batch leaves for the backward pass, at the interaction, the largest moment."""
    layers = (*model.bottom_layers, *model.top_layers)
    dense = sum(layer.inputs + layer.outputs for layer in layers) + model.interaction_width
    dtypes = model.dtypes
    vector = DTYPE_BYTES[dtypes.forward_all_to_all] + DTYPE_BYTES[dtypes.backward_all_to_all]
    return model.local_batch * (dense * DTYPE_BYTES[dtypes.activations] + model.sum_of_dims * vector)


def require_room(plan: Plan, memory: Memory) -> None:
    """Check that a plan's shards fit the memory of the ranks that hold them.

    Raises
    ------
    WorkloadError : they do not; names the fullest rank or machine.
    """
    size = memory.plan_bytes(plan)
    is_host = plan.tier_is(Tier.HOST)
    hbm = plan.per_rank(np.where(is_host, 0, size))
    room = memory.room_bytes(plan.model)
    fullest = int(hbm.argmax())
    if hbm[fullest] > room:
        raise WorkloadError(
            f"{plan.model.source}: the plan puts {rounded_size(int(hbm[fullest]))} of tables and their state into the "
            f"memory of rank {fullest}, and {memory.has(plan.model)}; allowed: up to {rounded_size(max(room, 0))}"
        )
    host = np.zeros(memory.machine_count, dtype=np.int64)
    np.add.at(host, memory.machines, plan.per_rank(np.where(is_host, size, 0)))
    fullest = int(host.argmax())
    if host[fullest] > memory.host_bytes:
        raise WorkloadError(
            f"{plan.model.source}: the plan puts {rounded_size(int(host[fullest]))} of tables and their state into the "
            f"host memory of machine {fullest}; allowed: up to {rounded_size(memory.host_bytes)} a machine "
            "(workload.host_memory)"
        )
