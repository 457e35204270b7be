# SPDX-License-Identifier: GPL-2.0-only
"""``astra-py report``."""

from __future__ import annotations

from pathlib import Path

import pytest

import astra_py as ap
from astra_py.cli.app import command
from html_cases import read_page

JOB = Path(__file__).resolve().parents[2] / "workloads" / "zionex_2x8.toml"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as caught:
        command(arguments)
    printed = capsys.readouterr()
    return caught.value.code, printed.out, printed.err


@pytest.fixture
def results(tmp_path: Path) -> list[str]:
    job = (JOB, "platform.nodes=1", "platform.ranks=8", "engine=analytic")
    folders = [tmp_path / "slow", tmp_path / "fast"]
    for folder, rate in zip(folders, ("100Gbps", "200Gbps"), strict=True):
        ap.load(*job, f"platform.link_rate={rate}").run().save(folder)
    return [str(folder) for folder in folders]


def test_one_and_several(capsys: pytest.CaptureFixture[str], tmp_path: Path, results: list[str]) -> None:
    path = tmp_path / "run.html"
    code, out, err = run(capsys, "report", results[0], "--out", str(path))
    assert (code, out) == (0, "")
    assert err.startswith(f"report: {path}, ")
    assert len([level for level, _ in read_page(path.read_text(encoding="utf-8")).headings if level == 2]) == 2
    assert run(capsys, "report", *results, "--out", str(path), "--quiet") == (0, "", "")
    page = read_page(path.read_text(encoding="utf-8"))
    assert [row[0] for row in page.tables["all-summary"][1:]] == results


def test_what_is_wrong_is_exit_2(capsys: pytest.CaptureFixture[str], tmp_path: Path, results: list[str]) -> None:
    code, _, err = run(capsys, "report", results[0], "--out", str(tmp_path / "run.txt"))
    assert (code, "allowed: a name that ends in .html" in err) == (2, True)
    code, _, err = run(capsys, "report", results[0], results[0], "--out", str(tmp_path / "run.html"))
    assert (code, "is given twice" in err) == (2, True)
    code, _, err = run(capsys, "report", str(tmp_path), "--out", str(tmp_path / "run.html"))
    assert (code, "no results here" in err) == (2, True)
