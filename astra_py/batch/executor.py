# SPDX-License-Identifier: GPL-2.0-only
"""Who runs the points of a sweep."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from astra_py.batch.limits import Limits
    from astra_py.batch.outcome import Outcome
    from astra_py.batch.point import Point
    from astra_py.batch.study import Study

__all__ = ["Executor", "Started"]


@dataclass(frozen=True)
class Started:
    """An attempt at a point began.

    Attributes
    ----------
    digest : the point's.
    attempt : 1 at first, more where it is tried again.
    worker : who runs it: ``host:pid``.
    """

    digest: str
    attempt: int
    worker: str


class Executor(Protocol):
    """Runs points, in any order, and gives one outcome for each."""

    def run(
        self, study: Study, points: Sequence[Point], limits: Limits, on_event: Callable[[Started], None]
    ) -> Iterator[Outcome]:
        """Run ``points`` of ``study`` and yield each one's outcome as it comes.

        Whatever happens to a point is its outcome; only what stops all of them is raised. A run is
        :func:`astra_py.batch.row.run_point`. When the iterator is closed, or an exception (Ctrl-C) passes through it,
        what still runs is stopped.

        Parameters
        ----------
        study : gives each point's scenario (:meth:`~astra_py.batch.study.Study.scenario`); can be pickled.
        points : of different digests.
        limits : of each point.
        on_event : told when an attempt begins, in the caller's thread.
        """
