# SPDX-License-Identifier: GPL-2.0-only
"""One attempt at a point: what its process does, and what its end says of the point."""

from __future__ import annotations

import json
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from astra_py.batch.faults import commit_fault
from astra_py.batch.outcome import Status
from astra_py.batch.row import run_point
from astra_py.units import format_size

if TYPE_CHECKING:
    from astra_py.batch.child import End
    from astra_py.batch.limits import Limits
    from astra_py.batch.point import Point
    from astra_py.batch.study import Study

__all__ = ["Verdict", "attempt_point", "how_ended", "judge", "over_limit"]

#: Last lines of a dead process's output that its reason has, and how long they may be together; assumed.
_LINES = 3
_MOST_CHARACTERS = 500


@dataclass(frozen=True)
class Verdict:
    """What an attempt came to.

    Attributes
    ----------
    status, reason : as of :class:`~astra_py.batch.outcome.Outcome`. The reason is the same for the same fault: it has
        no process numbers and no amounts that differ from one time to the next.
    row, cost : of a run that came to its end; else empty.
    """

    status: Status
    reason: str = ""
    row: Mapping[str, Any] | None = None
    cost: Mapping[str, float] | None = None

    @property
    def is_death(self) -> bool:
        """Whether the process died, so that another attempt may come out differently."""
        return self.status in (Status.CRASHED, Status.TIMEOUT, Status.MEMORY)


def attempt_point(study: Study, point: Point, attempt: int) -> bytes:
    """Run a point and report what came of it; an exception is a report, too."""
    report: dict[str, Any]
    try:
        commit_fault(point.digest, attempt)
        row, cost = run_point(study, point)
        report = {"status": Status.OK, "row": row, "cost": cost}
    except MemoryError as error:
        report = {"status": Status.MEMORY, "reason": _named(error)}
    except Exception as error:
        report = {"status": Status.FAILED, "reason": _named(error)}
    return json.dumps(report).encode()


def over_limit(limits: Limits, age_s: float, rss_bytes: int) -> Verdict | None:
    """What stops an attempt that is ``age_s`` old and holds ``rss_bytes``; None where nothing does."""
    if limits.time_s is not None and age_s >= limits.time_s:
        return Verdict(Status.TIMEOUT, f"time limit of {limits.time_s:g} s passed")
    if limits.memory_bytes is not None and rss_bytes > limits.memory_bytes:
        return Verdict(Status.MEMORY, f"memory limit of {format_size(limits.memory_bytes)} reached")
    return None


def judge(end: End) -> Verdict:
    """What the end of a process that nobody stopped says of its point."""
    if end.exit_code == 0:
        try:
            values = json.loads(end.report)
            return Verdict(**{**values, "status": Status(values["status"])})
        except (ValueError, KeyError, TypeError):
            return Verdict(Status.CRASHED, _with_output("exited with code 0 and without a result", end.output))
    return Verdict(Status.CRASHED, _with_output(how_ended(end.exit_code), end.output))


def how_ended(exit_code: int) -> str:
    """The end of a process in words; a negative ``exit_code`` is a signal's number."""
    if exit_code > 0:
        return f"exited with code {exit_code}"
    number = -exit_code
    name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
    if number == signal.SIGABRT:
        return f"aborted ({name})"
    if number == signal.SIGKILL:
        return f"killed from outside ({name}), as the kernel does where memory runs out"
    return f"killed by {name}"


def _with_output(what: str, output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    text = " | ".join(lines[-_LINES:])[-_MOST_CHARACTERS:]
    return f"{what}: {text}" if text else what


def _named(error: Exception) -> str:
    """Class and message of an error, in one line."""
    text = "; ".join(line.strip() for line in str(error).splitlines() if line.strip())
    # the name of a file need not be text that a table could hold
    text = text.encode("utf-8", "backslashreplace").decode()
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
