# SPDX-License-Identifier: GPL-2.0-only
"""ns-3 topologies of HPCC, ASTRA-sim and SimAI: read as their programs do, refused line by line, damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from astra_py.config import load_scenario
from astra_py.errors import ConfigError, TopologyError
from astra_py.formats import NS3_TOPOLOGY, read, recognise
from astra_py.platforms import NodeKind, Platform, build_platform
from formats.mutations import FEW, MANY, survives

#: Four hosts, whose numbers the switches 1 and 4 part, and two links between these.
HPCC = """\
6 2 6
4 1
0 1 100Gbps 0.001ms 0
2 1 100Gbps 0.001ms 0
3 4 25Gbps 500ns 0.000000
5 4 25Gbps 500ns 0
1 4 400Gbps 0.0005ms 0.01
4 1 400Gbps 0.0005ms 0.01
"""
#: Two servers of two GPUs, an NVSwitch each, and a switch between.
SIMAI = """\
7 2 2 1 8 H100
4 5 6
0 4 3600Gbps 0.000025ms 0
1 4 3600Gbps 0.000025ms 0
2 5 3600Gbps 0.000025ms 0
3 5 3600Gbps 0.000025ms 0
0 6 400Gbps 0.0005ms 0
1 6 400Gbps 0.0005ms 0
2 6 400Gbps 0.0005ms 0
3 6 400Gbps 0.0005ms 0
"""


def _file(folder: Path, text: str, name: str = "topology.txt") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_ranks_are_hosts_in_order_of_their_numbers(tmp_path: Path) -> None:
    path = _file(tmp_path, HPCC)
    assert recognise(path) is NS3_TOPOLOGY
    platform: Platform = read(path).content()
    arrays = platform.arrays()
    assert platform.rank_nodes.tolist() == [0, 2, 3, 5]
    assert [arrays.node_kind[node] for node in (1, 4)] == [NodeKind.SWITCH] * 2
    assert arrays.link_rate_bps.tolist() == [100 * 10**9] * 2 + [25 * 10**9] * 2 + [400 * 10**9] * 2
    assert arrays.link_delay_ps.tolist() == [10**6, 10**6, 500_000, 500_000, 500_000, 500_000]
    assert arrays.link_loss.tolist() == [0, 0, 0, 0, 0.01, 0.01]
    assert not arrays.node_latency_ps.any()
    assert not arrays.node_forwards[[0, 2, 3, 5]].any()


def test_the_summary_says_what_was_taken(tmp_path: Path) -> None:
    summary = "\n".join(read(_file(tmp_path, HPCC)).summary)
    for said in ("4 hosts", "2 switches", "6 links", "2 of fabric 400Gbps 500ns loss 0.01", "platform.switch_latency"):
        assert said in summary
    assert read(_file(tmp_path, SIMAI)).ignored == (
        "the GPU type 'H100'; platform.accelerator says what ranks compute with",
    )


def test_servers_of_simai_are_machines_with_scale_up_links(tmp_path: Path) -> None:
    arrays = read(_file(tmp_path, SIMAI)).content().arrays()
    assert arrays.rank_machine.tolist() == [0, 0, 1, 1]
    assert arrays.rank_rail.tolist() == [0, 1, 0, 1]
    assert (arrays.link_efficiency > 0).tolist() == [True] * 4 + [False] * 4


def test_a_scenario_names_one(tmp_path: Path) -> None:
    _file(tmp_path, HPCC)
    scenario_file = _file(tmp_path, '[platform]\nkind = "file"\nfile = "topology.txt"\n', "scenario.toml")
    scenario = load_scenario(scenario_file)
    assert build_platform(scenario.platform).ranks == 4
    written = scenario.resolved()["platform"]
    assert written["switch_latency"] == "0s"
    assert not {"ranks", "link_rate", "link_delay", "link_loss"} & set(written)
    assert load_scenario(scenario.resolved()).resolved() == scenario.resolved()
    slow = load_scenario(scenario_file, ["platform.switch_latency=300ns"])
    assert build_platform(slow.platform).arrays().node_latency_ps.tolist() == [0, 300_000, 0, 0, 300_000, 0]
    with pytest.raises(
        ConfigError, match=r"platform\.file: '.*no\.txt' is not a file; allowed: the path of a platform"
    ):
        load_scenario(scenario_file, [f"platform.file={tmp_path / 'no.txt'}"])
    digest = scenario.digest
    _file(tmp_path, HPCC.replace("25Gbps", "50Gbps"))
    assert load_scenario(scenario_file).digest != digest


BAD = [
    ("6 2 6", "6 2 7", r"line 1: 7 links are declared and 6 follow"),
    ("6 2 6", "6 2 5", r"line 8: 5 links are declared, and this is one of 6"),
    ("6 2 6", "6 2 6 1", r"line 1: 4 fields; allowed: 'nodes switches links', or SimAI's 'nodes GPUs"),
    ("6 2 6", "2 2 6", r"line 1: of 2 nodes, 2 are switches; no host is left"),
    ("6 2 6", "2000000 2 6", r"line 1: 6 links cannot join 2000000 nodes"),
    ("4 1\n", "4 6\n", r"line 2: field 2, a switch, is '6'; allowed: a whole number from 0 to 5"),
    ("4 1\n", "4 4\n", r"line 2: switch 4 is there twice"),
    ("4 1\n", "4 1 2\n", r"line 2: 2 switches are declared, and 2 is one more"),
    ("4 1\n", "4\n", r"line 3: 2 switches are declared|line 3: switch"),
    ("0 1 100Gbps", "0 1 100", r"line 3: '100' is no rate; allowed: a number and a unit, such as '100Gbps'"),
    ("3 4 25Gbps 500ns", "3 4 25Gbps 500n", r"line 5: '500n' is no time"),
    ("3 4 25Gbps 500ns", "3 4 0Gbps 500ns", r"line 5: '0Gbps' is out of range"),
    ("3 4 25Gbps 500ns 0.000000", "3 4 25Gbps 500ns 1", r"line 5: field 5, the probability of a loss, is 1"),
    ("3 4 25Gbps", "3 3 25Gbps", r"line 5: the link joins node 3 to itself"),
    ("3 4 25Gbps", "3 6 25Gbps", r"line 5: field 2, a node, is '6'; allowed: a whole number from 0 to 5"),
    ("5 4 25Gbps 500ns 0\n", "5 4 25Gbps 500ns\n", r"line 6: 4 fields, and 5 are needed: a b rate delay error"),
    ("5 4 25Gbps", "3 4 25Gbps", r"topology.txt: there is no way between host0 and host5"),
]


@pytest.mark.parametrize(("old", "new", "message"), BAD)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert HPCC.count(old) >= 1
    path = _file(tmp_path, HPCC.replace(old, new, 1))
    with pytest.raises(TopologyError, match=message):
        read(path, "ns3_topology").content()


def test_a_link_of_an_nvswitch_loses_nothing(tmp_path: Path) -> None:
    path = _file(tmp_path, SIMAI.replace("0.000025ms 0\n", "0.000025ms 0.1\n", 1))
    with pytest.raises(TopologyError, match="line 3: a link of an NVSwitch loses nothing"):
        read(path, "ns3_topology").content()


def _damaged(tmp_path: Path, count: int) -> None:
    fixtures = [_file(tmp_path, HPCC), _file(tmp_path, SIMAI, "simai.txt")]
    folder = tmp_path / "damaged"
    folder.mkdir()
    survives(NS3_TOPOLOGY, fixtures, folder, count, use=lambda build: build())


def test_it_survives_damage(tmp_path: Path) -> None:
    _damaged(tmp_path, FEW)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_it_survives_much_damage(tmp_path: Path) -> None:
    _damaged(tmp_path, MANY)
