# SPDX-License-Identifier: GPL-2.0-only
"""How long a DLRM's iteration takes, from the times of its steps alone: two published rules.

Neither looks at a network: each collective has one time, which somebody measured or a formula of
:mod:`astra_py.collectives` gives. They stand beside simulated iterations as an independent check, and reproduce what
was published on ZionEX (:mod:`astra_py.analysis.madmax`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from astra_py.workloads.dlrm.exchanges import Exchanges
    from astra_py.workloads.dlrm.model import DenseLayer
    from astra_py.workloads.dlrm.step_times import PassTimes, StepTimes

__all__ = [
    "CommunicationRates",
    "DenseFigures",
    "IterationForm",
    "StepFigures",
    "mad_max_iteration",
    "neo_iteration",
    "step_figures",
]


@dataclass(frozen=True, kw_only=True)
class DenseFigures:
    """One dense layer.

    Attributes
    ----------
    forward_ps, backward_ps : its passes; the backward one has the gradients of weights and of inputs.
    all_reduce_ps : the all-reduce of its weight gradient.
    """

    forward_ps: int
    backward_ps: int
    all_reduce_ps: int


@dataclass(frozen=True, kw_only=True)
class StepFigures:
    """Times of the steps of one iteration on one rank, in ps.

    Attributes
    ----------
    lookup_ps, update_ps : embedding tables, forward and backward.
    all_to_all_forward_ps, all_to_all_backward_ps : pooled vectors, and their gradients.
    interaction_forward_ps, interaction_backward_ps : between the MLPs.
    bottom, top : layers of the MLPs, first to last.
    """

    lookup_ps: int
    update_ps: int
    all_to_all_forward_ps: int
    all_to_all_backward_ps: int
    interaction_forward_ps: int = 0
    interaction_backward_ps: int = 0
    bottom: tuple[DenseFigures, ...]
    top: tuple[DenseFigures, ...]

    @property
    def all_reduce_ps(self) -> int:
        """All all-reduces, one after another."""
        return sum(layer.all_reduce_ps for layer in (*self.bottom, *self.top))

    @property
    def communication_ps(self) -> int:
        """All collectives, one after another."""
        return self.all_to_all_forward_ps + self.all_to_all_backward_ps + self.all_reduce_ps


@dataclass(frozen=True)
class IterationForm:
    """What a rule makes of a step's figures, in ps.

    Attributes
    ----------
    iteration_ps : the iteration.
    compute_ps : the time in which anything is computed.
    communication_ps : all collectives, one after another.
    """

    iteration_ps: int
    compute_ps: int
    communication_ps: int

    @property
    def exposed_ps(self) -> int:
        """Communication that no compute hides: what is left of the iteration without it."""
        return self.iteration_ps - self.compute_ps

    @property
    def exposed_share(self) -> float:
        """Exposed part of all communication; 0 where there is none."""
        return self.exposed_ps / self.communication_ps if self.communication_ps else 0.0


def _forward(layers: Iterable[DenseFigures]) -> int:
    return sum(layer.forward_ps for layer in layers)


def _backward(layers: Iterable[DenseFigures]) -> int:
    return sum(layer.backward_ps for layer in layers)


def neo_iteration(step: StepFigures) -> IterationForm:
    """Neo's closed form (Mudigere et al., ISCA 2022, section 5.1, equations 1 and 2).

    Forward, embeddings with their all-to-all and the bottom MLP go side by side; backward, so do they after the
    interaction, and all all-reduces go beside all of it. What is side by side takes nothing from each other, so compute
    of embeddings and of MLPs overlaps, too.
    """

    def iteration(forward_ps: int, backward_ps: int, reduce_ps: int) -> int:
        forward = max(_forward(step.bottom), step.lookup_ps + forward_ps)
        forward += step.interaction_forward_ps + _forward(step.top)
        after = max(backward_ps + step.update_ps, _backward(step.bottom))
        return forward + max(_backward(step.top) + step.interaction_backward_ps + after, reduce_ps)

    return IterationForm(
        iteration(step.all_to_all_forward_ps, step.all_to_all_backward_ps, step.all_reduce_ps),
        iteration(0, 0, 0),
        step.communication_ps,
    )


def mad_max_iteration(step: StepFigures) -> IterationForm:
    """MAD-Max's rule (Hsia et al., ISCA 2024, section 4): a stream of compute and one of communication, each in order.

    Compute: lookup, bottom forward, interaction, top forward, top backward, interaction, bottom backward, update.
    Communication: the all-to-all after the lookup; a layer's all-reduce once its backward pass is over, those of the
    top layers before the gradients' all-to-all, those of the bottom layers after it. The interaction waits for the one
    all-to-all, the update for the other; the iteration ends when both streams have.
    """
    network = step.lookup_ps + step.all_to_all_forward_ps
    compute = max(step.lookup_ps + _forward(step.bottom), network)
    compute += step.interaction_forward_ps + _forward(step.top)
    for layer in reversed(step.top):
        compute += layer.backward_ps
        network = max(network, compute) + layer.all_reduce_ps
    compute += step.interaction_backward_ps
    gradients = network = max(network, compute) + step.all_to_all_backward_ps
    for layer in reversed(step.bottom):
        compute += layer.backward_ps
        network = max(network, compute) + layer.all_reduce_ps
    compute = max(compute, gradients) + step.update_ps
    busy = step.lookup_ps + step.update_ps + step.interaction_forward_ps + step.interaction_backward_ps
    busy += sum(layer.forward_ps + layer.backward_ps for layer in (*step.bottom, *step.top))
    return IterationForm(max(compute, network), busy, step.communication_ps)


@dataclass(frozen=True, kw_only=True)
class CommunicationRates:
    """What collectives reach, each rank's whole buffer over their time (nccl-tests' algbw), in B/s.

    The defaults are Neo's measurements on ZionEX with 16 x 8 GPUs (Mudigere et al., ISCA 2022, section 5.2).
    """

    all_to_all_Bps: int = 7 * 10**9  # noqa: N815  (b is bit and B is byte)
    all_reduce_Bps: int = 60 * 10**9  # noqa: N815

    def all_to_all_ps(self, size_bytes: int) -> int:
        """Time of an all-to-all of ``size_bytes`` a rank, rounded to nearest."""
        return _time_ps(size_bytes, self.all_to_all_Bps)

    def all_reduce_ps(self, size_bytes: int) -> int:
        """Time of an all-reduce of ``size_bytes``, rounded to nearest."""
        return _time_ps(size_bytes, self.all_reduce_Bps)


def _time_ps(size_bytes: int, rate: int) -> int:
    return round(Fraction(size_bytes * 10**12, rate))


def step_figures(
    times: StepTimes, exchanges: Exchanges, rates: CommunicationRates, *, is_balanced: bool = False
) -> StepFigures:
    """Figures of a DLRM that a scenario describes; indices are with the tables' owners, tables are not divided by rows.

    Parameters
    ----------
    times : compute, as the scenario has it.
    exchanges : what the sharding plan sends.
    rates : what collectives reach.
    is_balanced : whether tables count as spread evenly, as models without a plan have them: times and buffers are then
        the mean over ranks, else those of the slowest rank and of the largest buffer.
    """
    model = exchanges.model

    def over_ranks(values: NDArray[np.int64]) -> int:
        return round(Fraction(int(values.sum()), len(values))) if is_balanced else int(values.max())

    def buffer(matrix: NDArray[np.int64]) -> int:
        """Bytes that a rank sends or receives, its own part included."""
        return max(over_ranks(matrix.sum(axis=axis)) for axis in (0, 1))

    def layers(of_model: tuple[DenseLayer, ...], of_times: tuple[PassTimes, ...]) -> tuple[DenseFigures, ...]:
        return tuple(
            DenseFigures(
                forward_ps=over_ranks(time.forward_ps),
                backward_ps=over_ranks(time.weight_gradient_ps + time.input_gradient_ps),
                all_reduce_ps=rates.all_reduce_ps(exchanges.dense(layer)),
            )
            for layer, time in zip(of_model, of_times, strict=True)
        )

    return StepFigures(
        lookup_ps=over_ranks(times.lookup_ps),
        update_ps=over_ranks(times.update_ps),
        all_to_all_forward_ps=rates.all_to_all_ps(buffer(exchanges.pooled())),
        all_to_all_backward_ps=rates.all_to_all_ps(buffer(exchanges.gradients())),
        interaction_forward_ps=over_ranks(times.interaction_forward_ps),
        interaction_backward_ps=over_ranks(times.interaction_backward_ps),
        bottom=layers(model.bottom_layers, times.bottom),
        top=layers(model.top_layers, times.top),
    )
