# SPDX-License-Identifier: GPL-2.0-only
"""``astra-py trace``."""

from __future__ import annotations

from pathlib import Path

import pytest

import astra_py as ap
from astra_py.cli.app import command
from perfetto_cases import read_timeline

JOB = Path(__file__).resolve().parents[2] / "workloads" / "zionex_2x8.toml"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as caught:
        command(arguments)
    printed = capsys.readouterr()
    return caught.value.code, printed.out, printed.err


def test_results_become_a_timeline(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    result = ap.load(JOB, "platform.nodes=1", "platform.ranks=8", "engine=analytic").run()
    result.save(tmp_path / "results")
    path = tmp_path / "run.json"
    code, out, err = run(capsys, "trace", str(tmp_path / "results"), "--out", str(path))
    assert (code, out) == (0, "")
    assert err.startswith(f"trace: {path}, ")
    assert len(read_timeline(path).arrows) == len(result.messages)
    assert run(capsys, "trace", str(tmp_path / "results"), "--out", str(path), "--quiet") == (0, "", "")


def test_a_folder_without_results_is_exit_2(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, _, err = run(capsys, "trace", str(tmp_path), "--out", str(tmp_path / "run.json"))
    assert (code, f"error: {tmp_path}: no results here" in err) == (2, True)
