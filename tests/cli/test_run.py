# SPDX-License-Identifier: GPL-2.0-only
"""``astra-py run``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import astra_py as ap
from astra_py.cli.app import command
from astra_py.results.lock import FolderLock
from small_job import LAYERS, write_job


@pytest.fixture
def job(tmp_path: Path) -> Path:
    return write_job(tmp_path)


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as caught:
        command(["run", *map(str, arguments)])
    printed = capsys.readouterr()
    return caught.value.code, printed.out, printed.err


def test_the_report(capsys: pytest.CaptureFixture[str], job: Path) -> None:
    code, out, err = run(capsys, job)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert [line for line in lines if len(line) > 100 and str(job.parent) not in line] == []
    for text in ("exposed communication us", "all_reduce ring", "x 2", "link class", "packets", "31 checks passed"):
        assert text in out, text
    assert [line.split()[2] for line in lines if line.split()[:1] in (["0"], ["1"])] == ["25.000"] * 2


def test_json_is_one_object(capsys: pytest.CaptureFixture[str], job: Path) -> None:
    code, out, _ = run(capsys, job, "--json")
    assert code == 0
    (line,) = out.splitlines()
    found = json.loads(line)
    assert [row["compute_us"] for row in found["iterations"]] == pytest.approx([25.0, 25.0])
    row = found["collectives"][0]
    keys = {"collective", "algorithm", "ranks", "size_bytes", "time_ps", "algbw_GBps", "busbw_GBps"}
    keys |= {"analytic_time_ps", "ideal_time_ps"}
    assert keys <= set(row)
    assert (row["collective"], row["algorithm"], row["ranks"], row["size_bytes"]) == ("all_to_all", "direct", 4, 8000)
    row = found["phases"][0]
    assert (row["name"], row["collective"], row["phase"]) == ("Embedding.forward", "all_to_all", "all_to_all")
    assert (row["level"], row["messages"], row["bytes_per_rank_max"]) == ("between", 12, 6000)
    keys = {"events", "packets", "packet_hops", "wire_bytes", "setup_cpu_s", "simulation_cpu_s", "peak_rss_bytes"}
    keys |= {"seed", "digest", "checks"}
    assert keys <= set(found["run"])
    assert set(found["run"]["checks"].values()) == {"passed"}


def test_out_is_written_once_per_digest(capsys: pytest.CaptureFixture[str], job: Path, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    assert run(capsys, job, "--out", out)[0] == 0
    first = ap.read_result(out)
    assert run(capsys, job, "--out", out)[0] == 0
    code, printed, err = run(capsys, job, "seed=2", "--out", out)
    assert (code, printed) == (2, "")
    assert "holds results of digest" in err
    assert ap.read_result(out).digest == first.digest
    assert run(capsys, job, "seed=2", "--out", out, "--overwrite")[0] == 0
    assert ap.read_result(out).digest != first.digest


def test_a_folder_of_something_else_is_refused_before_the_run(
    capsys: pytest.CaptureFixture[str], job: Path, tmp_path: Path
) -> None:
    code, _, err = run(capsys, job, "--out", tmp_path, "--dry-run")
    assert code == 2
    assert "not empty" in err


def test_no_name_is_no_folder(
    capsys: pytest.CaptureFixture[str], job: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    code, _, err = run(capsys, job, "--out", "")
    assert (code, "--out ''" in err) == (2, True)
    assert run(capsys, job, "--out", ".")[0] == 0
    assert (tmp_path / "empty" / "manifest.json").is_file()


def test_overwriting_needs_something_to_overwrite(capsys: pytest.CaptureFixture[str], job: Path) -> None:
    code, _, err = run(capsys, job, "--overwrite")
    assert code == 2
    assert "--out" in err


def test_a_dry_run_tells_what_was_taken_from_the_files(capsys: pytest.CaptureFixture[str], job: Path) -> None:
    _, out, _ = run(capsys, job, "--dry-run")
    assert out.startswith("dry run:")
    assert "\n- " in out
    assert "all_reduce" in out.partition("\n- ")[2]


def test_a_dry_run_counts_and_does_not_run(capsys: pytest.CaptureFixture[str], job: Path, tmp_path: Path) -> None:
    code, out, _ = run(capsys, job, "--dry-run", "--out", tmp_path / "out")
    assert code == 0
    for text in ("ranks", "messages", "packets", "packet-hops", "CPU time", "memory"):
        assert text in out, text
    assert not (tmp_path / "out").exists()
    _, out, _ = run(capsys, job, "--dry-run", "--json")
    assert json.loads(out)["messages"] == 2 * (2 * 12 + 2 * 24)


@pytest.mark.parametrize("engine", ["flow", "analytic"])
def test_the_engine_can_be_chosen(capsys: pytest.CaptureFixture[str], job: Path, engine: str) -> None:
    _, out, _ = run(capsys, job, "--engine", engine, "--json")
    assert json.loads(out)["run"]["engine"] == engine
    code, _, err = run(capsys, job, "--engine", "guess")
    assert code == 2
    assert "guess" in err


def test_warnings_go_to_standard_error_and_are_errors_under_strict(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    job = write_job(tmp_path, LAYERS.replace("ALLREDUCE 4003 5", "NONE 0 5"))
    code, _, err = run(capsys, job)
    assert (code, err) == (0, "warning: ignored: the update delay of Bottom, which follows no collective\n")
    assert run(capsys, job, "--quiet")[2] == ""
    code, out, err = run(capsys, job, "--strict")
    assert (code, out) == (2, "")
    assert "update delay of Bottom" in err


@pytest.mark.parametrize("fault", ["drop_message", "double_message", "swap_sizes"])
def test_a_fault_is_exit_3_and_leaves_partial_results(
    capsys: pytest.CaptureFixture[str], job: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.setenv("ASTRA_PY_FAULT", fault)
    code, out, err = run(capsys, job, "--out", tmp_path / "out")
    assert (code, out) == (3, "")
    assert err.startswith("error: ")
    assert "checks failed: the run is not what was declared" in err
    assert f"while simulating {job}" in err
    assert f"partial results, of what had happened by then: {tmp_path / 'out'}" in err
    partial = ap.read_result(tmp_path / "out")
    assert partial.is_partial
    assert partial.manifest["run"]["exit_reason"] == "check"


def test_an_unknown_collective_is_named_with_its_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    job = write_job(tmp_path, LAYERS.replace("ALLREDUCE 120000", "ALLREDUCES 120000"))
    code, _, err = run(capsys, job)
    assert code == 2
    assert "job.txt, line 5" in err
    assert "ALLREDUCE" in err


def test_a_missing_scenario_is_exit_2(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, _, err = run(capsys, tmp_path / "none.toml")
    assert code == 2
    assert "none.toml" in err


def test_two_runs_at_once_in_one_folder_are_refused(
    capsys: pytest.CaptureFixture[str], job: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with FolderLock(out):
        code, printed, err = run(capsys, job, "--out", out)
    assert (code, printed) == (2, "")
    assert "another run or sweep is writing" in err
    assert not out.exists()
    assert run(capsys, job, "limits.max_time=1us", "--out", out)[0] == 3
    assert run(capsys, job, "--out", out)[0] == 0
    assert not any(path.name.startswith(".") for path in out.iterdir())


@pytest.mark.parametrize(
    ("where", "note"),
    [
        ("astra_py.api.Run.require_sound", "nothing was simulated yet, and nothing is kept"),
        ("astra_py.results.build.run_checks", "partial results, of what had happened by then: "),
        ("astra_py.results.store.write_table", "the run is over, and its results are not written to "),
    ],
)
def test_ctrl_c_says_what_was_kept(
    capsys: pytest.CaptureFixture[str],
    job: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
    note: str,
) -> None:
    calls = []

    def interrupt(*arguments: object) -> None:
        # the first time: what is kept afterwards is to be written
        if not calls:
            calls.append(arguments)
            raise KeyboardInterrupt
        write(*arguments)  # type: ignore[arg-type]

    from astra_py.results.store import write_table as write

    monkeypatch.setattr(where, interrupt)
    code, out, err = run(capsys, job, "--out", tmp_path / "out")
    assert (code, out) == (130, "")
    assert err.startswith("interrupted")
    assert note in err
    assert (tmp_path / "out").exists() == ("partial results" in note)
