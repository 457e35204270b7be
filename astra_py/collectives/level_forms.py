# SPDX-License-Identifier: GPL-2.0-only
"""Closed forms of algorithms that depend on machines or on ``SystemModel``: bytes and uncontended time.

Like those of :mod:`astra_py.collectives.closed_forms` they share nothing with the builder. N is the number of machines,
L that of members of each; a group's machines are i32[n], as ``Group.machines``. The forms themselves are in
:mod:`~astra_py.collectives.hierarchy_forms`, :mod:`~astra_py.collectives.relay_forms` and
:mod:`~astra_py.collectives.piece_forms`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.closed_forms import PS_PER_S, Column, Pairs
from astra_py.collectives.registry import Algorithm, algorithm_names, find_algorithm
from astra_py.collectives.system import SystemModel
from astra_py.errors import ConfigError

__all__ = ["LevelForm", "LevelPhase", "has_level_form", "level_form", "register_level_form"]

Machines = NDArray[np.int32]


@dataclass(frozen=True)
class LevelPhase:
    """One phase of an algorithm.

    Attributes
    ----------
    is_inside : whether its messages stay inside machines.
    steps : how many times the latency of a step counts.
    wire_bytes : what one rank's port carries one after another.
    """

    is_inside: bool
    steps: int
    wire_bytes: Fraction


@dataclass(frozen=True)
class LevelForm:
    """Formulas of one algorithm, of one chunk; ``payload`` is a size in bytes or a byte matrix.

    Attributes
    ----------
    pair_bytes : (machines, payload, system) -> bytes of each pair of members that exchange anything, exact; a pair may
        stand there more than once.
    phases : (machines, payload, system) -> its phases, one after another; None where they overlap or share links, so
        that there is no such time.
    """

    pair_bytes: Callable[[Machines, Any, SystemModel], Pairs]
    phases: Callable[[Machines, Any, SystemModel], tuple[LevelPhase, ...] | None]

    def time_ps(
        self,
        machines: Machines,
        payload: int | Column,
        *,
        inside: tuple[int, int],
        between: tuple[int, int],
        system: SystemModel | None = None,
    ) -> int:
        """Uncontended time in ps, rounded up; ``inside`` and ``between`` are (latency in ps a step, bit/s a rank).

        Raises
        ------
        ConfigError : the algorithm has no such time on these machines.
        """
        phases = self.phases(machines, payload, SystemModel() if system is None else system)
        if phases is None:
            raise ConfigError("the phases of this algorithm overlap or share links on these machines: no closed time")
        time = Fraction(0)
        for phase in phases:
            latency_ps, bandwidth_bps = inside if phase.is_inside else between
            time += phase.steps * latency_ps + 8 * PS_PER_S * phase.wire_bytes / bandwidth_bps
        return -(-time.numerator // time.denominator)


#: Each form with the function that it is true of.
_level_forms: dict[tuple[str, str], tuple[LevelForm, Algorithm]] = {}


def register_level_form(kind: str, algorithm: str, form: LevelForm) -> None:
    """Make ``form`` that of the function registered now: where another one takes over the name, it is not used."""
    _level_forms[kind, algorithm] = (form, find_algorithm(kind, algorithm))


def has_level_form(kind: str, algorithm: str) -> bool:
    """Whether an algorithm has a closed form that depends on machines or on how it was told to work."""
    known = _level_forms.get((kind, algorithm))
    return known is not None and algorithm in algorithm_names(kind) and known[1] is find_algorithm(kind, algorithm)


def level_form(kind: str, algorithm: str) -> LevelForm:
    """Return the closed form of an algorithm that depends on machines or on how it was told to work.

    Raises
    ------
    ConfigError : there is none.
    """
    if not has_level_form(kind, algorithm):
        known = ", ".join(f"{k} {a}" for k, a in _level_forms)
        raise ConfigError(f"no closed form of two levels of {kind} algorithm {algorithm!r}; known are {known}")
    return _level_forms[kind, algorithm][0]
