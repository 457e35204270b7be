# SPDX-License-Identifier: GPL-2.0-only
"""Closed forms of all-to-alls that go along rails: to the receiver's place inside the machine, then to its machine."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from astra_py.collectives.closed_forms import Column, Pairs
from astra_py.collectives.level_forms import LevelForm, LevelPhase, Machines, register_level_form
from astra_py.collectives.system import SystemModel


def _levels(machines: Machines, payload: int | Column) -> tuple[Column, Column]:
    """Bytes [n, n] that go inside machines, and between them."""
    n = len(machines)
    matrix = payload
    if isinstance(matrix, int):
        matrix = np.array([[matrix // n + (d < matrix % n) for d in range(n)]] * n, dtype=np.int64)
    members = [np.flatnonzero(machines == machine) for machine in range(int(machines.max()) + 1)]
    inside, between = np.zeros((n, n), dtype=np.int64), np.zeros((n, n), dtype=np.int64)
    for local in members:
        for remote in members:
            for place, dst in enumerate(remote.tolist()):
                if local is remote:
                    inside[local, dst] += matrix[local, dst]
                else:
                    relay = local[place % len(local)]
                    inside[local, relay] += matrix[local, dst]
                    between[relay, dst] += matrix[local, dst].sum()
    np.fill_diagonal(inside, 0)
    return inside, between


def _pairs(machines: Machines, payload: int | Column, system: SystemModel) -> Pairs:
    inside, between = _levels(machines, payload)
    total = inside + between
    src, dst = np.nonzero(total)
    return src, dst, total[src, dst]


def _phases(machines: Machines, payload: int | Column, system: SystemModel) -> tuple[LevelPhase, ...] | None:
    members = np.bincount(machines)
    if (members != members[0]).any():
        return None
    count, local = len(members), int(members[0])
    if isinstance(payload, int):
        busiest = [Fraction((local - 1) * payload, local), Fraction((count - 1) * payload, count)]
    else:
        levels = _levels(machines, payload)
        busiest = [Fraction(int(max(level.sum(axis=axis).max() for axis in (0, 1)))) for level in levels]
    return (
        LevelPhase(True, min(local - 1, 1), busiest[0]),
        LevelPhase(False, min(count - 1, 1), busiest[1]),
    )


for _kind in ("all_to_all", "all_to_all_v"):
    register_level_form(_kind, "hierarchical", LevelForm(_pairs, _phases))
    # the same ways, but the phases overlap
    register_level_form(_kind, "pxn", LevelForm(_pairs, lambda machines, payload, system: None))
