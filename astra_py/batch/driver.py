# SPDX-License-Identifier: GPL-2.0-only
"""The driver of a sweep: what is not done is run, what comes is kept."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from astra_py.batch.limits import Limits
from astra_py.batch.shard import WHOLE, Shard
from astra_py.errors import EngineCrash

if TYPE_CHECKING:
    from astra_py.batch.executor import Executor, Started
    from astra_py.batch.outcome import Outcome
    from astra_py.batch.point import Point
    from astra_py.batch.store import Store
    from astra_py.batch.study import Study

__all__ = ["SweepProgress", "distinct", "drive"]

#: Least seconds from one writing of the tables to the next while points run.
_TABLES_EVERY_S = 5.0
#: Largest share of the time that writing the tables may take.
_TABLES_SHARE = 0.05


@dataclass(frozen=True)
class SweepProgress:
    """How far a sweep is.

    Attributes
    ----------
    runs : how many there are in this driver's share; points of one digest are one run.
    done, failed : how many are over, those of drivers before included, and how many of these have failed.
    kept : how many of ``done`` were over when this driver began.
    running : how many are under way.
    elapsed_s : seconds since this driver began.
    point, outcome : what is over last, and how; None before the first.
    """

    runs: int
    done: int
    failed: int
    kept: int
    running: int
    elapsed_s: float
    point: Point | None = None
    outcome: Outcome | None = None

    @property
    def left_s(self) -> float | None:
        """Seconds that the rest takes if it goes on like this; None before the first run of this driver is over."""
        own = self.done - self.kept
        return self.elapsed_s / own * (self.runs - self.done) if own else None


def distinct(points: tuple[Point, ...]) -> list[Point]:
    """The first point of each digest, in order: what is run."""
    first: dict[str, Point] = {}
    for point in points:
        first.setdefault(point.digest, point)
    return list(first.values())


def drive(
    study: Study,
    store: Store,
    executor: Executor,
    limits: Limits,
    *,
    shard: Shard = WHOLE,
    is_failed_retried: bool = False,
    told: Callable[[SweepProgress], None] | None = None,
) -> None:
    """Run what is not done, and keep each outcome as it comes.

    Parameters
    ----------
    study, store, executor, limits : what to run, where to keep it, who runs it, and what each point may take.
    shard : the share to run.
    is_failed_retried : whether points that failed before are run again.
    told : called when a point begins and when one is over.

    Raises
    ------
    EngineCrash : the executor ended, and a point has no outcome.
    KeyboardInterrupt, OSError, AstraPyError : whatever stops the executor or the store; what is kept stays.
    """
    runs = shard.share(distinct(study.points))
    done = store.done()
    before = [done[point.digest] for point in runs if point.digest in done]
    kept = [outcome for outcome in before if outcome.is_ok or not is_failed_retried]
    over = {outcome.digest for outcome in kept}
    left = [point for point in runs if point.digest not in over]
    count, failed, started = len(kept), sum(not outcome.is_ok for outcome in kept), time.monotonic()
    running: set[str] = set()

    def tell(point: Point | None = None, outcome: Outcome | None = None) -> None:
        if told is not None:
            elapsed = time.monotonic() - started
            told(SweepProgress(len(runs), count, failed, len(kept), len(running), elapsed, point, outcome))

    def begun(event: Started) -> None:
        running.add(event.digest)
        tell()

    tell()
    if not left:
        return
    store.begin(
        {
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "started_s": time.time(),
            "command": sys.argv,
            "shard": f"{shard.number}/{shard.count}",
            "executor": type(executor).__name__,
            "limits": {"time_s": limits.time_s, "memory_bytes": limits.memory_bytes, "retries": limits.retries},
            "runs": len(left),
        }
    )
    point_of = {point.digest: point for point in left}
    without = set(point_of)
    next_write = time.monotonic() + _TABLES_EVERY_S
    outcomes = executor.run(study, left, limits, begun)
    try:
        for outcome in outcomes:
            store.append(outcome)
            without.remove(outcome.digest)
            running.discard(outcome.digest)
            count, failed = count + 1, failed + (not outcome.is_ok)
            tell(point_of[outcome.digest], outcome)
            if (now := time.monotonic()) >= next_write:
                store.write_tables()
                took = time.monotonic() - now
                next_write = now + max(_TABLES_EVERY_S, took / _TABLES_SHARE)
    finally:
        # at once, and not when the iterator happens to be collected: what still runs is stopped
        if isinstance(outcomes, Generator):
            outcomes.close()
    if without:
        raise EngineCrash(f"{len(without)} of {len(left)} points have no outcome though their executor has ended")
