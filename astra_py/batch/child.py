# SPDX-License-Identifier: GPL-2.0-only
"""A forked process that does one thing, reports it and ends; what it prints is caught, what it takes is seen."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Child", "End"]

#: prctl(2): the signal that a process gets when its parent's thread ends.
_PR_SET_PDEATHSIG = 1
#: Makes the kernel take a child before anything else where memory runs out: proc(5), oom_score_adj, its highest value.
_FIRST_TO_GO = "1000"
#: What is kept of the end of a child's output, in bytes; assumed: some pages of text.
_TAIL_BYTES = 16 * 1024
#: What a pipe holds at most: pipe(7).
_PIPE_BYTES = 1 << 16
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class End:
    """How a child ended.

    Attributes
    ----------
    exit_code : what it exited with, or the negative number of the signal that ended it.
    report : what it reported, whole or in part.
    output : the end of what it printed, standard output and error together.
    started_s, ended_s : seconds since 1970 UTC.
    cpu_s : CPU time of it and of the processes it waited for.
    peak_rss_bytes : most memory that it held.
    """

    exit_code: int
    report: bytes
    output: str
    started_s: float
    ended_s: float
    cpu_s: float
    peak_rss_bytes: int


class Child:
    """Forks this process, which must have one thread only, and lets the child do ``work``.

    The child is a process group of its own, dies with its parent, and has the default handling of signals.

    Parameters
    ----------
    work : what it does; gives the bytes to report. An exception ends it with exit code 1 and its traceback in the
        output, ``SystemExit`` with its code.
    private : file descriptors of the parent that are not for the child.

    Raises
    ------
    OSError : there are no more processes or pipes.

    Attributes
    ----------
    pid : its process.
    started_s : when it began, in seconds since 1970 UTC.
    pipes : what to wait for and then to :meth:`drain`, as long as the child lives.
    """

    def __init__(self, work: Callable[[], bytes], private: Iterable[int] = ()) -> None:
        parent = os.getpid()
        ends = *os.pipe(), *os.pipe()
        output, output_end, report, report_end = ends
        self._started_mono_s = time.monotonic()
        self.started_s = time.time()
        try:
            self.pid = os.fork()
        except OSError:
            for end in ends:
                os.close(end)
            raise
        if self.pid == 0:
            _live(work, parent, output_end, report_end, (output, report, *private))
        # both do it, so that it is done whoever comes first
        with suppress(OSError):
            os.setpgid(self.pid, self.pid)
        os.close(output_end)
        os.close(report_end)
        self._output, self._report = bytearray(), bytearray()
        self._read = {output: self._output, report: self._report}
        for pipe in self._read:
            os.set_blocking(pipe, False)

    @property
    def pipes(self) -> tuple[int, ...]:
        """Pipes of the child that have not ended yet."""
        return tuple(self._read)

    @property
    def age_s(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self._started_mono_s

    def rss_bytes(self) -> int:
        """Memory that it holds now; 0 where it is gone."""
        with suppress(OSError, IndexError):
            return int(Path(f"/proc/{self.pid}/statm").read_text("ascii").split()[1]) * _PAGE_BYTES
        return 0

    def drain(self) -> None:
        """Take what is in its pipes, so that it never waits for a reader; no more, however fast it writes."""
        for pipe, taken in list(self._read.items()):
            with suppress(BlockingIOError):
                if not (data := os.read(pipe, _PIPE_BYTES)):
                    os.close(pipe)
                    del self._read[pipe]
                taken += data
                if taken is self._output:
                    del taken[:-_TAIL_BYTES]

    def kill(self) -> None:
        """Kill it and whatever it has started in its process group."""
        for kill in (os.killpg, os.kill):  # it may not be a group yet
            with suppress(ProcessLookupError, PermissionError):
                kill(self.pid, signal.SIGKILL)

    def end(self, *, is_awaited: bool = False) -> End | None:
        """How it ended, once; None where it lives and is not awaited."""
        # The number of a process is free for others only when it was waited for: until then a kill hits no stranger.
        options = os.WEXITED | os.WNOWAIT | (0 if is_awaited else os.WNOHANG)
        if os.waitid(os.P_PID, self.pid, options) is None:
            return None
        # by the clock that nobody sets: an end is never before its start
        ended_s = self.started_s + self.age_s
        self.kill()
        _, status, usage = os.wait4(self.pid, 0)
        self.drain()
        for pipe in self._read:
            os.close(pipe)  # held open by a process that left the group
        self._read.clear()
        return End(
            exit_code=os.waitstatus_to_exitcode(status),
            report=bytes(self._report),
            output=self._output.decode("utf-8", "replace"),
            started_s=self.started_s,
            ended_s=ended_s,
            cpu_s=usage.ru_utime + usage.ru_stime,
            peak_rss_bytes=usage.ru_maxrss * 1024,
        )


def _live(work: Callable[[], bytes], parent: int, output: int, report: int, private: Iterable[int]) -> None:
    """The child's whole life; never returns."""
    exit_code = 1
    try:
        _be_a_child(parent, output, private)
        told = memoryview(work())
        while told:
            told = told[os.write(report, told) :]
        exit_code = 0
    except SystemExit as error:
        exit_code = error.code if isinstance(error.code, int) else int(error.code is not None)
        if isinstance(error.code, str):
            print(error.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    finally:
        # The parent's buffers and exit handlers are not the child's: it goes without them.
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):
                stream.flush()
        os._exit(exit_code & 0xFF)


def _be_a_child(parent: int, output: int, private: Iterable[int]) -> None:
    os.setpgid(0, 0)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before
        os._exit(1)
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(_FIRST_TO_GO, "ascii")
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for stream in (1, 2):
        os.dup2(output, stream)
    # by lines, so that what was printed before a crash is there
    sys.stdout, sys.stderr = (os.fdopen(fd, "w", 1, "utf-8", "backslashreplace", closefd=False) for fd in (1, 2))
    for fd in private:
        os.close(fd)
