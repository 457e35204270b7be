# SPDX-License-Identifier: GPL-2.0-only
"""What an attempt's end says of its point."""

from __future__ import annotations

import json
import signal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra_py.batch import Grid, Study
from astra_py.batch.attempt import Verdict, attempt_point, how_ended, judge, over_limit
from astra_py.batch.child import End
from astra_py.batch.limits import Limits
from astra_py.batch.outcome import Status
from astra_py.errors import ConfigError
from sweep_cases import SCENARIO


def ended(exit_code: int, report: bytes = b"", output: str = "") -> End:
    return End(exit_code, report, output, started_s=0.0, ended_s=1.0, cpu_s=0.5, peak_rss_bytes=1)


def test_a_report_is_what_came_of_a_point() -> None:
    report = {"status": "ok", "row": {"time_ps": 7}, "cost": {"setup_cpu_s": 0.1}}
    verdict = judge(ended(0, json.dumps(report).encode(), "chatter"))
    assert verdict == Verdict(Status.OK, "", {"time_ps": 7}, {"setup_cpu_s": 0.1})
    assert not verdict.is_death


@given(st.binary())
def test_anything_else_that_comes_with_exit_code_0_is_a_crash(report: bytes) -> None:
    verdict = judge(ended(0, report))
    assert verdict.status is Status.CRASHED
    assert verdict.reason == "exited with code 0 and without a result"


@given(st.binary(), st.integers(-70, 255).filter(bool), st.text())
def test_a_death_is_a_crash_whose_reason_is_one_short_line(report: bytes, exit_code: int, output: str) -> None:
    verdict = judge(ended(exit_code, report, output))
    assert verdict.status is Status.CRASHED
    assert verdict.is_death
    assert verdict.reason.startswith(how_ended(exit_code))
    assert len(verdict.reason.splitlines()) == 1
    assert len(verdict.reason) < 700


@pytest.mark.parametrize(
    ("exit_code", "words"),
    [
        (3, "exited with code 3"),
        (-signal.SIGABRT, "aborted (SIGABRT)"),
        (-signal.SIGSEGV, "killed by SIGSEGV"),
        (-signal.SIGKILL, "killed from outside (SIGKILL), as the kernel does where memory runs out"),
        (-(signal.SIGRTMIN + 1), f"killed by signal {signal.SIGRTMIN + 1}"),
    ],
)
def test_ends_in_words(exit_code: int, words: str) -> None:
    assert how_ended(exit_code) == words


def test_a_death_is_told_by_the_last_lines_of_its_output() -> None:
    verdict = judge(ended(-signal.SIGABRT, output="first\nsecond\n\nmsg='no'\nterminate\n"))
    assert verdict.reason == "aborted (SIGABRT): second | msg='no' | terminate"


def test_limits() -> None:
    limits = Limits(time_s=2.5, memory_bytes=3 * 2**20)
    assert over_limit(limits, 2.4, 3 * 2**20) is None
    assert over_limit(limits, 2.5, 0) == Verdict(Status.TIMEOUT, "time limit of 2.5 s passed")
    assert over_limit(limits, 0.0, 3 * 2**20 + 1) == Verdict(Status.MEMORY, "memory limit of 3MiB reached")
    assert over_limit(Limits(), 1e9, 2**60) is None


@pytest.mark.parametrize(
    "limits",
    [{"time_s": 0.0}, {"time_s": float("inf")}, {"memory_bytes": 0}, {"memory_bytes": float("nan")}]
    + [{"retries": retries} for retries in (-1, 1.5, True)],
)
def test_limits_that_are_none(limits: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="allowed: "):
        Limits(**limits)


def test_a_reason_is_text_that_a_table_can_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise ValueError("no such file: \udcff\nnor another")

    monkeypatch.setattr("astra_py.batch.attempt.run_point", fails)
    study = Study.of(SCENARIO, [Grid.of({"seed": [1]})])
    report = json.loads(attempt_point(study, study.points[0], 1))
    assert report["reason"] == "ValueError: no such file: \\udcff; nor another"
