# SPDX-License-Identifier: GPL-2.0-only
"""The warm process: everything is imported, nothing is made; it forks a child for each attempt at a point.

It is a plain new process and has one thread, so that forking it is safe whatever the driver is: threads of numpy, of a
progress bar or of Dask are not in it. It talks to its driver over a socket and goes, with its children, when the socket
closes: so a driver leaves nothing behind, however it dies.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
from collections import deque
from dataclasses import dataclass, replace
from importlib import import_module
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING

from astra_py.api import versions_here
from astra_py.batch.attempt import Verdict, attempt_point, judge, over_limit
from astra_py.batch.child import Child
from astra_py.batch.executor import Started
from astra_py.batch.limits import Limits
from astra_py.batch.outcome import Outcome, Status
from astra_py.batch.point import Point
from astra_py.batch.study import Study
from astra_py.plugins import BUILT_IN, load_group

if TYPE_CHECKING:
    from astra_py.batch.child import End

__all__ = ["Job", "serve"]

#: How often the memory of a point with a limit is looked at, in seconds; assumed. RLIMIT_AS and RLIMIT_DATA count what
#: is reserved, of which a process with ns-3 and numpy has much more than it uses, and fail where the simulation cannot
#: say why; a control group of its own is not everybody's to make. So resident memory is looked at.
_LOOK_EVERY_S = 0.05
#: Longest time that nothing is looked at where a time limit is far off, in seconds: poll(2) takes 24 days at most.
_LONGEST_WAIT_S = 3600.0
#: What a run imports beside :mod:`astra_py.batch.row` and the registered groups.
_WARM = (
    "astra_py._ns3_ext",
    "astra_py.analysis",
    "astra_py.engines.analytic",
    "astra_py.engines.flow",
)


@dataclass(frozen=True)
class Job:
    """A point to run.

    Attributes
    ----------
    point, limits : what, and what it may take.
    attempt : number of the next attempt, from 1.
    """

    point: Point
    limits: Limits
    attempt: int = 1


@dataclass
class _Running:
    job: Job
    child: Child
    stopped: Verdict | None = None


def serve(fd: int, workers: int) -> None:
    """Run the points that come over socket ``fd``, ``workers`` at once, until it closes.

    Takes a :class:`~astra_py.batch.study.Study`, which is that of all points after it, and :class:`Job`; gives a
    :class:`~astra_py.batch.executor.Started` for each attempt and one :class:`~astra_py.batch.outcome.Outcome` for
    each job.
    """
    _warm_up()
    with Connection(fd) as driver:
        server = _Server(driver, workers)
        try:
            server.run()
        except (EOFError, ConnectionError):
            pass  # the driver has gone
        finally:
            server.stop()


def _warm_up() -> None:
    for name in _WARM:
        import_module(name)
    for group in BUILT_IN:
        load_group(group)
    versions_here()
    # what is there now is not looked at by the children's collectors, which would copy all of its pages
    gc.collect()
    gc.freeze()


class _Server:
    def __init__(self, driver: Connection, workers: int) -> None:
        self._driver = driver
        self._workers = workers
        self._study: Study | None = None
        self._waiting: deque[Job] = deque()
        self._running: list[_Running] = []
        self._host = socket.gethostname()
        # A child's end wakes the loop: the signal's handler does nothing, and its number comes through a pipe.
        self._woken, self._wakes = os.pipe()
        for pipe in (self._woken, self._wakes):
            os.set_blocking(pipe, False)
        signal.set_wakeup_fd(self._wakes, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def run(self) -> None:
        while True:
            pipes = [pipe for running in self._running for pipe in running.child.pipes]
            ready = wait([self._driver, self._woken, *pipes], self._patience_s())
            # all that has come, so that driver and server never both wait for the other to read
            while self._driver in ready and self._driver.poll():
                self._take(self._driver.recv())
            if self._woken in ready:
                os.read(self._woken, 4096)
            for running in list(self._running):
                self._look_at(running)
            while self._waiting and len(self._running) < self._workers:
                if not self._start(self._waiting.popleft()):
                    break

    def stop(self) -> None:
        for running in self._running:
            running.child.kill()
        for running in self._running:
            running.child.end(is_awaited=True)

    def _take(self, message: Study | Job) -> None:
        if isinstance(message, Study):
            self._study = message
        else:
            self._waiting.append(message)

    def _patience_s(self) -> float | None:
        """How long nothing has to be looked at, if nothing happens."""
        limited = [running for running in self._running if running.stopped is None]
        times = [_LOOK_EVERY_S for running in limited if running.job.limits.memory_bytes is not None]
        ends = [(running.job.limits.time_s, running.child.age_s) for running in limited]
        times += [min(max(limit_s - age_s, 0.0), _LONGEST_WAIT_S) for limit_s, age_s in ends if limit_s is not None]
        return min(times, default=None)

    def _start(self, job: Job) -> bool:
        """Start an attempt; where there is no process for it, it waits for the others to end."""
        study, point = self._study, job.point
        assert study is not None
        private = [self._driver.fileno(), self._woken, self._wakes]
        private += [pipe for running in self._running for pipe in running.child.pipes]
        try:
            child = Child(lambda: attempt_point(study, point, job.attempt), private)
        except OSError as error:
            if not self._running:
                raise SystemExit(f"no process can be started: {error}") from error
            self._waiting.appendleft(job)
            return False
        self._running.append(_Running(job, child))
        self._driver.send(Started(point.digest, job.attempt, self._worker(child)))
        return True

    def _look_at(self, running: _Running) -> None:
        child, limits = running.child, running.job.limits
        child.drain()
        if (end := child.end()) is not None:
            self._running.remove(running)
            self._finish(running, end)
        elif running.stopped is None:
            rss_bytes = 0 if limits.memory_bytes is None else child.rss_bytes()
            running.stopped = over_limit(limits, child.age_s, rss_bytes)
            if running.stopped is not None:
                child.kill()

    def _finish(self, running: _Running, end: End) -> None:
        job = running.job
        verdict = judge(end)
        if running.stopped is not None and verdict.status is Status.CRASHED:
            verdict = running.stopped
        if verdict.is_death and job.attempt <= job.limits.retries:
            self._waiting.appendleft(replace(job, attempt=job.attempt + 1))
            return
        cost = {**(verdict.cost or {}), "cpu_s": end.cpu_s}
        self._driver.send(
            Outcome(
                digest=job.point.digest,
                status=verdict.status,
                reason=verdict.reason,
                row=verdict.row or {},
                attempts=job.attempt,
                started_s=end.started_s,
                ended_s=end.ended_s,
                worker=self._worker(running.child),
                cost={"peak_rss_bytes": end.peak_rss_bytes, **cost},
            )
        )

    def _worker(self, child: Child) -> str:
        return f"{self._host}:{child.pid}"
