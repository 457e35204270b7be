# SPDX-License-Identifier: GPL-2.0-only
"""The closed form of the hierarchical all-reduce, of any number of levels and of unequal machines."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import prod

import numpy as np

from astra_py.collectives.closed_forms import Column, Pairs, cut
from astra_py.collectives.level_forms import LevelForm, LevelPhase, Machines, register_level_form
from astra_py.collectives.step_forms import halving_doubling_pairs, segment_pairs
from astra_py.collectives.system import SystemModel

#: What is under way at a level: its teams, each of members and the bytes of their segments.
_Teams = list[tuple[list[int], list[int]]]


def _tree(machines: Machines, system: SystemModel) -> list[list[list[int]]]:
    """Of each level but the highest, the units of each of its groups: members of machines, machines of groups, ..."""
    groups: list[list[int]] = [[] for _ in range(int(machines.max()) + 1)]
    for member, machine in enumerate(machines.tolist()):
        groups[machine].append(member)
    tree = [groups]
    for size in system.machines_per_group:
        units = range(len(tree[-1]))
        tree.append([[*units[at : at + size]] for at in range(0, len(units), size)])
    return tree


def _levels(machines: Machines, size_bytes: int, system: SystemModel) -> Iterator[tuple[str, _Teams]]:
    """Each level's algorithm and teams, from the lowest to the highest, which alone has all units as one team."""
    tree = _tree(machines, system)
    names = [system.all_reduce_inside, *system.between_algorithms(len(tree))]
    top = len(tree[-1])
    ways = [min(map(len, groups)) for groups in tree]
    ways.append(1 << (top.bit_length() - 1) if names[-1] == "halving_doubling" else top)
    part = cut(size_bytes, prod(ways)).tolist()
    owner = [[member] for member in range(len(machines))]
    for level, groups in enumerate([*tree, [[*range(top)]]]):
        below = prod(ways[level + 1 :])
        teams: _Teams = []
        for units in groups:
            for segment in range(len(owner[0])):
                first = segment * ways[level] * below
                sizes = [sum(part[first + j * below : first + (j + 1) * below]) for j in range(ways[level])]
                teams.append(([owner[unit][segment] for unit in units], sizes))
        yield names[level], teams
        owner = [
            [owner[units[way]][segment] for segment in range(len(owner[0])) for way in range(ways[level])]
            for units in groups
            if level < len(tree)
        ]


def _pairs(machines: Machines, size_bytes: int, system: SystemModel) -> Pairs:
    pairs: list[Pairs] = [(np.empty(0, dtype=np.int64),) * 3]
    levels = [*_levels(machines, size_bytes, system)]
    for level, (algorithm, teams) in enumerate(levels):
        is_top = level == len(levels) - 1
        for members, sizes in teams:
            if len(members) > 1:
                src, dst, size = _team_pairs(np.array(sizes, dtype=np.int64), len(members), algorithm, is_top=is_top)
                pairs.append((np.array(members)[src], np.array(members)[dst], size))
    src, dst, size = (np.concatenate(column) for column in zip(*pairs, strict=True))
    return src, dst, size


def _team_pairs(segment: Column, n: int, algorithm: str, *, is_top: bool) -> Pairs:
    """Scattering and gathering of these segments among n; at the top in one go."""
    if algorithm == "halving_doubling":
        if is_top:
            return halving_doubling_pairs(n, segment)
        halves = [segment_pairs(segment, is_scatter=is_scatter) for is_scatter in (True, False)]
        src, dst, size = (np.concatenate(column) for column in zip(*halves, strict=True))
        return src, dst, size
    segment = np.append(segment, np.zeros(n - len(segment), dtype=np.int64))
    rank = np.arange(n)
    if algorithm == "ring":
        # An all-reduce goes on from where its first half ended, a segment further than an all-gather of its own.
        kept = (1, 2) if is_top else (0, 1)
        sent = 2 * segment.sum() - sum(np.roll(segment, -shift) for shift in kept)
        return rank, np.roll(rank, -1), sent
    src, dst = np.nonzero(~np.eye(n, dtype=np.bool_))
    return src, dst, segment[src] + segment[dst]


def _phases(machines: Machines, size_bytes: int, system: SystemModel) -> tuple[LevelPhase, ...] | None:
    phases: list[LevelPhase] = []
    held = Fraction(size_bytes)
    levels = [*_levels(machines, size_bytes, system)]
    for level, (algorithm, teams) in enumerate(levels):
        n = len(teams[0][0])
        if any(len(members) != n for members, _ in teams):
            return None
        if level == len(levels) - 1:
            top = _top_phase(algorithm, n, held)
            return (*phases, top, *phases[::-1])
        bits = n.bit_length() - 1
        steps = {"ring": n - 1, "direct": min(n - 1, 1), "halving_doubling": bits}[algorithm]
        phases.append(LevelPhase(level == 0, steps, held * (n - 1) / n))
        held /= n
    raise AssertionError("a hierarchy has a highest level")


def _top_phase(algorithm: str, n: int, held: Fraction) -> LevelPhase:
    if algorithm == "halving_doubling":
        bits = n.bit_length() - 1
        p, extra = 1 << bits, 2 if n > 1 << bits else 0
        return LevelPhase(False, 2 * bits + extra, held * 2 * (p - 1) / p + extra * held)
    steps = 2 * (n - 1) if algorithm == "ring" else 2 * min(n - 1, 1)
    return LevelPhase(False, steps, held * 2 * (n - 1) / n)


register_level_form("all_reduce", "hierarchical", LevelForm(_pairs, _phases))
