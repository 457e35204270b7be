# SPDX-License-Identifier: GPL-2.0-only
"""A driver that is killed at any moment loses nothing, and who goes on does nothing twice."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from astra_py.batch import read_study, read_sweep, run_study
from astra_py.batch.store import read_outcomes
from point_cases import await_true, is_alive
from small_job import write_job
from sweep_cases import HereExecutor

TABLES = ("results.csv", "spread.csv")
#: What goes wrong in points on purpose, and what comes of it where the process does not die of itself.
FAULTS = ("abort", "abort", "abort", "raise", "raise", "exit", "kill", "memory", "memory", "hang")
_PATIENCE_S = 280.0
STATUS = {"raise": "failed", "memory": "memory", "hang": "timeout"}
SWEEP = """\
scenario = "job.toml"
seeds = 2
base.engine = "{engine}"

[grid]
workload.comm_scale = [{scales}]
"""


def write_sweep(folder: Path, points: int, engine: str) -> Path:
    write_job(folder)
    scales = ", ".join(f"{1 + number / 64:g}" for number in range(points // 2))
    path = folder / "sweep.toml"
    path.write_text(SWEEP.format(engine=engine, scales=scales))
    return path


def start(path: Path, out: Path, options: Sequence[str] = (), faults: str = "") -> subprocess.Popen[bytes]:
    main = "from astra_py.cli import main; main()"
    command = [sys.executable, "-c", main, "sweep", str(path), "--out", str(out), "--workers", "2", "--quiet"]
    return subprocess.Popen(
        [*command, *options],
        env={**os.environ, "ASTRA_PY_POINT_FAULTS": faults},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def lines_of(out: Path) -> int:
    path = out / "journal.jsonl"
    return path.read_bytes().count(b'{"outcome"') if path.exists() else 0


def await_outcomes(out: Path, wanted: int, driver: subprocess.Popen[bytes]) -> None:
    """Wait until so many are kept, or the driver has ended; on a busy machine its start alone may take a minute."""
    await_true(lambda: lines_of(out) >= wanted or driver.poll() is not None, patience_s=_PATIENCE_S)


def kill_and_go_on(path: Path, points: int, kills: int, options: Sequence[str], faults: str) -> tuple[Path, Path]:
    """One sweep undisturbed, and one whose driver is killed; gives their folders."""
    folder = path.parent
    whole, parts = folder / "whole", folder / "parts"
    first = start(path, whole, options, faults)
    _, error = first.communicate()
    expected = first.returncode
    assert expected in (0, 3), error
    draw = random.Random(1)
    for _ in range(kills):
        driver = start(path, parts, options, faults)
        # after so many outcomes and some moment more: while a line is written, tables are, or a worker starts
        wanted = lines_of(parts) + draw.randint(0, max(points // kills - 1, 0))
        try:
            await_outcomes(parts, wanted, driver)
            time.sleep(draw.random() * 0.3)
        finally:
            driver.kill()
            driver.communicate()
    # a worker that was left over may end a moment later; it holds neither lock nor journal
    last = start(path, parts, options, faults)
    _, error = last.communicate()
    assert last.returncode == expected, error
    return whole, parts


def require_same(whole: Path, parts: Path) -> None:
    for name in TABLES:
        assert (parts / name).read_bytes() == (whole / name).read_bytes(), name
    outcomes, drivers = read_outcomes(parts)
    counted = Counter(outcome.digest for outcome in outcomes)
    assert set(counted.values()) == {1}
    assert len(drivers) >= 2
    sweep = read_sweep(parts)
    assert sweep.is_complete
    assert len({row["point"] for row in sweep.results.rows}) == len(sweep.results.rows)
    workers = {int(outcome.worker.rpartition(":")[2]) for outcome in outcomes} - {os.getpid()}
    await_true(lambda: not any(map(is_alive, workers)))


def test_a_killed_driver_loses_nothing(tmp_path: Path) -> None:
    study = read_study(write_sweep(tmp_path, 40, "analytic"))
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    run_study(study, out=whole, executor=HereExecutor())
    driver = start(tmp_path / "sweep.toml", parts)
    try:
        await_outcomes(parts, 3, driver)
    finally:
        driver.kill()
        driver.communicate()
    kept = lines_of(parts)
    assert 3 <= kept < 40
    rest = HereExecutor()
    run_study(study, out=parts, executor=rest)
    assert len(rest.ran) == 40 - kept
    require_same(whole, parts)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_twenty_kills_of_a_sweep_in_which_points_fail(tmp_path: Path) -> None:
    """200 points of which 5 % crash, hang or run out of memory; the driver is killed at twenty moments."""
    path = write_sweep(tmp_path, 200, "packet")
    study = read_study(path)
    chosen = dict(zip(random.Random(2).sample(range(200), 10), FAULTS, strict=True))
    faults = ",".join(f"{fault}:{study.points[index].digest}" for index, fault in chosen.items())
    limits = ["--time-limit", "30s", "--memory-limit", "1GB"]
    whole, parts = kill_and_go_on(path, points=200, kills=20, options=limits, faults=faults)
    require_same(whole, parts)
    failures = read_sweep(parts).failures.set_index("point")
    assert dict(failures["status"]) == {index: STATUS.get(fault, "crashed") for index, fault in chosen.items()}
    assert (failures["reason"] != "").all()
