# SPDX-License-Identifier: GPL-2.0-only
"""Points on this machine, several at once, each in a child of one warm process."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from astra_py.batch.cpus import usable_cpus
from astra_py.batch.executor import Started
from astra_py.batch.outcome import Outcome
from astra_py.batch.warm import WarmProcess, lost_outcome
from astra_py.batch.worker import Job
from astra_py.errors import ConfigError, EngineCrash

if TYPE_CHECKING:
    from astra_py.batch.limits import Limits
    from astra_py.batch.point import Point
    from astra_py.batch.study import Study

__all__ = ["LocalExecutor"]

#: Points that the warm process has, for each that it runs: so none waits for the driver to write a row.
_AHEAD = 2


@dataclass
class _Sent:
    """A job that the warm process has, and its attempt that began last."""

    job: Job
    started: Started | None = None
    started_s: float = 0.0


class LocalExecutor:
    """Runs points on this machine; see :class:`~astra_py.batch.executor.Executor`.

    A point costs a fork of a process that has imported everything, and an abort, a kill or a limit costs that point
    only. Where the warm process itself dies, those of its points that had begun count as crashed, with another attempt
    if ``Limits.retries`` allows it, and a new one goes on with the rest.

    Parameters
    ----------
    workers : how many points run at once; as many as this process may use CPUs where None
        (:func:`~astra_py.batch.cpus.usable_cpus`).

    Raises
    ------
    ConfigError : ``workers`` is no whole number from 1.
    """

    def __init__(self, workers: int | None = None) -> None:
        if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
            raise ConfigError(f"workers {workers!r}: allowed: a whole number from 1")
        self.workers = workers or usable_cpus()

    def run(
        self, study: Study, points: Sequence[Point], limits: Limits, on_event: Callable[[Started], None]
    ) -> Iterator[Outcome]:
        """See :meth:`astra_py.batch.executor.Executor.run`.

        Raises
        ------
        EngineCrash : the warm process dies before any point begins; why is on standard error.
        """
        waiting = deque(Job(point, limits) for point in points)
        while waiting:
            sent: dict[str, _Sent] = {}
            with WarmProcess(min(self.workers, len(waiting))) as warm:
                warm.load(study)
                try:
                    yield from self._run_in(warm, waiting, sent, on_event)
                except EOFError:
                    how = warm.close()
            if not sent:
                return
            if not any(each.started for each in sent.values()):
                raise EngineCrash(f"the process that runs points ended before any began: {how}")
            for each in reversed(sent.values()):
                if each.started is None:
                    waiting.appendleft(each.job)
                elif each.started.attempt <= limits.retries:
                    waiting.appendleft(Job(each.job.point, limits, each.started.attempt + 1))
                else:
                    yield lost_outcome(each.started, each.started_s, how)

    def _run_in(
        self, warm: WarmProcess, waiting: deque[Job], sent: dict[str, _Sent], on_event: Callable[[Started], None]
    ) -> Iterator[Outcome]:
        """Run what waits; raises EOFError where the process dies, with what it had in ``sent``."""
        while waiting or sent:
            while waiting and len(sent) < _AHEAD * self.workers:
                job = waiting.popleft()
                sent[job.point.digest] = _Sent(job)
                warm.submit(job)
            message = warm.receive()
            if isinstance(message, Started):
                sent[message.digest].started, sent[message.digest].started_s = message, time.time()
                on_event(message)
            elif message is not None:
                del sent[message.digest]
                yield message
