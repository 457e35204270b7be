# SPDX-License-Identifier: GPL-2.0-only
"""``astra-py topology``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from astra_py.cli.app import command


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as caught:
        command(["topology", *arguments])
    printed = capsys.readouterr()
    return caught.value.code, printed.out, printed.err


def test_text(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "platform.kind=leaf_spine", "platform.ranks=12")
    assert (code, err) == (0, "")
    assert out == (
        "leaf_spine: 12 ranks, 10 switches, 28 links\n"
        "NIC ports: 1 a rank\n"
        "bisection bandwidth: 600Gbps each way; diameter: 4 links\n"
        "note: leaf1 is partly filled: 4 ranks, the fullest has 8\n"
        "\n"
        "link class  links  rate     delay  loss\n"
        "host           12  100Gbps  500ns  0\n"
        "fabric         16  100Gbps  500ns  0\n"
        "\n"
        "spine0..spine7  (2 links down each)\n"
        "├── leaf0  rank0..rank7\n"
        "└── leaf1  rank8..rank11\n"
    )


def test_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys)
    assert out.startswith("single_switch: 8 ranks, 1 switch, 8 links\n")


def test_a_scenario_and_an_override(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    scenario = tmp_path / "s.toml"
    scenario.write_text("[platform]\nranks = 4\n")
    _, out, _ = run(capsys, str(scenario), "platform.ranks=6")
    assert out.startswith("single_switch: 6 ranks")


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "platform.ranks=2", "--json")
    (line,) = out.splitlines()
    row = json.loads(line)
    assert (row["ranks"], row["bisection_bps"], row["diameter_hops"]) == (2, 10**11, 2)
    assert [node["name"] for node in row["nodes"]] == ["rank0", "rank1", "switch0"]
    assert [(port["port"], port["node"], port["peer"]) for port in row["ports"]] == [
        (0, 0, 2),
        (1, 2, 0),
        (2, 1, 2),
        (3, 2, 1),
    ]


def test_no_such_scenario(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "no/such.toml")
    assert (code, out) == (2, "")
    assert err == "error: no/such.toml: cannot be read: No such file or directory\n"
