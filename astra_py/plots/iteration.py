# SPDX-License-Identifier: GPL-2.0-only
"""The iteration that a timeline shows: its operations, and from when to when it lasts on each rank.

As in the table ``iterations``: on one rank, iteration k ends when the last operation of iterations 0 to k ends, and the
next begins there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.errors import ConfigError, did_you_mean
from astra_py.plots.collective_kinds import kinds_of
from astra_py.results.intervals import IntervalSet

if TYPE_CHECKING:
    from astra_py.results.columns import Columns
    from astra_py.results.result import Result

__all__ = ["Iteration", "find_iteration"]


@dataclass(frozen=True)
class Iteration:
    """An iteration of a job of a run.

    Attributes
    ----------
    result : of the run.
    job : name of the job; empty where there is one.
    number : of the iteration.
    last_rank : the rank that ends the job, which the table ``iterations`` follows.
    first_ps : when the job starts.
    """

    result: Result
    job: str
    number: int
    last_rank: int
    first_ps: int

    @cached_property
    def operations(self) -> Columns:
        """Columns of ``operations``: the job's that have started and ended, with ``collective_kind``; in its order."""
        table = self.result.columns("operations")
        is_seen = (table["job"] == self.job) & (table["start_ps"] >= 0) & (table["end_ps"] >= table["start_ps"])
        seen = {name: column[is_seen] for name, column in table.items()}
        return seen | {"collective_kind": kinds_of(self.result, seen["collective"])}

    @cached_property
    def bounds(self) -> NDArray[np.int64]:
        """i64[ranks, 2]: when the iteration begins and ends on each rank, in ps."""
        bounds = np.full((self.result.manifest["platform"]["ranks"], 2), self.first_ps, dtype=np.int64)
        table = self.operations
        for column, last in enumerate((self.number - 1, self.number)):
            upto = table["iteration"] <= last
            np.maximum.at(bounds[:, column], table["rank"][upto], table["end_ps"][upto])
        return bounds

    @property
    def ranks(self) -> NDArray[np.int64]:
        """Ranks of which the table has operations, in order: of a job, or a sample, they need not be all."""
        return np.unique(self.operations["rank"])

    def of_rank(self, rank: int) -> Columns:
        """The operations of one rank that are under way in its iteration, whichever iteration they belong to.

        Raises
        ------
        ConfigError : there is no such rank, or nothing of it.
        """
        if not 0 <= rank < len(self.bounds):
            raise ConfigError(f"rank {rank}: there is none; allowed: 0 to {len(self.bounds) - 1}")
        begin, end = self.bounds[rank]
        table = self.operations
        is_seen = (table["rank"] == rank) & (table["start_ps"] < end) & (table["end_ps"] > begin)
        if not is_seen.any():
            raise ConfigError(
                f"rank {rank} has no operations in iteration {self.number}; allowed: one of the {len(self.ranks)} "
                f"ranks that have some, such as {self.last_rank}"
            )
        return {name: column[is_seen] for name, column in table.items()}

    def compute(self, rank: int) -> IntervalSet:
        """When one rank computes for the iteration: it may begin before the rank's iteration does."""
        table = self.operations
        own = (table["rank"] == rank) & (table["iteration"] == self.number) & (table["kind"] == "compute")
        return IntervalSet(table["start_ps"][own], table["end_ps"][own])

    def exposed_ps(self, rank: int) -> int:
        """Exposed communication of one rank, as in the table: the iteration's time less the union of its compute."""
        begin, end = self.bounds[rank]
        return int(end - begin) - self.compute(rank).length


def find_iteration(result: Result, number: int | None, job: str | None) -> Iteration:
    """The iteration ``number`` of a job; the last one, and of the job that ends last, where these are None.

    Raises
    ------
    ConfigError : the run has no whole iterations, or not this one, or no such job.
    """
    table = result.columns("iterations")
    if not len(table["iteration"]):
        why = "it was stopped in its first" if result.is_partial else "as of flows alone"
        raise ConfigError(f"the run has no iterations, {why}: there is no timeline to draw")
    ends_ps = np.rint(table["start_us"] * 1e6).astype(np.int64) + table["time_ps"]
    jobs = [str(name) for name in dict.fromkeys(table["job"].tolist())]
    if job is None:
        job = str(table["job"][int(np.argmax(ends_ps))])
    elif job not in jobs:
        raise ConfigError(f"the run has no job {job!r}{did_you_mean(job, jobs)}; allowed: {', '.join(jobs) or 'none'}")
    rows = np.flatnonzero(table["job"] == job)
    numbers = table["iteration"][rows].tolist()
    if number is None:
        number = numbers[-1]
    elif number not in numbers:
        raise ConfigError(f"the run has no iteration {number}; allowed: {', '.join(map(str, numbers))}")
    first_ps = int(np.rint(table["start_us"][rows[0]] * 1e6))
    return Iteration(result, job, number, int(table["rank"][rows[0]]), first_ps)
