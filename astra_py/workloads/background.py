# SPDX-License-Identifier: GPL-2.0-only
"""Background traffic: lists of flows by the patterns of the field, drawn from a seed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from astra_py.errors import WorkloadError
from astra_py.workloads.flow_sizes import FlowSizes
from astra_py.workloads.flows import FlowList

__all__ = ["incast", "permutation", "poisson"]

Ranks = NDArray[np.int32]

_PS_PER_S = 10**12
#: Flows of one list: a run of more would not end within a day.
_MOST_FLOWS = 10**7


def incast(
    ranks: Ranks,
    rng: np.random.Generator,
    *,
    size_bytes: int,
    senders: int | None = None,
    receiver: int | None = None,
    rounds: int = 1,
    period_ps: int = 0,
    start_ps: int = 0,
) -> FlowList:
    """Many to one: in each round all senders send to the receiver, all at once.

    Parameters
    ----------
    ranks : i32[n], those that it is among.
    rng : draws receivers and senders.
    size_bytes : of each flow.
    senders : how many, drawn anew in each round; all others where None.
    receiver : one of ``ranks``; drawn anew in each round where None.
    rounds, period_ps, start_ps : how often, how far apart, from when on.

    Raises
    ------
    WorkloadError : fewer than two ranks, a receiver that is none of them, more senders than there are others, or more
        than 10^7 flows.
    """
    count = len(ranks) - 1 if senders is None else senders
    _require_two(ranks)
    if receiver is not None and receiver not in ranks:
        raise WorkloadError(f"receiver {receiver} is none of the ranks that the incast is among")
    if count >= len(ranks):
        raise WorkloadError(f"{count} senders, and there are {len(ranks) - 1} ranks beside the receiver")
    _require_few(count * rounds)
    src, dst = np.empty((rounds, count), dtype=np.int32), np.empty((rounds, count), dtype=np.int32)
    for number in range(rounds):
        to = receiver if receiver is not None else int(rng.choice(ranks))
        others = ranks[ranks != to]
        src[number] = others if count == len(others) else np.sort(rng.choice(others, count, replace=False))
        dst[number] = to
    start = np.repeat(start_ps + period_ps * np.arange(rounds, dtype=np.int64), count)
    return FlowList(src.ravel(), dst.ravel(), np.full(count * rounds, size_bytes), start)


def permutation(
    ranks: Ranks,
    rng: np.random.Generator,
    *,
    size_bytes: int,
    rounds: int = 1,
    period_ps: int = 0,
    start_ps: int = 0,
) -> FlowList:
    """Each rank sends to one other and receives from one other, the same ones in all rounds.

    The ranks are drawn into one circle, in which each sends to the next. Parameters and errors are those of
    :func:`incast`.
    """
    _require_two(ranks)
    _require_few(len(ranks) * rounds)
    circle = rng.permutation(ranks)
    order = np.argsort(circle)
    src, dst = circle[order], np.roll(circle, -1)[order]
    start = np.repeat(start_ps + period_ps * np.arange(rounds, dtype=np.int64), len(ranks))
    return FlowList(np.tile(src, rounds), np.tile(dst, rounds), np.full(len(start), size_bytes), start)


def poisson(
    ranks: Ranks,
    rng: np.random.Generator,
    *,
    sizes: FlowSizes,
    load: float,
    rate_bps: NDArray[np.int64],
    start_ps: int,
    stop_ps: int,
) -> FlowList:
    """Flows that start at independent times, from drawn ranks to drawn others, in order of their starts.

    Parameters
    ----------
    ranks : i32[n], those that it is among.
    rng : draws how many flows there are, their starts, ends and sizes.
    sizes : of flows.
    load : share of the ranks' rates that the payload of all flows takes on average.
    rate_bps : i64[n], rate of each rank's NIC; a rank with a faster one sends the more flows.
    start_ps, stop_ps : flows start from the one to before the other.

    Raises
    ------
    WorkloadError : fewer than two ranks, more than 10^7 flows, or so short a time that there is none.
    """
    _require_two(ranks)
    expected = load * float(rate_bps.sum()) / (8 * sizes.mean_bytes) * (stop_ps - start_ps) / _PS_PER_S
    _require_few(expected)
    count = int(rng.poisson(expected))
    if not count:
        raise WorkloadError(f"no flow starts in {(stop_ps - start_ps) / 1e6:g} us: {expected:.3g} were to be expected")
    start = np.sort(rng.integers(start_ps, stop_ps, count))
    sender = rng.choice(len(ranks), count, p=rate_bps / rate_bps.sum())
    # one of the others: so many places on
    to = (sender + rng.integers(1, len(ranks), count)) % len(ranks)
    return FlowList(ranks[sender], ranks[to], sizes.draw(count, rng), start)


def _require_two(ranks: Ranks) -> None:
    if len(ranks) < 2:
        raise WorkloadError(f"flows are between at least two ranks, not {len(ranks)}")


def _require_few(flows: float) -> None:
    if flows > _MOST_FLOWS:
        raise WorkloadError(f"about {flows:,.0f} flows; at most {_MOST_FLOWS:,} are allowed in one list")
