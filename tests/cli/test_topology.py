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
        "bisection bandwidth each way: 600Gbps; diameter: 4 links\n"
        "note: leaf1 is partly filled: 4 ranks, the fullest has 8\n"
        "\n"
        "link class  links  rate     delay  loss  efficiency\n"
        "host           12  100Gbps  500ns  0     Ethernet\n"
        "fabric         16  100Gbps  500ns  0     Ethernet\n"
        "\n"
        "spine0..spine7  (2 links down each)\n"
        "├── leaf0  rank0..rank7\n"
        "└── leaf1  rank8..rank11\n"
    )


def test_machines(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "platform.kind=zion")
    assert out == (
        "zion: 16 ranks, 16 hosts, 12 switches, 64 links\n"
        "machines: 2, 8 ranks and 8 NICs each\n"
        "bisection bandwidth each way: 800Gbps, over Ethernet 800Gbps; diameter: 6 links\n"
        "\n"
        "link class  links  rate     delay  loss  efficiency\n"
        "scale_up       16  2.4Tbps  250ns  0     0.94\n"
        "pcie           16  126Gbps  500ns  0     0.914\n"
        "host           16  100Gbps  500ns  0     Ethernet\n"
        "fabric         16  100Gbps  500ns  0     Ethernet\n"
        "\n"
        "spine0..spine7  (2 links down each)\n"
        "├── leaf0  host0..host7  rank0..rank7  scaleup0\n"
        "└── leaf1  host8..host15  rank8..rank15  scaleup1\n"
    )


def test_a_ring_has_no_switches(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "platform.kind=ring", "platform.ranks=3")
    assert out.startswith("ring: 3 ranks, 0 switches, 3 links\nNIC ports: 2 a rank\n")


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
    assert [node.get("machine") for node in row["nodes"]] == [0, 1, None]
    assert (row["machines"], row["link_classes"][0]["efficiency"]) == (2, 0.0)
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
