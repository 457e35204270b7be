# SPDX-License-Identifier: GPL-2.0-only
"""``astra-py inspect`` and ``astra-py convert``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from astra_py.cli.app import command
from formats import samples


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as caught:
        command(arguments)
    printed = capsys.readouterr()
    return caught.value.code, printed.out, printed.err


def test_what_a_file_is(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = samples.write(tmp_path, "astra_network")
    code, out, err = run(capsys, "inspect", str(path))
    assert (code, err) == (0, "")
    assert out == (
        "ASTRA-sim network.yml (astra_network), a platform file\n"
        f"  {path}: 4 ranks in 1 dimensions, that of neighbouring ranks first\n"
        "  dimension 0: Ring of 4, links of 50 GB/s of 2^30 B each way and 500ns\n"
    )


def test_json(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = samples.write(tmp_path, "hpcc_flows")
    path.write_text(path.read_text() + "0 1 3 100 1 1\n")
    code, out, _ = run(capsys, "inspect", str(path), "--json")
    row = json.loads(out)
    assert (code, row["format"], row["kind"], row["ranks"]) == (0, "hpcc_flows", "flows", None)
    assert "1 more lines are not" in row["warnings"][0]
    code, out, err = run(capsys, "inspect", str(path), "--strict")
    assert (code, out) == (2, "")
    assert "1 more lines are not (strict: an error)" in err


def test_what_is_wrong_is_exit_2(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text('{"traceEvents": []}')
    for arguments in (("inspect", str(path)), ("convert", str(path), str(tmp_path / "out.toml"))):
        code, out, err = run(capsys, *arguments)
        assert (code, out) == (2, "")
        assert "trace.json: is a Chrome trace, as PyTorch's profiler (Kineto) exports" in err
    code, _, err = run(capsys, "inspect", str(path), "--format", "ns3_topolgy")
    assert (code, "did you mean 'ns3_topology'" in err) == (2, True)


def test_conversion(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source, target = samples.write(tmp_path, "roce_config"), tmp_path / "out.toml"
    code, out, err = run(capsys, "convert", str(source), str(target))
    assert (code, err) == (0, "")
    assert "congestion control dcqcn (CC_MODE 1)" in out
    assert out.endswith("keys of [transport], [switch]\n")
    code, _, err = run(capsys, "convert", str(source), str(target))
    assert (code, "is there already" in err) == (2, True)
    code, out, _ = run(capsys, "convert", str(source), str(target), "--overwrite", "--to", "scenario", "--json")
    assert (code, json.loads(out)["out"]) == (0, str(target))


def test_a_conversion_takes_keys_of_the_scenario(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source, target = samples.write(tmp_path, "astra_text"), tmp_path / "out.et"
    code, out, err = run(capsys, "convert", str(source), str(target), "--ranks", "2", "workload.compute_unit=1us")
    assert (code, err) == (0, "")
    assert "times in units of 1000 ns" in out
    code, out, err = run(capsys, "convert", str(source), str(target), "--ranks", "2", "workload.compute_unt=1us")
    assert (code, out) == (2, "")
    assert "did you mean 'workload.compute_unit'" in err
