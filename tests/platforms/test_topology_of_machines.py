# SPDX-License-Identifier: GPL-2.0-only
"""What ``topology`` says of platforms with machines and of the ring: ranks, NICs, link classes, bisection."""

from __future__ import annotations

import json

import pytest

from astra_py.cli.app import command


def topology(capsys: pytest.CaptureFixture[str], kind: str, *arguments: str) -> str:
    with pytest.raises(SystemExit) as ended:
        command(["topology", f"platform.kind={kind}", *arguments])
    assert ended.value.code == 0
    return capsys.readouterr().out


#: Machines of 8 at 100 Gb/s a NIC: half of the NICs, and for the ring two links, cross the middle.
SAYS = {
    "ring": {"ranks": 8, "machines": 8, "nics": [1 + 1] * 2, "bisection_gbps": 200, "classes": {"ring": 8}},
    "zion": {
        "ranks": 16,
        "machines": 2,
        "nics": [8] * 2,
        "bisection_gbps": 800,
        "classes": {"scale_up": 16, "pcie": 16, "host": 16, "fabric": 16},
    },
    "zionex": {
        "ranks": 16,
        "machines": 2,
        "nics": [8] * 2,
        "bisection_gbps": 800,
        "classes": {"nvlink": 16, "host": 16, "fabric": 16},
    },
}


@pytest.mark.parametrize("kind", SAYS)
def test_json_has_ranks_nics_classes_and_bisection(capsys: pytest.CaptureFixture[str], kind: str) -> None:
    row = json.loads(topology(capsys, kind, "--json"))
    expected = SAYS[kind]
    assert (row["ranks"], row["machines"]) == (expected["ranks"], expected["machines"])
    assert row["nic_ports_per_machine"] == expected["nics"]
    assert row["bisection_bps"] == expected["bisection_gbps"] * 10**9
    assert {one["name"]: one["links"] for one in row["link_classes"]} == expected["classes"]
    assert sum(node["kind"] == "accelerator" for node in row["nodes"]) == expected["ranks"]
    assert len(row["ports"]) == 2 * sum(expected["classes"].values())


@pytest.mark.parametrize("kind", SAYS)
def test_text_lists_and_draws_them(capsys: pytest.CaptureFixture[str], kind: str) -> None:
    head, table, drawing = topology(capsys, kind).split("\n\n")
    expected = SAYS[kind]
    assert f"{kind}: {expected['ranks']} ranks" in head
    assert ("NIC ports: 2 a rank" if kind == "ring" else "machines: 2, 8 ranks and 8 NICs each") in head
    assert f"bisection bandwidth each way: {expected['bisection_gbps']}Gbps" in head
    assert [line.split()[0] for line in table.splitlines()[1:]] == list(expected["classes"])
    assert f"rank{expected['ranks'] - 1}" in drawing


def test_nics_and_rails_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    keys = ("platform.nics_per_node=4", "platform.nodes=3", "platform.nic_policy=pxn")
    row = json.loads(topology(capsys, "rail_optimized", *keys, "--json"))
    assert (row["nics"], row["nic_ports_per_machine"]) == (12, [4, 4])
    places = [(node["machine"], node["rail"]) for node in row["nodes"] if node["kind"] == "accelerator"]
    assert places == [(rank // 8, rank % 8 // 2) for rank in range(24)]
    assert {node["forwards"] for node in row["nodes"] if node["kind"] == "accelerator"} == {2}
    head, _, drawing = topology(capsys, "rail_optimized", *keys).split("\n\n")
    assert "rail_optimized: 24 ranks, 12 NICs, 10 switches, 72 links\nmachines: 3, 8 ranks and 4 NICs each" in head
    assert "├── leaf0  nic0..nic8 by 4  rank0..rank1 rank8..rank9 rank16..rank17  nvswitch0..nvswitch2" in drawing


def test_a_drawing_of_rails_without_spines(capsys: pytest.CaptureFixture[str]) -> None:
    drawing = topology(capsys, "rail_only", "platform.accelerators_per_node=2", "platform.nodes=4").split("\n\n")[2]
    assert drawing.splitlines() == [
        "rail0  rank0..rank6 by 2  nvswitch0..nvswitch3",
        "rail1  rank1..rank7 by 2  nvswitch0..nvswitch3",
    ]


def test_what_one_may_not_expect(capsys: pytest.CaptureFixture[str]) -> None:
    head = topology(capsys, "rail_optimized", "platform.nodes=40", "platform.ecmp_seeds=common").split("\n\n")[0]
    assert "note: leaf8..leaf15 are partly filled: 8 ranks each, the fullest has 32" in head
    assert "note: platform.ecmp_seeds = 'common'" in head
