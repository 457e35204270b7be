# SPDX-License-Identifier: GPL-2.0-only
"""How long each compute of a DLRM takes for one batch, on each rank.

What counts as work (:mod:`~astra_py.workloads.dlrm.roofline` makes times of it):

- A dense layer with batch b, i inputs and o outputs: each of its three passes is one matrix product of 2 b i o
  operations that reads two of weights (i o), inputs (b i) and outputs (b o) and writes the third. The first bottom
  layer's input gradient is counted as every other, as ASTRA-SIM's DLRM and MAD-Max (ISCA 2024) count it.
- Lookups are memory-bound: the bytes of all rows that all ranks' samples look up in the shards of the rank, in the
  memory that has the shard. Host memory is read over PCIe. The update of these rows, after the gradients have come,
  moves what :mod:`~astra_py.workloads.dlrm.optimizers` says; by default the same bytes again. MAD-Max counts both so:
  its 9.10 ms of embedding work in DLRM-A are two passes over 5.91 GB at 0.836 of 1,555 GB/s.
- In data-parallel tables, a rank looks up for its own samples alone, and writes as many bytes of gradient, in the
  memory that has its replica.
- The interaction reads all vectors of a sample and writes its result; a dot product takes 2 v^2 d operations a sample
  of v vectors of d elements. Backward, the same bytes move the other way, and a dot product takes twice as many.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from astra_py.workloads.dlrm.dtypes import DTYPE_BYTES
from astra_py.workloads.dlrm.model import ComputeTimes, DenseLayer, DlrmModel, LayerTimes
from astra_py.workloads.dlrm.optimizers import dense_step_bytes, row_update_bytes
from astra_py.workloads.dlrm.plan import Plan
from astra_py.workloads.dlrm.roofline import Roofline, exact
from astra_py.workloads.dlrm.sharding import TIERS, Tier

__all__ = ["REPLICAS", "PassTimes", "StepTimes", "dense_step_times", "fixed_times", "roofline_times", "scaled_times"]

I64 = NDArray[np.int64]

#: What data-parallel tables are called together; no layer has this name.
REPLICAS = "replicas"


@dataclass(frozen=True, kw_only=True, eq=False)
class PassTimes:
    """Compute times of a dense layer's three passes, in ps; each i64[ranks]."""

    forward_ps: I64
    weight_gradient_ps: I64
    input_gradient_ps: I64


@dataclass(frozen=True, kw_only=True, eq=False)
class StepTimes:
    """Compute times of one batch, in ps; all i64[ranks].

    Attributes
    ----------
    lookup_ps, update_ps : they follow the shards that a rank holds.
    replica_ps : of data-parallel tables: their lookup, and as long for their gradient; 0 where there are none.
    interaction_forward_ps, interaction_backward_ps : they follow the rank's samples, as all below.
    bottom, top : by layer.
    """

    lookup_ps: I64
    update_ps: I64
    replica_ps: I64
    interaction_forward_ps: I64
    interaction_backward_ps: I64
    bottom: tuple[PassTimes, ...]
    top: tuple[PassTimes, ...]

    @property
    def dense_ps(self) -> I64:
        """All three passes of both MLPs."""
        passes = [(t.forward_ps, t.weight_gradient_ps, t.input_gradient_ps) for t in (*self.bottom, *self.top)]
        total: I64 = np.sum(passes, axis=(0, 1))
        return total

    def scaled(self, scale: float) -> StepTimes:
        """All times multiplied by ``scale``, rounded to nearest."""

        def each(times: I64) -> I64:
            return scaled_times(times, scale)

        def layers(times: tuple[PassTimes, ...]) -> tuple[PassTimes, ...]:
            return tuple(
                PassTimes(
                    forward_ps=each(time.forward_ps),
                    weight_gradient_ps=each(time.weight_gradient_ps),
                    input_gradient_ps=each(time.input_gradient_ps),
                )
                for time in times
            )

        return StepTimes(
            lookup_ps=each(self.lookup_ps),
            update_ps=each(self.update_ps),
            replica_ps=each(self.replica_ps),
            interaction_forward_ps=each(self.interaction_forward_ps),
            interaction_backward_ps=each(self.interaction_backward_ps),
            bottom=layers(self.bottom),
            top=layers(self.top),
        )


def scaled_times(times: I64, scale: float) -> I64:
    """i64[ranks]: ``times`` multiplied by ``scale``, rounded to nearest."""
    factor = exact(scale)
    return _by_value(times, lambda time: round(time * factor))


def fixed_times(times: ComputeTimes, batch: I64, whole: int) -> StepTimes:
    """Times that the model's file gives.

    Parameters
    ----------
    times : as the file gives them, for a rank's whole batch.
    batch : i64[ranks], samples of each rank.
    whole : samples that the file's times are taken for; fewer take their share, rounded to nearest.
    """

    def each(time_ps: int) -> I64:
        return _by_value(batch, lambda samples: round(Fraction(time_ps * samples, whole)))

    def layers(given: tuple[LayerTimes, ...]) -> tuple[PassTimes, ...]:
        return tuple(
            PassTimes(
                forward_ps=each(time.forward_ps),
                weight_gradient_ps=each(time.weight_gradient_ps),
                input_gradient_ps=each(time.input_gradient_ps),
            )
            for time in given
        )

    return StepTimes(
        lookup_ps=each(times.lookup_ps),
        update_ps=each(times.update_ps),
        replica_ps=np.zeros(len(batch), dtype=np.int64),
        interaction_forward_ps=each(times.interaction_forward_ps),
        interaction_backward_ps=each(times.interaction_backward_ps),
        bottom=layers(times.bottom),
        top=layers(times.top),
    )


def roofline_times(
    plan: Plan, roofline: Roofline, batch: I64 | None = None, embedding_optimizer: str = "one_pass"
) -> StepTimes:
    """Times that follow from the model, the plan and an accelerator.

    Parameters
    ----------
    plan : who holds what.
    roofline : the accelerator.
    batch : i64[ranks], samples of each rank; the model's local batch where None.
    embedding_optimizer : one of :data:`~astra_py.workloads.dlrm.optimizers.EMBEDDING_OPTIMIZERS`.

    Raises
    ------
    ConfigError : the accelerator has no peak for the model's ``dtypes.compute``.
    WorkloadError : the rows that are looked up have more than 2^63 - 1 bytes.
    """
    model = plan.model
    compute = model.dtypes.compute
    batch = np.full(plan.ranks, model.local_batch) if batch is None else batch
    row_bytes = plan.dims * plan.element_bytes
    update_bytes = row_update_bytes(embedding_optimizer, plan.dims.astype(np.int64), plan.element_bytes)
    is_replica = plan.is_data_parallel

    def memory(moved: I64) -> I64:
        return _memory_ps(plan, plan.moved_bytes(batch, moved), roofline)

    def interaction(factor: int) -> I64:
        def time(samples: int) -> int:
            flops, size_bytes = _interaction_work(model, samples)
            return roofline.time_ps(factor * flops, size_bytes, compute)

        return _by_value(batch, time)

    def layers(of: tuple[DenseLayer, ...]) -> tuple[PassTimes, ...]:
        return tuple(_layer_times(model, layer, batch, roofline) for layer in of)

    return StepTimes(
        lookup_ps=memory(np.where(is_replica, 0, row_bytes)),
        update_ps=memory(np.where(is_replica, 0, update_bytes)),
        replica_ps=memory(np.where(is_replica, row_bytes, 0)),
        interaction_forward_ps=interaction(1),
        interaction_backward_ps=interaction(2),
        bottom=layers(model.bottom_layers),
        top=layers(model.top_layers),
    )


def dense_step_times(plan: Plan, optimizer: str, roofline: Roofline) -> dict[str, I64]:
    """Time of the optimiser's step, i64[ranks] in ps: by the name of a dense layer, and of all data-parallel tables.

    The latter are :data:`REPLICAS`, each stepped in the memory that has it. Empty where the step takes no time.
    """
    if optimizer == "none":
        return {}
    model, is_replica = plan.model, plan.is_data_parallel
    element = DTYPE_BYTES[model.dtypes.weights]
    times = {
        layer.name: np.full(plan.ranks, roofline.tiers_ps(dense_step_bytes(optimizer, layer.weights, element), 0))
        for layer in (*model.bottom_layers, *model.top_layers)
    }
    if is_replica.any():
        elements = np.where(is_replica, plan.rows * plan.dims, 0)
        times[REPLICAS] = _memory_ps(plan, dense_step_bytes(optimizer, elements, plan.element_bytes), roofline)
    return times


def _memory_ps(plan: Plan, moved: I64, roofline: Roofline) -> I64:
    """i64[ranks]: time to move some bytes of each shard, in the memories that have them."""
    is_host = plan.tier == TIERS.index(Tier.HOST)
    sizes = (plan.per_rank(np.where(mask, moved, 0)).tolist() for mask in (~is_host, is_host))
    return np.array([roofline.tiers_ps(own, host) for own, host in zip(*sizes, strict=True)], dtype=np.int64)


def _layer_times(model: DlrmModel, layer: DenseLayer, batch: I64, roofline: Roofline) -> PassTimes:
    weight_bytes = layer.weights * DTYPE_BYTES[model.dtypes.weights]
    sample_bytes = (layer.inputs + layer.outputs) * DTYPE_BYTES[model.dtypes.activations]

    def time(samples: int) -> int:
        flops, size_bytes = 2 * samples * layer.weights, weight_bytes + samples * sample_bytes
        return roofline.time_ps(flops, size_bytes, model.dtypes.compute)

    times = _by_value(batch, time)
    return PassTimes(forward_ps=times, weight_gradient_ps=times, input_gradient_ps=times)


def _interaction_work(model: DlrmModel, samples: int) -> tuple[int, int]:
    """Operations, and bytes of memory, of the interaction's forward pass."""
    dense = model.bottom[-1]
    elements = dense + model.sum_of_dims + model.interaction_width
    size_bytes = samples * elements * DTYPE_BYTES[model.dtypes.activations]
    vectors = len(model.tables) + 1
    flops = 2 * samples * vectors**2 * dense if model.interaction == "dot" else 0
    return flops, size_bytes


def _by_value(values: I64, function: Callable[[int], int]) -> I64:
    """``function`` of each value; equal ones, of which there are few different, are worked out once."""
    different, which = np.unique(values, return_inverse=True)
    return np.array([function(int(value)) for value in different], dtype=np.int64)[which]
