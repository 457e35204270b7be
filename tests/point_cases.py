# SPDX-License-Identifier: GPL-2.0-only
"""A small study whose points run in a moment, and what goes wrong in some of them on purpose."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from astra_py.batch.designs import Grid
from astra_py.batch.study import Study
from small_job import write_job


def small_study(folder: Path, points: int) -> Study:
    """Write a job into ``folder`` and vary its message sizes; all points are different runs."""
    scales = [f"{1 + number / 64:g}" for number in range(points)]
    return Study.of(write_job(folder), [Grid.of({"workload.comm_scale": scales})])


def faults_of(study: Study, faults: Mapping[int, str]) -> str:
    """What lets points go wrong, by index: ``"abort"``, or ``"abort@1"`` in the first attempt only."""
    texts = []
    for index, fault in faults.items():
        name, at, attempt = fault.partition("@")
        texts.append(f"{name}:{study.points[index].digest}{at}{attempt}")
    return ",".join(texts)


def is_alive(pid: int) -> bool:
    """Whether a process is there, and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def await_true(what: Callable[[], bool], patience_s: float = 60.0) -> None:
    """Wait for something that is to come true; fail where it does not for very long."""
    until = time.monotonic() + patience_s
    while not what():
        assert time.monotonic() < until, "it did not come true"
        time.sleep(0.02)


def children_of(pid: int) -> list[int]:
    """Processes that ``pid`` started and has not waited for."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdecimal():
            try:
                parent = parent_of(int(entry))
            except OSError:
                continue
            if parent == pid:
                found.append(int(entry))
    return found


def parent_of(pid: int) -> int:
    """Process that started ``pid``."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
