# SPDX-License-Identifier: GPL-2.0-only
"""A Trace as the system runs it: slow ranks, and priorities that are not the workload's own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from astra_py.errors import ConfigError
from astra_py.workloads.calls import MAX_PRIORITY
from astra_py.workloads.trace import Trace

__all__ = ["PRIORITY_RULES", "drawn_factors", "named_factors", "prioritised", "slowed"]

#: Who gives collectives their priorities.
PRIORITY_RULES = ("workload", "all_to_all_first", "none")

#: Keeps the factors of ranks apart from all else that is drawn from a run's seed.
_STREAM = 0x5107


def named_factors(ranks: int, factors: tuple[tuple[int, float], ...]) -> NDArray[np.float64]:
    """Factors of some ranks, 1 for the others; f64[ranks].

    Raises
    ------
    ConfigError : a rank that the job does not have.
    """
    of_rank = np.ones(ranks)
    for rank, factor in factors:
        if not 0 <= rank < ranks:
            raise ConfigError(f"system.stragglers: rank {rank} is not in the job; allowed: 0 to {ranks - 1}")
        of_rank[rank] = factor
    return of_rank


def drawn_factors(ranks: int, sigma: float, seed: int) -> NDArray[np.float64]:
    """A factor for each rank, ``exp(N(0, sigma))`` drawn from the run's seed; f64[ranks]. Half of them are below 1."""
    return np.exp(np.random.default_rng([seed, _STREAM]).normal(0.0, sigma, ranks))


def slowed(trace: Trace, factors: NDArray[np.float64]) -> Trace:
    """Multiply the times of each rank's compute and memory work by its factor, to whole picoseconds."""
    factor = factors[trace.rank]
    longer = np.rint(trace.duration_ps * factor).astype(np.int64)
    return replace(trace, duration_ps=np.where(factor == 1.0, trace.duration_ps, longer))


def prioritised(trace: Trace, rule: str) -> Trace:
    """Give collectives their priorities by one of :data:`PRIORITY_RULES`.

    ``"workload"`` leaves them as they are. ``"all_to_all_first"`` gives all-to-alls the highest and all others the
    lowest, as Neo does (ISCA 2022, section 4): a forward pass waits for them at once. ``"none"`` makes all equal. Flows
    keep their own.
    """
    if rule == "workload":
        return trace
    is_first = rule == "all_to_all_first"
    calls = tuple(
        replace(call, priority=MAX_PRIORITY if is_first and call.kind.startswith("all_to_all") else 0)
        if call.flows is None
        else call
        for call in trace.calls
    )
    return replace(trace, calls=calls)
