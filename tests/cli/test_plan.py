# SPDX-License-Identifier: GPL-2.0-only
"""``astra-py plan`` and ``astra-py bandwidth``."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from astra_py.cli.app import command

SCENARIO = Path(__file__).parents[2] / "workloads" / "zionex_2x8.toml"


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as caught:
        command([*map(str, arguments)])
    printed = capsys.readouterr()
    return caught.value.code, printed.out, printed.err


def test_a_plan_is_printed_and_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "plan.csv"
    code, printed, err = run(capsys, "plan", SCENARIO, "--out", out)
    assert (code, err) == (0, "")
    lines = printed.splitlines()
    assert lines[0] == "40 tables on 16 of 16 ranks: 40 table_wise in 40 shards"
    assert lines[4].split()[:3] == ["rank", "shards", "memory"]
    assert [line.split()[0] for line in lines[6:22]] == [str(rank) for rank in range(16)]
    assert len(pd.read_csv(out)) == 40
    code, again, _ = run(capsys, "plan", SCENARIO, f"workload.plan={out}")
    assert code == 0
    assert again.splitlines()[:22] == lines[:22]
    code, _, err = run(capsys, "plan", SCENARIO, "--out", out)
    assert code == 2
    assert "it exists; allowed: a path that does not, or --overwrite" in err
    assert run(capsys, "plan", SCENARIO, "--out", out, "--overwrite")[0] == 0


def test_the_planner_says_what_it_tried(capsys: pytest.CaptureFixture[str]) -> None:
    code, printed, err = run(capsys, "plan", SCENARIO, "workload.sharder=planner", "--no-judge")
    assert (code, err) == (0, "")
    lines = printed.splitlines()
    assert lines[0].split() == ["proposal", "tables", "ms", "iteration", "ms"]
    assert any(line.startswith("every table whole") for line in lines)


def test_ranks_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, printed, _ = run(capsys, "plan", SCENARIO, "--json")
    rows = [json.loads(line) for line in printed.splitlines()]
    assert code == 0
    assert [row["rank"] for row in rows] == list(range(16))
    assert sum(row["forward_out_bytes"] for row in rows) == sum(row["forward_in_bytes"] for row in rows)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["plan", "--overwrite"], "there is no --out that it would allow to replace"),
        (["plan", "--out", "plan.txt"], "ends in .csv or .json, not in '.txt'"),
        (["plan", "workload.sharder=greed"], "did you mean 'greedy'"),
        (["bandwidth", "--overwrite"], "there is no --out that it would allow to replace"),
        (["bandwidth", "--ranks", "8,x"], "--ranks '8,x'; allowed: whole numbers with commas"),
        (["bandwidth", "--sizes", "1"], "has no unit"),
    ],
)
def test_what_is_refused(capsys: pytest.CaptureFixture[str], arguments: list[str], problem: str) -> None:
    code, _, err = run(capsys, arguments[0], SCENARIO, *arguments[1:])
    assert code == 2
    assert problem in err


def test_bandwidths_as_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "bandwidths.csv"
    arguments = ("--collectives", "all_to_all,all_reduce", "--sizes", "1MiB", "--ranks", "8,16", "--out", out)
    code, printed, err = run(capsys, "bandwidth", SCENARIO, *arguments)
    assert code == 0
    assert len(err.splitlines()) == 4
    assert len(printed.splitlines()) == 6
    table = pd.read_csv(out)
    assert table["collective"].tolist() == ["all_to_all"] * 2 + ["all_reduce"] * 2
    assert table["ranks"].tolist() == [8, 16, 8, 16]
    assert (table["busbw_GBps"] > 0).all()
    code, printed, err = run(capsys, "bandwidth", "platform.ranks=4", "--sizes", "64KiB", "--json", "--quiet")
    assert (code, err) == (0, "")
    assert {json.loads(line)["ranks"] for line in printed.splitlines()} == {4}
