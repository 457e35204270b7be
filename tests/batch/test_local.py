# SPDX-License-Identifier: GPL-2.0-only
"""Points in children of a warm process: results, deaths, limits, attempts, and nothing left behind."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from astra_py.batch.designs import Grid
from astra_py.batch.executor import Started
from astra_py.batch.faults import VARIABLE
from astra_py.batch.limits import Limits
from astra_py.batch.local import LocalExecutor
from astra_py.batch.outcome import Outcome, Status
from astra_py.batch.row import run_point
from astra_py.batch.study import Study
from astra_py.errors import ConfigError, EngineCrash
from point_cases import await_true, children_of, faults_of, is_alive, parent_of, small_study
from small_job import write_job

MEMORY_BYTES = 512 * 2**20
LIMITS = Limits(time_s=60.0, memory_bytes=MEMORY_BYTES)


def run(study: Study, workers: int, limits: Limits = LIMITS) -> list[Outcome]:
    """All outcomes in order of points."""
    found = {outcome.digest: outcome for outcome in LocalExecutor(workers).run(study, study.points, limits, ignore)}
    return [found[point.digest] for point in study.points]


def ignore(_: Started) -> None:
    """Nobody wants to know."""


def pids(events: Sequence[Started]) -> list[int]:
    return [int(event.worker.rpartition(":")[2]) for event in events]


def test_rows_are_those_of_runs_here_whatever_the_number_of_workers(tmp_path: Path) -> None:
    study = small_study(tmp_path, 4)
    here = [run_point(study, point)[0] for point in study.points]
    assert [outcome.row for outcome in run(study, 1)] == here
    assert [outcome.row for outcome in run(study, 2)] == here


def test_whatever_happens_to_a_point_is_its_row_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    study = small_study(tmp_path, 20)
    expected = {
        2: ("abort", Status.CRASHED, "aborted (SIGABRT): a fault of a test: abort"),
        5: ("exit", Status.CRASHED, "exited with code 3"),
        7: ("hang", Status.TIMEOUT, "time limit of 8 s passed"),
        11: ("memory", Status.MEMORY, "memory limit of 512MiB reached"),
        13: ("kill", Status.CRASHED, "killed from outside (SIGKILL), as the kernel does where memory runs out"),
        17: ("raise", Status.FAILED, "ValueError: a fault of a test"),
    }
    monkeypatch.setenv(VARIABLE, faults_of(study, {i: fault for i, (fault, *_) in expected.items()}))
    outcomes = run(study, 2, Limits(time_s=8.0, memory_bytes=MEMORY_BYTES))
    failed = {i: (outcome.status, outcome.reason) for i, outcome in enumerate(outcomes) if not outcome.is_ok}
    assert failed == {i: (status, reason) for i, (_, status, reason) in expected.items()}
    assert all(outcome.row for outcome in outcomes if outcome.is_ok)
    assert outcomes[11].cost["peak_rss_bytes"] > MEMORY_BYTES
    assert capfd.readouterr() == ("", "")


class OneSeed:
    """A design of a script's own."""

    keys = ("seed",)

    def rows(self) -> list[dict[str, str]]:
        return [{"seed": "1"}]


def test_a_design_of_ones_own_and_a_limit_far_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # its module is the driver's alone, as that of a script is
    monkeypatch.setattr(OneSeed, "__module__", "not_to_be_found")
    study = Study.of(write_job(tmp_path), [OneSeed()], overrides=["engine=analytic"])
    (outcome,) = run(study, 1, Limits(time_s=1000 * 3600.0))
    assert outcome.is_ok


@pytest.mark.parametrize("workers", [0, -1, 1.5, True])
def test_a_number_of_workers_that_is_none(workers: int) -> None:
    with pytest.raises(ConfigError, match=r"workers .*: allowed: a whole number from 1"):
        LocalExecutor(workers)


ABORTING = """\
import ctypes
import astra_py as ap

@ap.collective("all_to_all", name="mine")
def mine(build, group, matrix):
    print("now")
    ctypes.CDLL("libstdc++.so.6")._ZSt9terminatev()  # as ns-3 does where it finds something fatal
"""


def test_an_abort_in_native_code_is_told_in_its_own_words(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(ABORTING)
    design = Grid.of({"collective.all_to_all": ["direct", "file:mine.py"]})
    fine, aborted = run(Study.of(write_job(tmp_path), [design], folder=tmp_path), 2)
    assert fine.is_ok
    assert aborted.status is Status.CRASHED
    assert aborted.reason == "aborted (SIGABRT): now | terminate called without an active exception"


def test_deaths_are_tried_again_and_errors_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = small_study(tmp_path, 4)
    faults = {0: "abort@1", 1: "exit", 2: "raise"}
    monkeypatch.setenv(VARIABLE, faults_of(study, faults))
    events: list[Started] = []
    outcomes = {
        outcome.digest: outcome
        for outcome in LocalExecutor(2).run(study, study.points, Limits(retries=2), events.append)
    }
    found = [(outcomes[point.digest].status, outcomes[point.digest].attempts) for point in study.points]
    assert found == [(Status.OK, 2), (Status.CRASHED, 3), (Status.FAILED, 1), (Status.OK, 1)]
    begun = [[event.attempt for event in events if event.digest == point.digest] for point in study.points]
    assert begun == [[1, 2], [1, 2, 3], [1], [1]]


def test_points_run_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = small_study(tmp_path, 2)
    monkeypatch.setenv(VARIABLE, faults_of(study, {0: "hang", 1: "hang"}))
    first, second = run(study, 2, Limits(time_s=2.0))
    assert max(first.started_s, second.started_s) < min(first.ended_s, second.ended_s)


def test_a_warm_process_has_one_thread_and_ends_with_its_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = small_study(tmp_path, 3)
    monkeypatch.setenv(VARIABLE, faults_of(study, {0: "hang", 1: "hang"}))
    events: list[Started] = []
    outcomes = LocalExecutor(3).run(study, study.points, Limits(), events.append)
    assert next(outcomes).digest == study.points[2].digest
    (warm,) = {parent_of(pid) for pid in pids(events) if is_alive(pid)}
    assert len(os.listdir(f"/proc/{warm}/task")) == 1
    assert isinstance(outcomes, Iterator)
    outcomes.close()  # type: ignore[attr-defined]  # it is a generator
    assert not any(is_alive(pid) for pid in [warm, *pids(events)])


def test_a_warm_process_that_dies_costs_the_points_that_had_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = small_study(tmp_path, 6)
    monkeypatch.setenv(VARIABLE, faults_of(study, {0: "hang", 1: "hang@1"}))
    events: list[Started] = []

    def kill_the_warm_process(event: Started) -> None:
        events.append(event)
        if {each.digest for each in events} == {point.digest for point in study.points[:2]} and len(events) == 2:
            os.kill(parent_of(pids(events)[0]), signal.SIGKILL)

    outcomes = list(LocalExecutor(2).run(study, study.points, Limits(time_s=120.0), kill_the_warm_process))
    assert len({outcome.digest for outcome in outcomes}) == len(outcomes) == 6
    lost = {outcome.digest: outcome for outcome in outcomes if not outcome.is_ok}
    assert set(lost) == {point.digest for point in study.points[:2]}
    assert all(outcome.reason.startswith("the process that runs points ended: killed") for outcome in lost.values())
    await_true(lambda: not any(map(is_alive, pids(events))))


def test_a_warm_process_that_cannot_start_stops_the_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    study = small_study(tmp_path, 1)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    with pytest.raises(EngineCrash, match="before any began: exited with code 1"):
        run(study, 1)
    assert "ModuleNotFoundError" in capfd.readouterr().err


def test_workers_are_at_least_one() -> None:
    with pytest.raises(ConfigError, match="allowed: a whole number from 1"):
        LocalExecutor(0)
    assert LocalExecutor().workers >= 1


DRIVER = """\
import sys
from pathlib import Path
from point_cases import small_study
from astra_py.batch.limits import Limits
from astra_py.batch.local import LocalExecutor
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts what runs behind it without
if True:  # a script without a guard
    study = small_study(Path(sys.argv[1]), 4)
    print(*[point.digest for point in study.points], flush=True)
    sys.stdin.readline()
    told = lambda event: print(event.worker.rpartition(":")[2], flush=True)
    for outcome in LocalExecutor(3).run(study, study.points, Limits(), told):
        print(outcome.status, flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_driver_that_dies_leaves_no_process(tmp_path: Path, number: signal.Signals) -> None:
    study = small_study(tmp_path, 4)
    environment = {**os.environ, VARIABLE: faults_of(study, {0: "hang", 1: "hang"})}
    driver = subprocess.Popen(
        [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}\n{DRIVER}", str(tmp_path)],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert driver.stdin is not None
    assert driver.stdout is not None
    with driver:
        assert driver.stdout.readline().split() == [point.digest for point in study.points]
        driver.stdin.write("go\n")
        driver.stdin.flush()
        points, done = [], 0
        while done < 2:
            line = driver.stdout.readline().strip()
            if line == "ok":
                done += 1
            else:
                points.append(int(line))
        (warm,) = children_of(driver.pid)
        assert sum(map(is_alive, points)) == 2
        driver.send_signal(number)
    await_true(lambda: not any(is_alive(pid) for pid in [warm, *points]))


@pytest.mark.slow
def test_two_hundred_points_of_which_ten_go_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = small_study(tmp_path, 200)
    chosen = random.Random(7).sample(range(200), 10)
    kinds = ["abort", "hang", "memory", "exit", "kill"]
    faults = {index: kinds[number % 5] for number, index in enumerate(chosen)}
    monkeypatch.setenv(VARIABLE, faults_of(study, faults))
    outcomes = run(study, 2, Limits(time_s=10.0, memory_bytes=MEMORY_BYTES))
    statuses = {"hang": Status.TIMEOUT, "memory": Status.MEMORY}
    failed = {index: outcome.status for index, outcome in enumerate(outcomes) if not outcome.is_ok}
    assert failed == {index: statuses.get(fault, Status.CRASHED) for index, fault in faults.items()}
    assert all(outcome.reason for outcome in outcomes if not outcome.is_ok)
