# SPDX-License-Identifier: GPL-2.0-only
"""A small study, and executors that run its points in this process or make outcomes up."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from astra_py.batch import Limits, Outcome, Point, Started, Status, Study
from astra_py.batch.row import run_point
from astra_py.errors import AstraPyError

#: Four ranks, one flow; some milliseconds a run.
SCENARIO: dict[str, Any] = {
    "engine": "analytic",
    "platform": {"kind": "single_switch", "ranks": 4},
    "background": {"one": {"kind": "incast", "receiver": 0, "size": "64KiB"}},
}


class HereExecutor:
    """Runs points one after another in this process.

    Attributes
    ----------
    ran : digests of what was run.
    """

    def __init__(self) -> None:
        self.ran: list[str] = []

    def run(
        self, study: Study, points: Sequence[Point], limits: Limits, on_event: Callable[[Started], None]
    ) -> Iterator[Outcome]:
        for point in points:
            self.ran.append(point.digest)
            on_event(Started(point.digest, 1, "here:1"))
            started = time.time()
            try:
                row, cost = run_point(study, point)
                status, reason = Status.OK, ""
            except AstraPyError as error:
                row, cost, status, reason = {}, {}, Status.FAILED, str(error)
            yield Outcome(point.digest, status, reason, row, 1, started, time.time(), f"here:{os.getpid()}", cost)


class MadeUpExecutor(HereExecutor):
    """Makes up a row of each point from its digest, and fails those whose index is in ``failing``.

    Parameters
    ----------
    failing : indices of points that fail.
    stops_after : raises KeyboardInterrupt after so many points.
    """

    def __init__(self, failing: Sequence[int] = (), stops_after: int | None = None) -> None:
        super().__init__()
        self.failing, self.stops_after = failing, stops_after

    def run(
        self, study: Study, points: Sequence[Point], limits: Limits, on_event: Callable[[Started], None]
    ) -> Iterator[Outcome]:
        for number, point in enumerate(points):
            if number == self.stops_after:
                raise KeyboardInterrupt
            self.ran.append(point.digest)
            on_event(Started(point.digest, 1, "made:1"))
            yield made_up(point.digest, is_failed=point.index in self.failing)


def made_up(digest: str, *, is_failed: bool = False, ended_s: float = 2.0) -> Outcome:
    """An outcome whose row is a function of the digest."""
    row = {} if is_failed else {"time_us": int(digest[:6], 16) / 7, "messages": int(digest[6:8], 16)}
    status = Status.CRASHED if is_failed else Status.OK
    return Outcome(digest, status, "aborted" if is_failed else "", row, 1, 1.0, ended_s, "made:1", {"cpu_s": 0.5})
