# SPDX-License-Identifier: GPL-2.0-only
"""Points on the workers of a Dask cluster: each in a child of a warm process beside the Dask worker."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from astra_py.batch.executor import Started
from astra_py.batch.outcome import Outcome, Status
from astra_py.batch.parcel import Bundle, Packer, Parcel
from astra_py.batch.warm import WarmProcess, lost_outcome
from astra_py.batch.worker import Job
from astra_py.errors import AstraPyError, ConfigError, EngineCrash

if TYPE_CHECKING:
    import distributed

    from astra_py.batch.limits import Limits
    from astra_py.batch.point import Point
    from astra_py.batch.study import Study

__all__ = ["DaskExecutor"]

#: How long a scheduler may take to answer, in seconds; assumed.
_ANSWER_S = 30
#: How often the cluster's size is asked for, and a worker whether its point is still wanted, in seconds; assumed.
_ASK_EVERY_S = 1.0
#: Points that the cluster has, for each of its threads: so no thread waits for the driver.
_AHEAD = 2

#: Warm processes of this Dask worker that run nothing.
_idle: list[WarmProcess] = []


class DaskExecutor:
    """Runs points on a Dask cluster, one in each thread of its workers; see :class:`~astra_py.batch.executor.Executor`.

    Workers need the same version of the package, and no shared file system: a point's effective configuration and the
    bytes of its files are sent, and its digest is compared there. Limits and deaths are those of a process of the point
    alone, so that they never reach the Dask worker; where a worker dies, Dask runs its points again elsewhere. A point
    under which more workers died than the scheduler allows (``distributed.scheduler.allowed-failures``) is given up as
    crashed, after ``Limits.retries`` more times of that.

    Parameters
    ----------
    cluster : the scheduler's address, such as ``"tcp://10.0.0.1:8786"``, or a ``distributed.Client``, which stays open.

    Raises
    ------
    ConfigError : distributed is not installed, or no scheduler answers at the address.
    """

    def __init__(self, cluster: str | distributed.Client) -> None:
        try:
            import distributed  # noqa: F401
        except ImportError:
            raise ConfigError("Dask is not installed; allowed: with the extra, pip install astra-py[dask]") from None
        self._address = cluster if isinstance(cluster, str) else None
        self._client = _connect(cluster) if isinstance(cluster, str) else cluster
        if self._client.asynchronous:
            raise ConfigError("the client is an asynchronous one; allowed: distributed.Client(address)")

    def run(
        self, study: Study, points: Sequence[Point], limits: Limits, on_event: Callable[[Started], None]
    ) -> Iterator[Outcome]:
        """See :meth:`astra_py.batch.executor.Executor.run`.

        Raises
        ------
        ConfigError : a worker has another version, or a point cannot be sent.
        EngineCrash : the scheduler is gone.
        """
        with ExitStack() as at_end:
            if self._address is not None:
                if self._client.status == "closed":
                    self._client = _connect(self._address)
                at_end.callback(self._client.close)
            sweep = _Sweep(self._client, study, limits, on_event)
            at_end.callback(sweep.stop)
            yield from sweep.run(points)
            with suppress(OSError):
                self._client.run(_let_go, on_error="ignore")


def _connect(address: str) -> distributed.Client:
    import distributed

    try:
        return distributed.Client(address, timeout=_ANSWER_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{address}: no Dask scheduler answers: {error}; allowed: tcp://HOST:PORT") from error


class _Sweep:
    """One call of :meth:`DaskExecutor.run`."""

    def __init__(
        self, client: distributed.Client, study: Study, limits: Limits, on_event: Callable[[Started], None]
    ) -> None:
        self._client = client
        self._study = study
        self._limits = limits
        self._on_event = on_event
        # Keys are the digest and this: two drivers of one point have a run each, with their own limits.
        self._name = f"astra-py-{uuid4().hex[:12]}"
        self._packer = Packer()
        self._bundles: dict[str, distributed.Future] = {}
        self._points: dict[str, tuple[Point, distributed.Future]] = {}
        self._begun: Counter[str] = Counter()
        self._given_up: Counter[str] = Counter()
        self._news: SimpleQueue[Any] = SimpleQueue()
        self._room = 0
        self._asked_s = float("-inf")
        client.subscribe_topic(self._name, lambda event: self._news.put(event[1]))

    def run(self, points: Sequence[Point]) -> Iterator[Outcome]:
        waiting = deque(points)
        while waiting or self._points:
            while waiting and len(self._points) < self._room_now():
                self._submit(waiting.popleft())
            try:
                news = self._news.get(timeout=_ASK_EVERY_S)
            except Empty:
                continue
            if isinstance(news, dict):
                self._tell(news)
            elif (outcome := self._outcome(news)) is not None:
                yield outcome

    def stop(self) -> None:
        with suppress(OSError):
            self._client.unsubscribe_topic(self._name)
            # workers see that their points are not wanted any more, and kill them
            self._client.cancel([future for _, future in self._points.values()])
        self._points.clear()

    def _room_now(self) -> int:
        """How many points the cluster should have; workers come and go."""
        if time.monotonic() - self._asked_s > _ASK_EVERY_S:
            self._room = _AHEAD * max(sum(self._client.nthreads().values()), 1)
            self._asked_s = time.monotonic()
        return self._room

    def _submit(self, point: Point) -> None:
        parcel = self._packer.pack(point, self._study.scenario(point))
        for digest, bundle in self._packer.bundles.items():
            self._bundles[digest] = self._send(bundle)
        self._packer.bundles.clear()
        future = self._client.submit(
            _run_parcel,
            parcel,
            self._limits,
            self._name,
            *(self._bundles[digest] for digest in parcel.bundles),
            key=f"{point.digest}-{self._name}-{self._given_up[point.digest]}",
        )
        self._points[point.digest] = point, future
        future.add_done_callback(lambda done: self._news.put((point.digest, done)))

    def _send(self, bundle: Bundle) -> distributed.Future:
        """Give files to the cluster: as a task, which is done again where the worker that has them dies."""
        import dask

        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            return self._client.submit(_same, bundle, key=f"{bundle.digest}-{self._name}")

    def _tell(self, news: dict[str, str]) -> None:
        digest = news["digest"]
        if digest in self._points:
            self._begun[digest] += 1
            self._on_event(Started(digest, self._begun[digest], news["runner"]))

    def _outcome(self, news: tuple[str, distributed.Future]) -> Outcome | None:
        """What became of a point; None where it is tried again."""
        from distributed import KilledWorker

        digest, future = news
        if digest not in self._points:
            return None
        point, _ = self._points.pop(digest)
        try:
            outcome: Outcome = future.result()
            return replace(outcome, attempts=max(outcome.attempts, self._begun[digest]))
        except AstraPyError:
            raise
        except KilledWorker:
            self._given_up[digest] += 1
            # a point that had only been waiting on these workers is not what they died of
            if self._begun[digest] == 0 or self._given_up[digest] <= self._limits.retries:
                self._submit(point)
                return None
            return self._crashed(digest)
        except Exception as error:
            what = (str(error).splitlines() or [""])[0]
            raise EngineCrash(f"the Dask cluster gave up {point.title}: {type(error).__name__}: {what}") from error

    def _crashed(self, digest: str) -> Outcome:
        now_s = time.time()
        reason = "the Dask workers that ran it died"
        return Outcome(digest, Status.CRASHED, reason, {}, self._begun[digest], now_s, now_s, "", {})


def _same(bundle: Bundle) -> Bundle:
    return bundle


def _run_parcel(parcel: Parcel, limits: Limits, topic: str, *bundles: Bundle) -> Outcome:
    """On a Dask worker: run a point, and say on ``topic`` when an attempt begins."""
    from distributed import get_worker

    here = get_worker()
    key = here.get_current_task()
    folder = Path(here.local_directory) / "astra_py_files"
    for bundle in bundles:
        bundle.place(folder / bundle.digest)
    study, point = parcel.unpack(folder)

    def tell(started: Started | None) -> None:
        if started is not None:
            here.log_event(topic, {"digest": started.digest, "runner": started.worker})
        elif (task := here.state.tasks.get(key)) is None or task.state == "cancelled":
            raise EngineCrash("nobody waits for the point any more")

    outcome = _run_warm(study, Job(point, limits), tell)
    return replace(outcome, reason=parcel.retold(outcome.reason, folder))


def _run_warm(study: Study, job: Job, tell: Callable[[Started | None], None]) -> Outcome:
    """Run a point in a warm process of this Dask worker's; ``tell`` is called now and then, and may stop it."""
    is_used, warm = _take_warm()
    began: tuple[Started, float] | None = None
    try:
        warm.load(study)
        warm.submit(job)
        while True:
            message = warm.receive(_ASK_EVERY_S)
            if isinstance(message, Outcome):
                _idle.append(warm)
                return message
            if message is not None:
                began = message, time.time()
            tell(message)
    except EOFError:
        how = warm.close()
        if began is None and is_used:  # it died while it had nothing to do
            return _run_warm(study, job, tell)
        if began is None:
            raise EngineCrash(f"the process that runs points ended before any began: {how}") from None
        if began[0].attempt <= job.limits.retries:
            return _run_warm(study, replace(job, attempt=began[0].attempt + 1), tell)
        return lost_outcome(*began, how)
    except BaseException:
        warm.close()
        raise


def _take_warm() -> tuple[bool, WarmProcess]:
    """A warm process, and whether it was there before; threads of a worker take them at once."""
    try:
        return True, _idle.pop()
    except IndexError:
        return False, WarmProcess(1)


def _let_go() -> None:
    """On a Dask worker: end the warm processes that run nothing."""
    with suppress(IndexError):
        while True:
            _idle.pop().close()
