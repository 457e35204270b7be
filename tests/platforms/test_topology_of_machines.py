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
