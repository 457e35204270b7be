# SPDX-License-Identifier: GPL-2.0-only
"""How long each compute of a DLRM's iteration takes on an accelerator.

Roofline (Williams et al., 2009): work of F operations over D bytes of memory takes ``max(F / (peak x flops
efficiency), D / (bandwidth x memory efficiency))``. What counts as work:

- A dense layer with batch b, i inputs and o outputs: each of its three passes is one matrix product of 2 b i o
  operations that reads two of weights (i o), inputs (b i) and outputs (b o) and writes the third. The first bottom
  layer's input gradient is counted as every other, as ASTRA-SIM's DLRM and MAD-Max (ISCA 2024) count it.
- Lookups are memory-bound: the bytes of all rows that all ranks' samples look up in the tables of the rank. The
  update of these rows, after the backward all-to-all, moves the same bytes again. MAD-Max counts both so: its 9.10 ms
  of embedding work in DLRM-A are two passes over 5.91 GB at 0.836 of 1,555 GB/s.
- The interaction reads all vectors of a sample and writes its result; a dot product takes 2 v^2 d operations a sample
  of v vectors of d elements. Backward, the same bytes move the other way, and a dot product takes twice as many.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.workloads.dlrm.dtypes import DTYPE_BYTES
from astra_py.workloads.dlrm.model import ComputeTimes, DenseLayer, DlrmModel, LayerTimes
from astra_py.workloads.dlrm.plan import Plan

if TYPE_CHECKING:
    from astra_py.hardware import Accelerator

__all__ = ["Roofline", "StepTimes", "fixed_times", "roofline_times"]


@dataclass(frozen=True, kw_only=True)
class Roofline:
    """An accelerator and the shares of its peaks that work reaches.

    Attributes
    ----------
    accelerator : peaks by type and memory bandwidth.
    flops_efficiency, memory_efficiency : the shares reached, above 0 and at most 1.
    """

    accelerator: Accelerator
    flops_efficiency: float
    memory_efficiency: float

    def time_ps(self, flops: int, size_bytes: int, dtype: str) -> int:
        """Time of ``flops`` operations in ``dtype`` over ``size_bytes`` of memory, in ps, rounded to nearest.

        Raises
        ------
        ConfigError : there are operations to do and the accelerator has no peak for ``dtype``.
        """
        memory = size_bytes / (self.accelerator.memory_bandwidth_Bps * _exact(self.memory_efficiency))
        if not flops:
            return round(memory * 10**12)
        arithmetic = flops / (self.accelerator.peak_flops(dtype) * _exact(self.flops_efficiency))
        return round(max(arithmetic, memory) * 10**12)


@dataclass(frozen=True, kw_only=True, eq=False)
class StepTimes:
    """Compute times of an iteration, in ps.

    Attributes
    ----------
    lookup_ps, update_ps : i64[ranks]; they follow the tables that a rank holds.
    interaction_forward_ps, interaction_backward_ps : the same on every rank.
    bottom, top : by layer, the same on every rank.
    """

    lookup_ps: NDArray[np.int64]
    update_ps: NDArray[np.int64]
    interaction_forward_ps: int
    interaction_backward_ps: int
    bottom: tuple[LayerTimes, ...]
    top: tuple[LayerTimes, ...]

    @property
    def dense_ps(self) -> int:
        """All three passes of both MLPs."""
        return sum(
            layer.forward_ps + layer.weight_gradient_ps + layer.input_gradient_ps for layer in (*self.bottom, *self.top)
        )

    def scaled(self, scale: float) -> StepTimes:
        """All times multiplied by ``scale``, rounded to nearest."""
        exact = _exact(scale)

        def each(times: NDArray[np.int64]) -> NDArray[np.int64]:
            return np.array([round(int(time) * exact) for time in times], dtype=np.int64)

        def layers(times: tuple[LayerTimes, ...]) -> tuple[LayerTimes, ...]:
            return tuple(
                LayerTimes(
                    forward_ps=round(time.forward_ps * exact),
                    weight_gradient_ps=round(time.weight_gradient_ps * exact),
                    input_gradient_ps=round(time.input_gradient_ps * exact),
                )
                for time in times
            )

        return StepTimes(
            lookup_ps=each(self.lookup_ps),
            update_ps=each(self.update_ps),
            interaction_forward_ps=round(self.interaction_forward_ps * exact),
            interaction_backward_ps=round(self.interaction_backward_ps * exact),
            bottom=layers(self.bottom),
            top=layers(self.top),
        )


def fixed_times(times: ComputeTimes, ranks: int) -> StepTimes:
    """Times that the model's file gives, the same on every rank."""
    return StepTimes(
        lookup_ps=np.full(ranks, times.lookup_ps, dtype=np.int64),
        update_ps=np.full(ranks, times.update_ps, dtype=np.int64),
        interaction_forward_ps=times.interaction_forward_ps,
        interaction_backward_ps=times.interaction_backward_ps,
        bottom=times.bottom,
        top=times.top,
    )


def roofline_times(plan: Plan, roofline: Roofline) -> StepTimes:
    """Times that follow from the model, the plan and an accelerator.

    Raises
    ------
    ConfigError : the accelerator has no peak for the model's ``dtypes.compute``.
    """
    model = plan.model
    compute = model.dtypes.compute
    flops, size_bytes = _interaction_work(model)
    lookup = [roofline.time_ps(0, int(rows), compute) for rows in plan.rank_lookup_bytes]
    return StepTimes(
        lookup_ps=np.array(lookup, dtype=np.int64),
        update_ps=np.array(lookup, dtype=np.int64),
        interaction_forward_ps=roofline.time_ps(flops, size_bytes, compute),
        interaction_backward_ps=roofline.time_ps(2 * flops, size_bytes, compute),
        bottom=tuple(_layer_times(model, layer, roofline) for layer in model.bottom_layers),
        top=tuple(_layer_times(model, layer, roofline) for layer in model.top_layers),
    )


def _layer_times(model: DlrmModel, layer: DenseLayer, roofline: Roofline) -> LayerTimes:
    batch = model.local_batch
    weight_bytes = layer.weights * DTYPE_BYTES[model.dtypes.weights]
    activation_bytes = batch * (layer.inputs + layer.outputs) * DTYPE_BYTES[model.dtypes.activations]
    time_ps = roofline.time_ps(2 * batch * layer.weights, weight_bytes + activation_bytes, model.dtypes.compute)
    return LayerTimes(forward_ps=time_ps, weight_gradient_ps=time_ps, input_gradient_ps=time_ps)


def _interaction_work(model: DlrmModel) -> tuple[int, int]:
    """Operations, and bytes of memory, of the interaction's forward pass."""
    dense = model.bottom[-1]
    elements = dense + model.sum_of_dims + model.interaction_width
    size_bytes = model.local_batch * elements * DTYPE_BYTES[model.dtypes.activations]
    vectors = len(model.tables) + 1
    flops = 2 * model.local_batch * vectors**2 * dense if model.interaction == "dot" else 0
    return flops, size_bytes


def _exact(value: float) -> Fraction:
    """Return the decimal number that was written, without its binary rounding."""
    return Fraction(str(value))
