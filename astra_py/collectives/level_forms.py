# SPDX-License-Identifier: GPL-2.0-only
"""Closed forms of hierarchical algorithms: bytes and uncontended time, inside and between machines.

Like those of flat algorithms they share nothing with the builder. N is the number of machines, L that of members of
each; a group's machines are i32[n], as ``Group.machines``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.closed_forms import PS_PER_S, Pairs
from astra_py.collectives.registry import algorithm_names, find_algorithm
from astra_py.collectives.system import SystemModel
from astra_py.errors import ConfigError

__all__ = ["LevelForm", "LevelPhase", "has_level_form", "level_form"]

Column = NDArray[np.int64]
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
    """Formulas of one algorithm of two levels, of one chunk; ``payload`` is a size in bytes or a byte matrix.

    Attributes
    ----------
    pair_bytes : (machines, payload, system) -> bytes of each pair of members that exchange anything, exact; a pair may
        stand there more than once.
    phases : (machines, payload, system) -> its phases, one after another.
    """

    pair_bytes: Callable[[Machines, Any, SystemModel], Pairs]
    phases: Callable[[Machines, Any, SystemModel], tuple[LevelPhase, ...]]

    def time_ps(
        self,
        machines: Machines,
        payload: int | Column,
        *,
        inside: tuple[int, int],
        between: tuple[int, int],
        system: SystemModel | None = None,
    ) -> int:
        """Uncontended time in ps, rounded up; ``inside`` and ``between`` are (latency in ps a step, bit/s a rank)."""
        time = Fraction(0)
        for phase in self.phases(machines, payload, SystemModel() if system is None else system):
            latency_ps, bandwidth_bps = inside if phase.is_inside else between
            time += phase.steps * latency_ps + 8 * PS_PER_S * phase.wire_bytes / bandwidth_bps
        return -(-time.numerator // time.denominator)


def has_level_form(kind: str, algorithm: str) -> bool:
    """Whether an algorithm has a closed form of two levels."""
    key = (kind, algorithm)
    # A user may have taken over the name of a built-in algorithm: the form is not that one's.
    return key in _LEVEL_FORMS and algorithm in algorithm_names(kind) and find_algorithm(*key) is _WHOSE[key]


def level_form(kind: str, algorithm: str) -> LevelForm:
    """Return the closed form of an algorithm of two levels.

    Raises
    ------
    ConfigError : there is none.
    """
    if not has_level_form(kind, algorithm):
        known = ", ".join(f"{k} {a}" for k, a in _LEVEL_FORMS)
        raise ConfigError(f"no closed form of two levels of {kind} algorithm {algorithm!r}; known are {known}")
    return _LEVEL_FORMS[kind, algorithm]


def _places(machines: Machines) -> tuple[Column, Column, int, int]:
    """Local index of each member, the member [N, L] at each place, N and L."""
    count = int(machines.max()) + 1
    index = np.array([int((machines[:member] == machines[member]).sum()) for member in range(len(machines))])
    local = len(machines) // count
    member = np.empty((count, local), dtype=np.int64)
    member[machines, index] = np.arange(len(machines))
    return index, member, count, local


def _all_reduce_pairs(machines: Machines, size_bytes: int, system: SystemModel) -> Pairs:
    _, member, count, local = _places(machines)
    n = count * local
    # Part (l, k) of the buffer is the k-th of rail l's N; the first size mod n parts have a byte more.
    part = np.array([size_bytes // n + (i < size_bytes % n) for i in range(n)], dtype=np.int64).reshape(local, count)
    inside = _level_bytes(part.sum(axis=1), system.all_reduce_inside, is_all_reduce=False)
    pairs: list[tuple[Any, Any, Any]] = []
    for l_src, l_dst in zip(*np.nonzero(inside), strict=True):
        pairs.append((member[:, l_src], member[:, l_dst], np.full(count, inside[l_src, l_dst])))
    for rail in range(local):
        between = _level_bytes(part[rail], system.all_reduce_between, is_all_reduce=True)
        src, dst = np.nonzero(between)
        pairs.append((member[src, rail], member[dst, rail], between[src, dst]))
    src, dst, size = (np.concatenate(column) for column in zip(*pairs, strict=True))
    return src, dst, size


def _level_bytes(segment: Column, algorithm: str, *, is_all_reduce: bool) -> Column:
    """Bytes [n, n] of a reduce-scatter and an all-gather of these segments, together or each for itself."""
    n, total = len(segment), int(segment.sum())
    sent = np.zeros((n, n), dtype=np.int64)
    if n == 1:
        return sent
    if algorithm == "direct":
        sent[:] = segment[np.newaxis, :] + segment[:, np.newaxis]
        np.fill_diagonal(sent, 0)
        return sent
    for rank in range(n):
        following = (rank + 1) % n
        # An all-reduce goes on from where its first half ended, a segment further than an all-gather of its own.
        kept = (following, (rank + 2) % n) if is_all_reduce else (rank, following)
        sent[rank, following] = 2 * total - segment[kept[0]] - segment[kept[1]]
    return sent


def _all_reduce_phases(machines: Machines, size_bytes: int, system: SystemModel) -> tuple[LevelPhase, ...]:
    _, _, count, local = _places(machines)
    inside = LevelPhase(True, _steps(system.all_reduce_inside, local), Fraction((local - 1) * size_bytes, local))
    between = LevelPhase(
        False, 2 * _steps(system.all_reduce_between, count), Fraction(2 * (count - 1) * size_bytes, count * local)
    )
    return (inside, between, inside)


def _steps(algorithm: str, size: int) -> int:
    return size - 1 if algorithm == "ring" or size == 1 else 1


def _all_to_all_levels(machines: Machines, payload: int | Column) -> tuple[Column, Column]:
    """Bytes [n, n] inside and between machines of an exchange along rails."""
    n = len(machines)
    matrix = payload
    if isinstance(matrix, int):
        matrix = np.array([[matrix // n + (d < matrix % n) for d in range(n)]] * n, dtype=np.int64)
    _, member, _, local = _places(machines)
    inside, between = np.zeros((n, n), dtype=np.int64), np.zeros((n, n), dtype=np.int64)
    for rail in range(local):
        to_rail = matrix[:, member[:, rail]]
        inside[np.arange(n), member[machines, rail]] = to_rail.sum(axis=1)
        relayed = np.zeros((len(member), len(member)), dtype=np.int64)
        np.add.at(relayed, machines, to_rail)
        between[np.ix_(member[:, rail], member[:, rail])] = relayed
    np.fill_diagonal(inside, 0)
    np.fill_diagonal(between, 0)
    return inside, between


def _all_to_all_pairs(machines: Machines, payload: int | Column, system: SystemModel) -> Pairs:
    inside, between = _all_to_all_levels(machines, payload)
    total = inside + between
    src, dst = np.nonzero(total)
    return src, dst, total[src, dst]


def _all_to_all_phases(machines: Machines, payload: int | Column, system: SystemModel) -> tuple[LevelPhase, ...]:
    _, _, count, local = _places(machines)
    if isinstance(payload, int):
        busiest = [Fraction((local - 1) * payload, local), Fraction((count - 1) * payload, count)]
    else:
        levels = _all_to_all_levels(machines, payload)
        busiest = [Fraction(int(max(level.sum(axis=axis).max() for axis in (0, 1)))) for level in levels]
    return (
        LevelPhase(True, min(local - 1, 1), busiest[0]),
        LevelPhase(False, min(count - 1, 1), busiest[1]),
    )


_LEVEL_FORMS = {
    ("all_reduce", "hierarchical"): LevelForm(_all_reduce_pairs, _all_reduce_phases),
    ("all_to_all", "hierarchical"): LevelForm(_all_to_all_pairs, _all_to_all_phases),
    ("all_to_all_v", "hierarchical"): LevelForm(_all_to_all_pairs, _all_to_all_phases),
}
#: The algorithm that each form is of.
_WHOSE = {key: find_algorithm(*key) for key in _LEVEL_FORMS}
