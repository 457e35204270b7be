# SPDX-License-Identifier: GPL-2.0-only
"""A DLRM's training loop: which compute waits for what, micro-batch by micro-batch.

Each rank has one compute stream and runs it in this order; collectives run beside it. As Neo has it (Mudigere et al.,
ISCA 2022, section 4):

- *Forward*. Indices go to the tables' owners; the lookup waits for them. The exchanges of pooled vectors are issued
  right after the lookup, at highest priority, and overlap with the bottom MLP; the interaction waits for both. Each
  dense layer first waits for the all-reduce of its own weights of the iteration before, and takes the optimiser's
  step.
- *Backward*. From the last top layer to the first: weight gradient, its all-reduce issued and not waited for, then
  input gradient. After the interaction's gradient, the exchanges of the vectors' gradients are issued at highest
  priority and overlap with the bottom MLP's backward pass, in the same manner. The update of the tables waits for them
  and comes last: on one stream anywhere earlier it would hold up the bottom MLP until the gradients are there.

Of several micro-batches, each one's lookup goes before the dense work of the one before it, so that its exchanges
overlap with that work; dense gradients are added up and reduced after the last one; all updates of tables come at the
end, since all micro-batches train the same weights.

With ``index_exchange = "prefetched"``, an iteration's indices go out during the top MLP's forward pass of the one
before, as Neo has it, and only the first iteration waits for the whole of them; with ``"none"`` they are with the
tables' owners from the start, as in models that leave them out (MAD-Max; ASTRA-SIM's DLRM). Indices are those of all
micro-batches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from astra_py.errors import WorkloadError
from astra_py.workloads.astra_text import PASSES
from astra_py.workloads.dlrm.buckets import Gradient, buckets
from astra_py.workloads.dlrm.communication import Communication, VectorExchange
from astra_py.workloads.dlrm.exchanges import Exchanges
from astra_py.workloads.dlrm.model import DenseLayer
from astra_py.workloads.dlrm.ordering import ORDERINGS, Ordering
from astra_py.workloads.dlrm.step_times import REPLICAS, PassTimes, StepTimes
from astra_py.workloads.trace import Trace
from astra_py.workloads.trace_builder import Ids, TraceBuilder

__all__ = ["INDEX_EXCHANGES", "MicroBatch", "dlrm_trace"]

FORWARD, INPUT_GRADIENT, WEIGHT_GRADIENT = PASSES

INDEX_EXCHANGES = ("in_step", "prefetched", "none")


@dataclass(frozen=True)
class MicroBatch:
    """What one batch of samples sends, and how long it takes."""

    exchanges: Exchanges
    times: StepTimes


def dlrm_trace(
    exchanges: Exchanges,
    micro_batches: Sequence[MicroBatch],
    *,
    iterations: int,
    index_exchange: str = "in_step",
    ordering: str = "neo",
    bucket_bytes: int | None = None,
    step_ps: Mapping[str, int | NDArray[np.int64]] | None = None,
) -> Trace:
    """Return the Trace of some iterations.

    Parameters
    ----------
    exchanges : of an iteration's whole batch.
    micro_batches : the parts of that batch, at least one.
    iterations : number of training iterations, at least 1.
    index_exchange : ``"in_step"``, ``"prefetched"`` or ``"none"``.
    ordering : one of :data:`~astra_py.workloads.dlrm.ordering.ORDERINGS`.
    bucket_bytes : bytes of gradients that are reduced together; None for those of a layer.
    step_ps : time of the optimiser's step, of each rank or of all, by the name of a dense layer, or of
        :data:`~astra_py.workloads.dlrm.step_times.REPLICAS`; none where it takes no time.

    Raises
    ------
    WorkloadError : there are no iterations, or no such index exchange.
    """
    if iterations < 1:
        raise WorkloadError(f"{exchanges.model.source}: iterations = {iterations}; at least 1 is allowed")
    if index_exchange not in INDEX_EXCHANGES:
        allowed = ", ".join(INDEX_EXCHANGES)
        raise WorkloadError(f"{exchanges.model.source}: index_exchange = {index_exchange!r}; allowed: {allowed}")
    loop = _Loop(exchanges, micro_batches, ORDERINGS[ordering], bucket_bytes, step_ps or {})
    sent: list[Ids] | None = None
    for iteration in range(iterations):
        if sent is None and index_exchange != "none":
            sent = loop.send_indices(iteration)
        is_next_sent = index_exchange == "prefetched" and iteration + 1 < iterations
        sent = loop.iterate(iteration, sent or [], is_next_sent)
    return loop.build.build()


class _Loop:
    """The loop's state: the last compute of each rank, and what the next one has to wait for."""

    def __init__(
        self,
        exchanges: Exchanges,
        micro_batches: Sequence[MicroBatch],
        ordering: Ordering,
        bucket_bytes: int | None,
        step_ps: Mapping[str, int | NDArray[np.int64]],
    ) -> None:
        model = exchanges.model
        self.build = TraceBuilder(exchanges.plan.ranks)
        self.way = Communication(self.build, model.source, ordering.communication_stream)
        self.all_ranks = np.arange(exchanges.plan.ranks)
        self.layers = {"bottom": model.bottom_layers, "top": model.top_layers}
        self.has_replicas = bool(exchanges.replicated)
        self.index_dtype = model.dtypes.indices
        self.index_matrix = exchanges.indices()
        self.index_matrix.flags.writeable = False
        self.times = [micro_batch.times for micro_batch in micro_batches]
        self.vectors = _vector_exchanges(micro_batches)
        self.ordering = ordering
        self.closes = {bucket.gradients[-1].name: bucket for bucket in buckets(_gradients(exchanges), bucket_bytes)}
        self.step_ps = step_ps
        self.last: Ids | None = None
        self.is_reduced: dict[str, Ids] = {}
        self.before_next: list[Ids] = []

    def send_indices(self, iteration: int) -> list[Ids]:
        """Issue the all-to-all of an iteration's indices."""
        return self.way.send_indices(self.index_matrix, self.index_dtype, iteration, self.last)

    def iterate(self, iteration: int, indices: list[Ids], is_next_sent: bool) -> list[Ids] | None:
        """Add an iteration; the end of the next one's indices where they are sent in it."""
        count = len(self.times)
        sent: list[Ids] | None = None
        vectors = [self.look_up(0, iteration, indices)]
        gradients: list[list[Ids]] = []
        for part, times in enumerate(self.times):
            if part + 1 < count:
                vectors.append(self.look_up(part + 1, iteration, indices))
            self.forward("bottom", part, iteration)
            self.compute("interaction.forward", part, times.interaction_forward_ps, iteration, FORWARD, vectors[part])
            if part == 0 and is_next_sent:
                sent = self.send_indices(iteration + 1)
            self.forward("top", part, iteration)
            self.backward("top", part, iteration)
            self.compute("interaction.backward", part, times.interaction_backward_ps, iteration, INPUT_GRADIENT)
            gradients.append(self.send_gradients(part, iteration))
            self.backward("bottom", part, iteration)
        for part, times in enumerate(self.times):
            self.compute("embedding.update", part, times.update_ps, iteration, WEIGHT_GRADIENT, gradients[part])
        if self.ordering.is_iteration_whole:
            self.before_next = list({id(end): end for end in self.is_reduced.values()}.values())
        return sent

    def look_up(self, part: int, iteration: int, indices: list[Ids]) -> list[Ids]:
        """Look up and pool, and issue the exchanges of the pooled vectors; their ends."""
        times = self.times[part]
        after = [*indices, *self.before_next]
        self.before_next = []
        looked_up = self.compute("embedding.lookup", part, times.lookup_ps, iteration, FORWARD, after)
        ends = self.vectors[part].forward(self.way, self.suffix(part), iteration, looked_up)
        if self.has_replicas:
            after = self.stepped(REPLICAS, iteration)
            self.compute(f"{REPLICAS}.lookup", part, times.replica_ps, iteration, FORWARD, after)
        return ends

    def send_gradients(self, part: int, iteration: int) -> list[Ids]:
        """Issue the exchanges of the vectors' gradients, and those of data-parallel tables; the ends of the former."""
        assert self.last is not None
        ends = self.vectors[part].backward(self.way, self.suffix(part), iteration, self.last)
        if self.has_replicas:
            self.compute(f"{REPLICAS}.gradient", part, self.times[part].replica_ps, iteration, WEIGHT_GRADIENT)
            self.reduce(REPLICAS, part, iteration)
        return ends

    def forward(self, which: str, part: int, iteration: int) -> None:
        """Forward through an MLP."""
        for layer, time in self.layers_of(which, part):
            after = self.stepped(layer.name, iteration)
            self.compute(f"{layer.name}.forward", part, time.forward_ps, iteration, FORWARD, after)

    def backward(self, which: str, part: int, iteration: int) -> None:
        """Backward through an MLP, and reduce its gradients as they are ready."""
        for layer, time in reversed(self.layers_of(which, part)):
            name = layer.name
            self.compute(f"{name}.weight_gradient", part, time.weight_gradient_ps, iteration, WEIGHT_GRADIENT)
            if not self.ordering.is_reduced_after_both:
                self.reduce(name, part, iteration)
            self.compute(f"{name}.input_gradient", part, time.input_gradient_ps, iteration, INPUT_GRADIENT)
            if self.ordering.is_reduced_after_both:
                self.reduce(name, part, iteration)

    def reduce(self, name: str, part: int, iteration: int) -> None:
        """Issue the all-reduce of the bucket that this gradient closes, after the last micro-batch."""
        bucket = self.closes.get(name)
        if bucket is None or part + 1 < len(self.times):
            return
        end = self.way.reduce(bucket, iteration, self.last)
        self.is_reduced.update((gradient.name, end) for gradient in bucket.gradients)

    def stepped(self, name: str, iteration: int) -> list[Ids]:
        """What the first use of some weights in an iteration waits for; the optimiser's step goes before it."""
        end = self.is_reduced.pop(name, None)
        if end is None:
            return []
        if name not in self.step_ps:
            return [end]
        self.compute(f"{name}.step", 0, self.step_ps[name], iteration, WEIGHT_GRADIENT, [end])
        return []

    def compute(
        self,
        name: str,
        part: int,
        duration_ps: int | NDArray[np.int64],
        iteration: int,
        phase: str,
        after: Sequence[Ids] = (),
    ) -> Ids:
        """Add the next compute of every rank, in program order and after what it needs."""
        self.last = self.build.compute(
            self.all_ranks,
            duration_ps,
            name=name + self.suffix(part),
            after=[self.last, *after],
            iteration=iteration,
            phase=phase,
        )
        return self.last

    def layers_of(self, which: str, part: int) -> list[tuple[DenseLayer, PassTimes]]:
        """Return an MLP's layers and their times."""
        times = self.times[part]
        return list(zip(self.layers[which], times.bottom if which == "bottom" else times.top, strict=True))

    def suffix(self, part: int) -> str:
        """What tells a micro-batch's names apart, where there are several."""
        return f"_{part}" if len(self.times) > 1 else ""


def _gradients(exchanges: Exchanges) -> list[Gradient]:
    """Gradients that are the same on every rank, in the order in which they become ready."""
    model = exchanges.model
    bottom, top = (
        [Gradient(layer.name, exchanges.dense(layer), model.dtypes.weights) for layer in reversed(layers)]
        for layers in (model.bottom_layers, model.top_layers)
    )
    tables = exchanges.replicated
    dtypes = sorted({table.dtype for table in tables})
    replicas = [Gradient(REPLICAS, sum(map(exchanges.replica, tables)), "+".join(dtypes))] if tables else []
    return [*top, *replicas, *bottom]


def _vector_exchanges(micro_batches: Sequence[MicroBatch]) -> list[VectorExchange]:
    """Exchanges by micro-batch; equal ones are one, so that their calls share matrices."""
    made = {id(micro_batch): VectorExchange(micro_batch.exchanges) for micro_batch in micro_batches}
    return [made[id(micro_batch)] for micro_batch in micro_batches]
