# SPDX-License-Identifier: GPL-2.0-only
"""ASTRA-sim 1.0's other training loops: DATA, MODEL, hybrids of them, transformers, a parallelism a layer, and MICRO.

Which ranks take part in a layer's collectives goes by its parallelism, where *inside* is along the first dimension of
the network, a machine here, and *between* along all others:

===================  =======================  =======================
parallelism          forward, input gradient  weight gradient
===================  =======================  =======================
DATA, MICRO          nobody                   all ranks
MODEL                all ranks                nobody
HYBRID_DATA_MODEL    inside                   between
HYBRID_MODEL_DATA    between                  inside
HYBRID_TRANSFORMER   groups of n ranks        across these groups
===================  =======================  =======================

- *Forward*, layer by layer: after the layer's own weight-gradient collective of the iteration before, compute, then its
  collective, which is waited for.
- *Backward*, last layer first: input gradient, its collective, weight gradient, its collective, and then the input
  gradient's collective is waited for; with HYBRID_TRANSFORMER before the weight gradient. Weight-gradient collectives
  are not waited for. Only HYBRID_TRANSFORMER has an input-gradient collective of the first layer. DATA computes the
  weight gradient first, and no input gradient of the first layer.
- MICRO is the weight-gradient collective of the first layer, once an iteration, all at once and without compute.

There, collectives of input gradients are served last in, first out, and those of weight gradients first in, first out;
here all have one priority.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from astra_py.errors import WorkloadError
from astra_py.workloads.astra_text import TRANSFORMER, AstraLayer, AstraTextModel
from astra_py.workloads.calls import CollectiveCall
from astra_py.workloads.layer_figures import LayerFigures
from astra_py.workloads.trace import Trace
from astra_py.workloads.trace_builder import Ids, TraceBuilder

__all__ = ["layer_trace", "unused_collectives"]

Groups = list[NDArray[np.int64]]

#: Who takes part in (forward and input gradient, weight gradient), by parallelism.
_SCOPES = {
    "MICRO": ("nobody", "all"),
    "DATA": ("nobody", "all"),
    "MODEL": ("all", "nobody"),
    "HYBRID_DATA_MODEL": ("inside", "between"),
    "HYBRID_MODEL_DATA": ("between", "inside"),
    TRANSFORMER: ("inside", "between"),
}


def _scope(layer: AstraLayer, which: str) -> str:
    return _SCOPES[layer.parallelism][which == "weight_gradient"]


def _is_used(model: AstraTextModel, index: int, which: str) -> bool:
    """Whether a layer's collective of a pass has any part in the loop."""
    layer = model.layers[index]
    if model.kind == "MICRO":
        return index == 0 and which == "weight_gradient"
    is_first_gradient = which == "input_gradient" and index == 0 and model.kind != TRANSFORMER
    return _scope(layer, which) != "nobody" and not is_first_gradient


def unused_collectives(model: AstraTextModel) -> list[str]:
    """Say which collectives of a file its parallelism never issues, a sentence each."""
    unused: dict[str, list[str]] = {}
    for index, layer in enumerate(model.layers):
        for which, part in layer.passes:
            if part.collective is not None and not _is_used(model, index, which):
                unused.setdefault(which.replace("_", " "), []).append(layer.name)
    return [
        f"the {which} collectives of {len(names)} layers, such as {names[0]}, which {model.kind} never issues"
        for which, names in unused.items()
    ]


def layer_trace(
    figures: LayerFigures,
    *,
    ranks: int,
    inside: int | None,
    iterations: int,
) -> Trace:
    """Return the Trace of some iterations of a text workload that is no DLRM.

    Parameters
    ----------
    figures : the workload, and what its figures are.
    ranks, iterations : as :func:`~astra_py.workloads.training_trace` takes them.
    inside : ranks along the first dimension of the network, or None where it has none; consecutive ranks.

    Raises
    ------
    WorkloadError : the ranks have no such groups, or a scaled figure leaves 64 bits; the message has file and line.
    """
    model = figures.model
    loop = _Loop(figures, ranks, model.option if model.kind == TRANSFORMER else inside)
    for iteration in range(iterations):
        if model.kind == "MICRO":
            loop.exchange(0, "weight_gradient", iteration)
        else:
            loop.forward(iteration)
            loop.backward(iteration)
    return loop.build.build()


class _Loop:
    """The loop's state between passes."""

    def __init__(self, figures: LayerFigures, ranks: int, inside: int | None) -> None:
        self.figures = figures
        self.model = figures.model
        self.build = TraceBuilder(ranks)
        self.all_ranks = np.arange(ranks)
        self.inside = inside
        self.last: Ids | None = None
        # a collective that the next compute of each rank waits for
        self.pending: Ids | None = None
        self.is_updated: list[Ids | None] = [None] * len(self.model.layers)

    def forward(self, iteration: int) -> None:
        for index in range(len(self.model.layers)):
            self.compute(index, "forward", iteration, self.is_updated[index])
            self.pending = self.exchange(index, "forward", iteration)

    def backward(self, iteration: int) -> None:
        for index in reversed(range(len(self.model.layers))):
            if self.model.kind == "DATA":
                self.weight_gradient(index, iteration)
                if index:
                    self.compute(index, "input_gradient", iteration)
                continue
            self.compute(index, "input_gradient", iteration)
            gradient = self.exchange(index, "input_gradient", iteration)
            if self.model.kind == TRANSFORMER:
                self.pending, gradient = gradient, None
            self.weight_gradient(index, iteration)
            self.pending = gradient

    def weight_gradient(self, index: int, iteration: int) -> None:
        self.compute(index, "weight_gradient", iteration)
        self.is_updated[index] = self.exchange(index, "weight_gradient", iteration)

    def compute(self, index: int, which: str, iteration: int, needed: Ids | None = None) -> None:
        """Add the next compute of every rank, in program order and after what it needs."""
        layer = self.model.layers[index]
        after, self.pending = [self.last, self.pending, needed], None
        self.last = self.build.compute(
            self.all_ranks,
            self.figures.compute_ps(layer, which),
            name=f"{layer.name}.{which}",
            after=after,
            iteration=iteration,
            phase=which,
        )

    def exchange(self, index: int, which: str, iteration: int) -> Ids | None:
        """Issue a layer's collective of a pass in each of its groups; i64[ranks] ends, update included, or None."""
        layer = self.model.layers[index]
        part = dict(layer.passes)[which]
        if part.collective is None or not _is_used(self.model, index, which):
            return None
        done = np.full(len(self.all_ranks), -1, dtype=np.int64)
        for group in self.groups(layer, _scope(layer, which)):
            if len(group) < 2:
                continue
            call = CollectiveCall(
                name=f"{layer.name}.{which}",
                kind=part.collective,
                group=tuple(group.tolist()),
                size_bytes=self.figures.size_bytes(layer, which, len(group)),
                iteration=iteration,
                source=self.model.where(layer),
            )
            after = None if self.last is None else self.last[group]
            done[group] = self.build.collective(call, after=after, phase=which)
        if layer.update_delay and (done >= 0).any():
            done = self.build.memory(
                self.all_ranks,
                self.figures.update_ps(layer),
                name=f"{layer.name}.update",
                after=done,
                iteration=iteration,
                phase=which,
            )
        return done

    def groups(self, layer: AstraLayer, scope: str) -> Groups:
        """The groups of ranks of a scope."""
        ranks = len(self.all_ranks)
        if scope == "all":
            return [self.all_ranks]
        if self.inside is None or ranks % self.inside:
            size = "no first dimension" if self.inside is None else f"groups of {self.inside}"
            raise WorkloadError(
                f"{self.model.where(layer)}: {layer.parallelism} parts the ranks along the dimensions of the network, "
                f"and {ranks} ranks have {size}; allowed: a platform of machines or of several dimensions"
            )
        grid = self.all_ranks.reshape(-1, self.inside)
        return list(grid if scope == "inside" else grid.T)
