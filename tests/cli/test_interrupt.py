# SPDX-License-Identifier: GPL-2.0-only
"""Ctrl-C at each stage of a run: a process that gets the signal itself, and what it leaves and says."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

import astra_py as ap
from astra_py.cli.interrupts import finished_first
from small_job import write_job

#: Runs the command line, and sends itself SIGINT as often as it is told when it comes to a function.
MAIN = """\
import os, signal, sys
from importlib import import_module
from astra_py.cli.app import command
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts what runs behind it without
where, left = sys.argv[1], int(sys.argv[2])
module, _, path = where.partition(":")
*outer, name = path.split(".")
home = import_module(module)
for each in outer:
    home = getattr(home, each)
wrapped = getattr(home, name)

def interrupted(*arguments, **named):
    global left
    while left:
        left -= 1
        os.kill(os.getpid(), signal.SIGINT)
    return None if name == "_lines" else wrapped(*arguments, **named)

# _lines gives what an engine tells how far it is, ten times a second
setattr(home, name, (lambda title: interrupted) if name == "_lines" else interrupted)
command(sys.argv[3:])
"""
LONG = """\
[platform]
ranks = 64
[workload]
kind = "dlrm"
preset = "astra2020"
"""


@pytest.fixture
def job(tmp_path: Path) -> Path:
    return write_job(tmp_path)


def run(where: str, times: int, *arguments: object) -> tuple[int, str, str]:
    command = [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}\n{MAIN}", where, str(times)]
    done = subprocess.run([*command, "run", *map(str, arguments)], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def test_while_it_simulates_what_has_happened_is_kept(tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(LONG)
    out = tmp_path / "out"
    code, printed, err = run("astra_py.cli.progress:_lines", 1, tmp_path / "long.toml", "--out", out)
    assert (code, printed) == (130, "")
    assert "interrupted\n  interrupted at " in err
    assert err.rstrip().endswith(f"partial results, of what had happened by then: {out}")
    part = ap.read_result(out)
    assert part.manifest["run"]["exit_reason"] == "interrupted"
    assert len(part.operations) > 0
    assert part.manifest["run"]["operations_done"] < part.manifest["run"]["operations"]


@pytest.mark.parametrize(
    "where",
    ["astra_py.api:RunRecord", "astra_py.results.build:run_checks", "astra_py.results.build:_manifest"],
)
def test_after_the_last_event_all_that_happened_is_kept(job: Path, where: str) -> None:
    out = job.parent / "out"
    code, printed, err = run(where, 1, job, "--out", out)
    assert (code, printed) == (130, "")
    assert err.rstrip().endswith(f"partial results, of what had happened by then: {out}")
    part = ap.read_result(out)
    assert part.is_partial
    assert part.manifest["run"]["operations_done"] == part.manifest["run"]["operations"]
    assert part.messages.equals(ap.load(job).run().messages)


def test_while_results_are_written_they_are_finished(job: Path) -> None:
    out = job.parent / "out"
    code, printed, err = run("astra_py.results.store:write_table", 1, job, "--out", out)
    assert (code, printed) == (130, "")
    assert err.splitlines() == [
        f"interrupted: the run is over, and its results are being written to {out}; Ctrl-C again does not wait for it",
        "interrupted",
        f"  the run is over, and its results are whole: {out}",
    ]
    assert not ap.read_result(out).is_partial
    assert ap.read_result(out).messages.equals(ap.load(job).run().messages)


def test_the_second_time_nothing_is_waited_for(job: Path) -> None:
    out = job.parent / "out"
    code, printed, err = run("astra_py.results.store:write_table", 2, job, "--out", out)
    assert (code, printed) == (130, "")
    assert err.rstrip().endswith(f"the run is over, and its results are not written to {out}")
    assert not out.exists()


@pytest.mark.parametrize(("times", "code"), [(1, 3), (2, 130)])
def test_partial_results_are_finished_too(job: Path, times: int, code: int) -> None:
    out = job.parent / "out"
    limit = "limits.max_events=2000"
    found, printed, err = run("astra_py.results.store:write_table", times, job, limit, "--out", out)
    assert (found, printed) == (code, "")
    assert f"partial results are being written to {out}; Ctrl-C again" in err
    if times == 1:
        assert err.rstrip().endswith(f"partial results, of what had happened by then: {out}")
        assert ap.read_result(out).manifest["run"]["exit_reason"] == "event_limit"
    else:
        assert err.rstrip().endswith(f"partial results are not written to {out}")
        assert not out.exists()


@pytest.mark.parametrize("has_out", [True, False])
def test_while_it_is_told_what_came_out_results_are_there(job: Path, has_out: bool) -> None:
    out = job.parent / "out"
    code, printed, err = run("astra_py.results:Result.report", 1, job, *(["--out", out] if has_out else []))
    assert (code, printed) == (130, "")
    kept = f"its results are whole: {out}" if has_out else "its results are not written: there is no --out"
    assert err.splitlines() == ["interrupted", f"  the run is over, and {kept}"]
    assert out.exists() == has_out


def test_before_it_simulates_nothing_is_kept(job: Path) -> None:
    out = job.parent / "out"
    code, printed, err = run("astra_py.preparation:build_platform", 1, job, "--out", out)
    assert (code, printed) == (130, "")
    assert err.startswith("interrupted")
    assert not out.exists()


def test_a_handler_of_the_program_stays_its_own() -> None:
    came = []
    before = signal.signal(signal.SIGINT, lambda *_: came.append(1))
    try:
        with finished_first("nothing"):
            signal.raise_signal(signal.SIGINT)
            assert came == [1]
    finally:
        signal.signal(signal.SIGINT, before)


def test_the_handler_is_put_back(capsys: pytest.CaptureFixture[str]) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), finished_first("it is written"):
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert capsys.readouterr().err == "interrupted: it is written; Ctrl-C again does not wait for it\n"
