# SPDX-License-Identifier: GPL-2.0-only
"""A forked child: its report, its output, its end, and what goes with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from astra_py.batch.child import Child, End
from point_cases import await_true, is_alive

# These children do nothing that a thread of the test's could be in the middle of.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")


def end_of(work: Callable[[], bytes]) -> End:
    child = Child(work)
    while (end := child.end()) is None:
        child.drain()
        time.sleep(0.01)
    return end


def test_a_report_of_any_length_arrives() -> None:
    report = os.urandom(1 << 20)
    end = end_of(lambda: report)
    assert (end.exit_code, end.report, end.output) == (0, report, "")
    assert end.started_s <= end.ended_s
    assert end.peak_rss_bytes > 1 << 20


def chatter() -> bytes:
    print("begin")
    for _ in range(10_000):
        print("a line of nine words, of which none is kept")
    print("to standard error", file=sys.stderr)
    os.write(1, b"past the buffers\n")
    return b""


def test_output_never_blocks_and_its_end_is_kept(capfd: pytest.CaptureFixture[str]) -> None:
    end = end_of(chatter)
    assert end.exit_code == 0
    assert len(end.output) == 16 * 1024
    assert "begin" not in end.output
    assert "past the buffers\n" in end.output
    assert "to standard error\n" in end.output
    assert capfd.readouterr() == ("", "")


def test_a_child_that_never_stops_writing_keeps_nobody() -> None:
    child = Child(lambda: os.execvp("yes", ["yes"]))
    for _ in range(1000):
        child.drain()
    child.kill()
    end = child.end(is_awaited=True)
    assert end is not None
    assert end.exit_code == -signal.SIGKILL
    assert set(end.output.split()) <= {"y"}


def raises(error: BaseException) -> Callable[[], bytes]:
    def work() -> bytes:
        raise error

    return work


@pytest.mark.parametrize(
    ("work", "exit_code", "output"),
    [
        (raises(SystemExit(7)), 7, ""),
        (raises(SystemExit()), 0, ""),
        (raises(SystemExit("enough")), 1, "enough\n"),
        (lambda: os._exit(9), 9, ""),
        (lambda: os.kill(os.getpid(), signal.SIGUSR1), -signal.SIGUSR1, ""),
        (lambda: os.kill(os.getpid(), signal.SIGTERM), -signal.SIGTERM, ""),
    ],
)
def test_ends(work: Callable[[], bytes], exit_code: int, output: str) -> None:
    end = end_of(work)
    assert (end.exit_code, end.report, end.output) == (exit_code, b"", output)


def test_an_exception_is_in_the_output() -> None:
    end = end_of(raises(KeyError("nothing of this name")))
    assert end.exit_code == 1
    assert end.output.endswith("KeyError: 'nothing of this name'\n")


def test_what_a_child_has_started_goes_with_it() -> None:
    def work() -> bytes:
        helper = subprocess.Popen(["sleep", "1000"])
        os.write(1, f"{helper.pid}\n".encode())
        return b""

    pid = int(end_of(work).output)
    await_true(lambda: not is_alive(pid))


def test_a_killed_child_and_what_it_holds() -> None:
    held = 64 * 2**20

    def work() -> bytes:
        memory = b"\1" * held
        os.write(1, b"ready")
        signal.pause()
        return memory

    child = Child(work)
    before = child.rss_bytes()
    await_true(lambda: child.rss_bytes() > before + held // 2)
    assert child.end() is None
    child.kill()
    end = child.end(is_awaited=True)
    assert end is not None
    assert end.exit_code == -signal.SIGKILL
    assert child.rss_bytes() == 0


def test_private_files_are_not_for_the_child() -> None:
    private, other = os.pipe()

    def work() -> bytes:
        os.fstat(other)
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(private)
        return b"so it is"

    child = Child(work, [private])
    end = child.end(is_awaited=True)
    os.close(private)
    os.close(other)
    assert end is not None
    assert end.report == b"so it is"


def test_a_clock_that_is_set_back_does_not_end_a_child_before_its_start(monkeypatch: pytest.MonkeyPatch) -> None:
    child = Child(lambda: b"")
    monkeypatch.setattr("astra_py.batch.child.time.time", lambda: child.started_s - 3600)
    end = child.end(is_awaited=True)
    assert end is not None
    assert end.started_s < end.ended_s < end.started_s + 60
