# SPDX-License-Identifier: GPL-2.0-only
"""``astra-py sweep``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import astra_py as ap
from astra_py.batch import Grid, Limits, Point, Study, SweepProgress
from astra_py.cli.app import command
from astra_py.cli.sweep_progress import sweep_progress
from astra_py.results.lock import FolderLock
from small_job import write_job
from sweep_cases import MadeUpExecutor

SWEEP = """\
scenario = "job.toml"
seeds = 2

[base]
engine = "analytic"

[grid]
platform.link_rate = ["100Gbps", "400Gbps"]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    write_job(tmp_path)
    path = tmp_path / "sweep.toml"
    path.write_text(SWEEP)
    return path


def sweep(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as caught:
        command(["sweep", *map(str, arguments)])
    printed = capsys.readouterr()
    return caught.value.code, printed.out, printed.err


def test_a_sweep_is_run_and_gone_on_with(capsys: pytest.CaptureFixture[str], file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    # a slow machine would be told of progress
    code, printed, err = sweep(capsys, file, "--out", out, "--workers", 2, "--quiet")
    assert (code, err) == (0, "")
    assert "4 of 4 points, 0 failed" in printed
    assert "iteration_time_us over seeds" in printed
    assert {path.name for path in out.iterdir()} >= {"journal.jsonl", "manifest.json", "results.csv", "runs.csv"}
    journal = (out / "journal.jsonl").read_bytes()
    code, printed, _ = sweep(capsys, file, "--out", out, "--json")
    assert code == 0
    rows = [json.loads(line) for line in printed.splitlines()]
    assert [(row["platform.link_rate"], row["seed"], row["status"]) for row in rows] == [
        ("100Gbps", 1, "ok"),
        ("100Gbps", 2, "ok"),
        ("400Gbps", 1, "ok"),
        ("400Gbps", 2, "ok"),
    ]
    assert rows[0]["digest"] == ap.load(tmp_path / "job.toml", "engine=analytic").digest
    assert (out / "journal.jsonl").read_bytes() == journal


def test_points_that_fail_are_told_and_the_exit_code_says_so(
    capsys: pytest.CaptureFixture[str], file: Path, tmp_path: Path
) -> None:
    # at 1 us no run is over
    file.write_text(SWEEP + 'limits.max_time = ["none", "1us"]\n')
    code, printed, err = sweep(capsys, file, "--out", tmp_path / "out", "engine=packet")
    assert code == 3
    assert "8 of 8 points, 4 failed" in printed
    assert err.count("limits.max_time=1us, seed=1): failed: ") == 2


def test_a_dry_run_checks_and_writes_nothing(capsys: pytest.CaptureFixture[str], file: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    code, printed, _ = sweep(capsys, file, "--dry-run")
    assert code == 0
    assert "nothing was simulated" in printed
    code, printed, _ = sweep(capsys, file, "--dry-run", "--json", "--shard", "1/3")
    plan = json.loads(printed)
    assert (plan["points"], plan["runs"], plan["keys"]) == (4, 2, ["platform.link_rate", "seed"])
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "--out: no folder"),
        (("--out", "out", "platform.kind=tree"), "sweep.toml: 4 points are not allowed"),
        (("--out", "out", "seed=3"), "the sweep varies seed"),
        (("--out", "out", "--shard", "3/2"), "allowed: i/n"),
        (("--out", "out", "--time-limit", "10"), "has no unit"),
        (("--out", "out", "--memory-limit", "4s"), "unit"),
        (("--out", "out", "--retries", "-1"), "retries"),
        (("--out", "out", "--workers", "0"), "workers"),
        (
            (
                "--out",
                ".",
            ),
            "not empty",
        ),
    ],
)
def test_what_is_not_allowed_is_told_before_anything_runs(
    capsys: pytest.CaptureFixture[str],
    file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    says: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    code, printed, err = sweep(capsys, "sweep.toml", *arguments)
    assert (code, printed) == (2, "")
    assert says in err
    assert not (tmp_path / "out").exists()


def test_two_at_once_in_one_folder_are_refused(capsys: pytest.CaptureFixture[str], file: Path, tmp_path: Path) -> None:
    with FolderLock(tmp_path / "out"):
        code, _, err = sweep(capsys, file, "--out", tmp_path / "out")
    assert code == 2
    assert "another run or sweep is writing" in err


def test_lines_tell_failures_at_once_and_progress_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("astra_py.cli.sweep_progress._LINE_EVERY_S", 0.0)
    study = Study.of({}, [Grid.of({"seed": [1]})])
    point = Point(0, {"seed": "1"}, "a")
    failed = next(MadeUpExecutor(failing=[0]).run(study, [point], Limits(), lambda _: None))
    with sweep_progress("many") as tell:
        assert tell is not None
        tell(SweepProgress(10, 4, 1, 2, 3, 60.0, point, failed))
    assert capsys.readouterr().err.splitlines() == [
        "point 0 (seed=1): crashed: aborted",
        "many: 4 of 10 runs, 1 failed, 3 running, 0:03:00 left",
    ]
    with sweep_progress("many", is_quiet=True) as tell:
        assert tell is None
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with sweep_progress("many") as tell:
        assert tell is not None
        tell(SweepProgress(10, 4, 1, 2, 3, 60.0, point, failed))
    out, err = capsys.readouterr()
    assert out == ""
    assert "point 0 (seed=1): crashed: aborted" in err


def test_an_interrupted_sweep_keeps_what_is_done(
    capsys: pytest.CaptureFixture[str], file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("astra_py.batch.local.LocalExecutor", lambda workers: MadeUpExecutor(stops_after=3))
    code, printed, err = sweep(capsys, file, "--out", tmp_path / "out")
    assert (code, printed) == (130, "")
    assert "the same command goes on with the rest" in err
    assert len((tmp_path / "out" / "results.csv").read_text().splitlines()) == 4
    code, printed, _ = sweep(capsys, file, "--out", tmp_path / "out")
    assert code == 0
    assert "4 of 4 points" in printed


def test_the_exit_code_of_a_shard_is_that_of_its_own_points(
    capsys: pytest.CaptureFixture[str], file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("astra_py.batch.local.LocalExecutor", lambda workers: MadeUpExecutor(failing=[1]))
    codes = [sweep(capsys, file, "--out", tmp_path / "out", "--shard", f"{i}/2", "--json")[0] for i in (2, 1, 2)]
    assert codes == [3, 0, 3]
