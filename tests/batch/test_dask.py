# SPDX-License-Identifier: GPL-2.0-only
"""Points on a Dask cluster whose scheduler and workers are processes of their own, of which one is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from astra_py.batch import run_study
from astra_py.batch.executor import Executor, Started
from astra_py.batch.faults import VARIABLE
from astra_py.batch.limits import Limits
from astra_py.batch.local import LocalExecutor
from astra_py.batch.outcome import Outcome, Status
from astra_py.batch.point import Point
from astra_py.batch.store import read_outcomes
from astra_py.batch.study import Study
from astra_py.batch.warm import WarmProcess
from astra_py.batch.worker import Job
from astra_py.errors import ConfigError
from point_cases import await_true, faults_of, is_alive, parent_of, small_study

distributed = pytest.importorskip("distributed", reason="Dask is not installed")

from astra_py.batch.dask import DaskExecutor, _run_warm  # noqa: E402

LIMITS = Limits(time_s=120.0)


@contextmanager
def program(folder: Path, module: str, *arguments: str, env: Mapping[str, str] | None = None) -> Iterator[int]:
    """A program of Dask's as a process of its own."""
    start = f"import runpy, sys; sys.path[:] = {sys.path!r}; runpy.run_module({module!r}, run_name='__main__')"
    with (folder / f"{module}.log").open("a") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", start, *arguments],
            cwd=folder,
            env={**os.environ, **(env or {})},
            stdout=log,
            stderr=log,
        )
        try:
            yield process.pid
        finally:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("scheduler")
    arguments = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show", "--scheduler-file", "where.json"]
    with program(folder, "distributed.cli.dask_scheduler", *arguments):
        where = folder / "where.json"
        await_true(lambda: where.exists() and where.read_text().rstrip().endswith("}"))
        yield json.loads(where.read_text())["address"]


@contextmanager
def worker(scheduler: str, folder: Path, faults: str) -> Iterator[int]:
    """A worker of one thread, which goes wrong as ``faults`` says; gives its process once it is there."""
    folder.mkdir()
    arguments = [scheduler, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(folder)]
    arguments += ["--name", folder.name]
    with program(folder, "distributed.cli.dask_worker", *arguments, env={VARIABLE: faults}) as pid:
        with distributed.Client(scheduler, set_as_default=False) as client:
            await_true(lambda: any(known["name"] == folder.name for known in workers_of(client).values()))
        yield pid


def workers_of(client: distributed.Client) -> Mapping[str, Mapping[str, str]]:
    return client.scheduler_info(n_workers=-1)["workers"]


@dataclass
class Watched:
    """An executor of which somebody else is told, too."""

    executor: Executor
    watch: Callable[[Started], None]

    def run(
        self, study: Study, points: Sequence[Point], limits: Limits, on_event: Callable[[Started], None]
    ) -> Iterator[Outcome]:
        def both(event: Started) -> None:
            self.watch(event)
            on_event(event)

        yield from self.executor.run(study, points, limits, both)


def test_a_killed_worker_costs_no_result_and_only_its_point_runs_again(scheduler: str, tmp_path: Path) -> None:
    study = small_study(tmp_path, 8)
    for workers in (1, 2):
        run_study(study, out=tmp_path / f"local_{workers}", workers=workers)
    every = ",".join(f"hang:{digit}" for digit in "0123456789abcdef")
    begun: list[str] = []
    hung: list[str] = []
    with (
        worker(scheduler, tmp_path / "good", ""),
        worker(scheduler, tmp_path / "bad", every) as bad,
    ):

        def kill_the_bad_one(event: Started) -> None:
            begun.append(event.digest)
            pid = int(event.worker.rpartition(":")[2])
            if not hung and parent_of(parent_of(pid)) == bad:
                hung.append(event.digest)
                os.kill(bad, signal.SIGKILL)
                await_true(lambda: not is_alive(pid))

        executor = Watched(DaskExecutor(scheduler), kill_the_bad_one)
        run_study(study, out=tmp_path / "dask", limits=LIMITS, executor=executor)
    assert len(hung) == 1
    assert Counter(begun) == Counter([point.digest for point in study.points] + hung)
    tables = {name: (tmp_path / name / "results.csv").read_bytes() for name in ("local_1", "local_2", "dask")}
    assert tables["dask"] == tables["local_1"] == tables["local_2"]
    assert tables["dask"].count(b",ok") == 8
    again = read_outcomes(tmp_path / "dask")[0]
    assert {outcome.digest for outcome in again if outcome.attempts > 1} == set(hung)


def test_what_goes_wrong_is_told_as_it_is_here(scheduler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = small_study(tmp_path, 7)
    faults = faults_of(study, {0: "abort", 1: "raise", 2: "kill", 3: "exit", 4: "abort@1"})
    limits = Limits(retries=1)
    with worker(scheduler, tmp_path / "faulty", faults):
        there = list(DaskExecutor(scheduler).run(study, study.points, limits, lambda _: None))
    monkeypatch.setenv(VARIABLE, faults)
    local = list(LocalExecutor(2).run(study, study.points, limits, lambda _: None))
    assert len(there) == 7

    def told(outcomes: list[Outcome]) -> dict[str, tuple[object, ...]]:
        return {each.digest: (each.status, each.reason, each.row, each.attempts) for each in outcomes}

    assert told(there) == told(local)
    assert Counter(outcome.status for outcome in there) == {
        Status.OK: 3,
        Status.CRASHED: 3,
        Status.FAILED: 1,
    }


def test_a_sweep_that_is_stopped_leaves_no_point_and_keeps_the_users_client(scheduler: str, tmp_path: Path) -> None:
    study = small_study(tmp_path, 3)
    events: list[Started] = []
    with (
        worker(scheduler, tmp_path / "stuck", faults_of(study, {0: "hang", 1: "hang", 2: "hang"})),
        distributed.Client(scheduler, set_as_default=False) as client,
    ):

        def stop(event: Started) -> None:
            events.append(event)
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            next(DaskExecutor(client).run(study, study.points, LIMITS, stop))
        pid = int(events[0].worker.rpartition(":")[2])
        await_true(lambda: not is_alive(pid))
        assert client.submit(int, "7").result() == 7


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ConfigError, match=r"pip install astra-py\[dask\]"):
        DaskExecutor("tcp://127.0.0.1:9")


def test_no_scheduler_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("astra_py.batch.dask._ANSWER_S", 1)
    with pytest.raises(ConfigError, match=r"tcp://127\.0\.0\.1:9: no Dask scheduler answers"):
        DaskExecutor("tcp://127.0.0.1:9")


def test_a_warm_process_that_died_of_idleness_is_no_death_of_a_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = small_study(tmp_path, 1)
    dead = WarmProcess(1)
    os.kill(dead.pid, signal.SIGKILL)
    idle = [dead]
    monkeypatch.setattr("astra_py.batch.dask._idle", idle)
    outcome = _run_warm(study, Job(study.points[0], LIMITS), lambda _: None)
    assert (outcome.status, outcome.attempts) == (Status.OK, 1)
    assert idle != [dead]
    idle.pop().close()
