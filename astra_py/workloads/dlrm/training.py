# SPDX-License-Identifier: GPL-2.0-only
"""A DLRM's training loop as Neo runs it (Mudigere et al., ISCA 2022, section 4): which compute waits for what.

Each rank has one compute stream and runs it in this order; collectives run beside it:

- *Forward*. Indices go to the tables' owners; the lookup waits for them. The all-to-all of pooled vectors is issued
  right after the lookup, at highest priority, and overlaps with the bottom MLP; the interaction waits for both. Each
  dense layer first waits for the all-reduce of its own weights of the iteration before.
- *Backward*. From the last top layer to the first: weight gradient, its all-reduce issued and not waited for, then
  input gradient. After the interaction's gradient, the all-to-all of the vectors' gradients is issued at highest
  priority and overlaps with the bottom MLP's backward pass, in the same manner. The update of the tables waits for it
  and comes last: on one stream anywhere earlier it would hold up the bottom MLP until the gradients are there.

With ``index_exchange = "prefetched"``, an iteration's indices go out during the top MLP's forward pass of the one
before, as Neo has it, and only the first iteration waits for the whole of them; with ``"none"`` they are with the
tables' owners from the start, as in models that leave them out (MAD-Max; ASTRA-SIM's DLRM). The optimiser's step on
dense weights takes no time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from astra_py.errors import WorkloadError
from astra_py.workloads.astra_text import PASSES
from astra_py.workloads.calls import MAX_PRIORITY, CollectiveCall
from astra_py.workloads.dlrm.exchanges import Exchanges
from astra_py.workloads.dlrm.model import DenseLayer, LayerTimes
from astra_py.workloads.dlrm.step_times import StepTimes
from astra_py.workloads.trace import Trace
from astra_py.workloads.trace_builder import Ids, TraceBuilder

__all__ = ["dlrm_trace"]

FORWARD, INPUT_GRADIENT, WEIGHT_GRADIENT = PASSES

INDEX_EXCHANGES = ("in_step", "prefetched", "none")

#: Indices go after vectors and gradients, which are waited for, and before all-reduces, which have until the next
#: iteration.
INDEX_PRIORITY = MAX_PRIORITY - 1


def dlrm_trace(exchanges: Exchanges, times: StepTimes, *, iterations: int, index_exchange: str = "in_step") -> Trace:
    """Return the Trace of some iterations; every collective spans all ranks.

    Parameters
    ----------
    exchanges : what is sent, by the sharding plan.
    times : what computes take.
    iterations : number of training iterations, at least 1.
    index_exchange : ``"in_step"``, ``"prefetched"`` or ``"none"``.

    Raises
    ------
    WorkloadError : there are no iterations, or no such index exchange.
    """
    if iterations < 1:
        raise WorkloadError(f"{exchanges.model.source}: iterations = {iterations}; at least 1 is allowed")
    if index_exchange not in INDEX_EXCHANGES:
        allowed = ", ".join(INDEX_EXCHANGES)
        raise WorkloadError(f"{exchanges.model.source}: index_exchange = {index_exchange!r}; allowed: {allowed}")
    loop = _Loop(exchanges, times)
    indices: Ids | None = None
    for iteration in range(iterations):
        if indices is None and index_exchange != "none":
            indices = loop.send_indices(iteration)
        vectors = loop.look_up(iteration, indices)
        loop.interact(iteration, vectors)
        is_next_sent = index_exchange == "prefetched" and iteration + 1 < iterations
        indices = loop.send_indices(iteration + 1) if is_next_sent else None
        loop.learn(iteration)
    return loop.build.build()


class _Loop:
    """The loop's state: the last compute of each rank, and what the next iteration has to wait for."""

    def __init__(self, exchanges: Exchanges, times: StepTimes) -> None:
        model = exchanges.model
        self.exchanges = exchanges
        self.times = times
        self.build = TraceBuilder(exchanges.plan.ranks)
        self.all_ranks = np.arange(exchanges.plan.ranks)
        self.bottom = list(zip(model.bottom_layers, times.bottom, strict=True))
        self.top = list(zip(model.top_layers, times.top, strict=True))
        self.matrices = {
            "embedding.indices": exchanges.indices(),
            "embedding.pooled": exchanges.pooled(),
            "embedding.gradients": exchanges.gradients(),
        }
        self.last: Ids | None = None
        self.is_reduced: dict[str, Ids] = {}

    def send_indices(self, iteration: int) -> Ids:
        """Issue the all-to-all of an iteration's indices."""
        dtype = self.exchanges.model.dtypes.indices
        return self.exchange("embedding.indices", iteration, FORWARD, dtype, INDEX_PRIORITY)

    def look_up(self, iteration: int, indices: Ids | None) -> Ids:
        """Look up and pool, and issue the all-to-all of the pooled vectors."""
        self.compute("embedding.lookup", self.times.lookup_ps, iteration, FORWARD, after=indices)
        dtype = self.exchanges.model.dtypes.forward_all_to_all
        return self.exchange("embedding.pooled", iteration, FORWARD, dtype, MAX_PRIORITY)

    def interact(self, iteration: int, vectors: Ids) -> None:
        """Forward through the bottom MLP and the interaction."""
        self.forward(self.bottom, iteration)
        self.compute("interaction.forward", self.times.interaction_forward_ps, iteration, FORWARD, after=vectors)

    def learn(self, iteration: int) -> None:
        """Forward through the top MLP, backward through everything, and update the tables."""
        self.forward(self.top, iteration)
        self.backward(self.top, iteration)
        self.compute("interaction.backward", self.times.interaction_backward_ps, iteration, INPUT_GRADIENT)
        dtype = self.exchanges.model.dtypes.backward_all_to_all
        gradients = self.exchange("embedding.gradients", iteration, INPUT_GRADIENT, dtype, MAX_PRIORITY)
        self.backward(self.bottom, iteration)
        self.compute("embedding.update", self.times.update_ps, iteration, WEIGHT_GRADIENT, after=gradients)

    def forward(self, layers: Sequence[tuple[DenseLayer, LayerTimes]], iteration: int) -> None:
        for layer, time in layers:
            reduced = self.is_reduced.get(layer.name)
            self.compute(f"{layer.name}.forward", time.forward_ps, iteration, FORWARD, after=reduced)

    def backward(self, layers: Sequence[tuple[DenseLayer, LayerTimes]], iteration: int) -> None:
        for layer, time in reversed(layers):
            name = f"{layer.name}.weight_gradient"
            self.compute(name, time.weight_gradient_ps, iteration, WEIGHT_GRADIENT)
            call = CollectiveCall(
                name=name,
                kind="all_reduce",
                group=tuple(range(len(self.all_ranks))),
                size_bytes=self.exchanges.dense(layer),
                dtype=self.exchanges.model.dtypes.weights,
                iteration=iteration,
                source=self.exchanges.model.source,
            )
            self.is_reduced[layer.name] = self.build.collective(call, after=self.last, phase=WEIGHT_GRADIENT)
            self.compute(f"{layer.name}.input_gradient", time.input_gradient_ps, iteration, INPUT_GRADIENT)

    def compute(
        self, name: str, duration_ps: int | NDArray[np.int64], iteration: int, phase: str, after: Ids | None = None
    ) -> None:
        """Add the next compute of every rank, in program order and after what it needs."""
        self.last = self.build.compute(
            self.all_ranks, duration_ps, name=name, after=[self.last, after], iteration=iteration, phase=phase
        )

    def exchange(self, name: str, iteration: int, phase: str, dtype: str, priority: int) -> Ids:
        """Issue an all-to-all-v after the last compute; its end."""
        call = CollectiveCall(
            name=name,
            kind="all_to_all_v",
            group=tuple(range(len(self.all_ranks))),
            matrix=self.matrices[name],
            dtype=dtype,
            priority=priority,
            iteration=iteration,
            source=self.exchanges.model.source,
        )
        return self.build.collective(call, after=self.last, phase=phase)
