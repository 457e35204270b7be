# SPDX-License-Identifier: GPL-2.0-only
"""ASTRA-sim 1.0's DLRM training loop: which compute waits for which collective.

The rules are those of that simulator's HYBRID_DLRM loop:

- *Forward*, layer 0 (the embedding) to the last. A layer first waits for the weight-gradient collective of its own
  previous iteration and its update. The embedding's forward all-to-all is issued at highest priority and overlaps with
  the bottom MLP; the first top layer waits for it.
- *Backward*, last layer to 0: weight gradient, its collective issued and not waited for, then input gradient. After the
  input gradient of the first top layer, the embedding's gradient all-to-all is issued at highest priority; the bottom
  MLP goes on.
- Each of a layer's collectives is followed by the layer's update delay before it counts as done. It is memory work: it
  scales with ``compute_unit_ps``, not with ``compute_scale``, and takes no compute time.

We differ in two points, both about the embedding's backward pass. There the original computes the weight gradient
*before* it waits for the gradient all-to-all, and never computes the input gradient (300 units in the published file),
so that its sum is 51.378 us. Here both wait for the gradients that they need, and all compute of the file is simulated:
51.678 us.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from astra_py.errors import WorkloadError
from astra_py.workloads.astra_text import DLRM, AstraLayer, AstraTextModel
from astra_py.workloads.calls import MAX_PRIORITY, CollectiveCall
from astra_py.workloads.layer_figures import LayerFigures
from astra_py.workloads.layer_loop import layer_trace
from astra_py.workloads.trace import Trace
from astra_py.workloads.trace_builder import Ids, TraceBuilder

__all__ = ["training_trace"]


def training_trace(
    model: AstraTextModel,
    *,
    ranks: int,
    iterations: int,
    compute_unit_ps: int = 1000,
    compute_scale: float = 1.0,
    comm_scale: float = 1.0,
    inside: int | None = None,
) -> Trace:
    """Return the Trace of some iterations of a text workload.

    Every collective of a DLRM spans all ranks; of others see :mod:`~astra_py.workloads.layer_loop`.

    Parameters
    ----------
    model : from :func:`~astra_py.workloads.read_astra_text`.
    ranks : number of ranks.
    iterations : number of training iterations; each waits for the one before where the rules above say so.
    compute_unit_ps : one file unit of time, in ps; ASTRA-sim 1.0 has cycles of 1 ns.
    compute_scale : multiplies every compute time; the result is rounded to the nearest ps, halves to even.
    comm_scale : multiplies every collective's bytes; the result is rounded to the nearest byte, halves to even, and a
        collective of some bytes keeps at least one unless the scale is 0.
    inside : ranks along the first dimension of the network, consecutive ones, or None where it has none.

    Raises
    ------
    WorkloadError : the model has a collective that this loop has no place for, or a scaled figure leaves 64 bits; the
        message has file and line.
    """
    if iterations < 1:
        raise WorkloadError(f"{model.path}: iterations = {iterations}; at least 1 is allowed")
    figures = LayerFigures(
        model, compute_unit_ps, _exact(compute_scale, "compute_scale"), _exact(comm_scale, "comm_scale")
    )
    if model.kind != DLRM:
        return layer_trace(figures, ranks=ranks, inside=inside, iterations=iterations)
    for layer in model.layers[1:]:
        for which, part in layer.passes[:2]:
            if part.collective is not None:
                raise WorkloadError(
                    f"{model.where(layer)}: layer {layer.name} has a {which.replace('_', ' ')} collective; in "
                    f"{model.kind} only the first layer, the embedding, may have one"
                )
    loop = _Loop(figures, ranks)
    for iteration in range(iterations):
        loop.forward(iteration)
        loop.backward(iteration)
    return loop.build.build()


class _Loop:
    """The loop's state between passes: the last compute of each rank and the weights' readiness."""

    def __init__(self, figures: LayerFigures, ranks: int) -> None:
        self.figures = figures
        self.model = figures.model
        self.build = TraceBuilder(ranks)
        self.all_ranks = np.arange(ranks)
        self.last: Ids | None = None
        self.is_updated: list[Ids | None] = [None] * len(self.model.layers)

    def forward(self, iteration: int) -> None:
        exchanged: Ids | None = None
        for index, layer in enumerate(self.model.layers):
            needed = [self.is_updated[index], exchanged if index == self.model.last_bottom_layer + 1 else None]
            self.compute(layer, "forward", iteration, needed)
            if index == 0:
                exchanged = self.exchange(layer, "forward", iteration, MAX_PRIORITY)

    def backward(self, iteration: int) -> None:
        embedding = self.model.layers[0]
        exchanged: Ids | None = None
        for index, layer in reversed(list(enumerate(self.model.layers))):
            needed = [exchanged if index == 0 else None]
            self.compute(layer, "weight_gradient", iteration, needed)
            self.is_updated[index] = self.exchange(layer, "weight_gradient", iteration, 0)
            self.compute(layer, "input_gradient", iteration, [])
            if index == self.model.last_bottom_layer + 1:
                exchanged = self.exchange(embedding, "input_gradient", iteration, MAX_PRIORITY)

    def compute(self, layer: AstraLayer, which: str, iteration: int, needed: list[Ids | None]) -> None:
        """Add the next compute of every rank, in program order and after what it needs."""
        self.last = self.build.compute(
            self.all_ranks,
            self.figures.compute_ps(layer, which),
            name=f"{layer.name}.{which}",
            after=[self.last, *needed],
            iteration=iteration,
            phase=which,
        )

    def exchange(self, layer: AstraLayer, which: str, iteration: int, priority: int) -> Ids | None:
        """Issue the layer's collective of this pass, after the last compute; its end, update included, or None."""
        part = dict(layer.passes)[which]
        if part.collective is None:
            return None
        call = CollectiveCall(
            name=f"{layer.name}.{which}",
            kind=part.collective,
            group=tuple(range(len(self.all_ranks))),
            size_bytes=self.figures.size_bytes(layer, which, len(self.all_ranks)),
            priority=priority,
            iteration=iteration,
            source=self.model.where(layer),
        )
        done = self.build.collective(call, after=self.last, phase=which)
        if layer.update_delay:
            done = self.build.memory(
                self.all_ranks,
                self.figures.update_ps(layer),
                name=f"{layer.name}.update",
                after=done,
                iteration=iteration,
                phase=which,
            )
        return done


def _exact(scale: float, what: str) -> Fraction:
    """Return the decimal number that was written, without its binary rounding."""
    if not 0 <= scale < float("inf"):
        raise WorkloadError(f"{what} = {scale}; allowed is a finite number from 0 on")
    return Fraction(str(scale))
