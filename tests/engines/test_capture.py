# SPDX-License-Identifier: GPL-2.0-only
"""From names of ports to channels and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from astra_py.api import one_collective
from astra_py.config import load_scenario
from astra_py.engines.capture import capture_of, captured_channels
from astra_py.errors import ConfigError
from astra_py.platforms import build_platform


def named(ports: Any, platform: dict[str, Any]) -> tuple[int, ...]:
    scenario = load_scenario({"platform": platform, "pcap": {"ports": ports, "folder": "unused"}})
    return captured_channels(scenario.pcap, build_platform(scenario.platform).arrays())


SWITCH = {"kind": "single_switch", "ranks": 4}
MACHINES = {"kind": "zionex", "nodes": 2}


def test_names_are_nodes_neighbours_and_numbers_each_port_once() -> None:
    assert named("all", SWITCH) == tuple(range(8))
    assert named(["rank2"], SWITCH) == (4,)
    assert named(["switch0", "switch0>rank1", 3], SWITCH) == (1, 3, 5, 7)
    assert named(["rank3 > switch0", 0], SWITCH) == (0, 6)


def test_scale_up_links_are_left_out_of_a_nodes_ports_and_refused_alone() -> None:
    arrays = build_platform(load_scenario({"platform": MACHINES}).platform).arrays()
    every = named("all", MACHINES)
    assert every == tuple(c for c in range(2 * len(arrays.link_a)) if arrays.link_efficiency[c // 2] == 0)
    other = next(c for c in range(2 * len(arrays.link_a)) if c not in every)
    with pytest.raises(ConfigError, match=f"pcap.ports: {other} is on scale-up links"):
        named([other], MACHINES)


@pytest.mark.parametrize(
    ("port", "message"),
    [
        (8, "there is no port 8; allowed: 0 to 7"),
        (-1, "there is no port -1"),
        ("rank9", "there is no node 'rank9'; did you mean 'rank"),
        ("rank0>rank1", "'rank0>rank1': no link joins the two"),
        ("rank0>", "there is no node ''"),
    ],
)
def test_a_name_of_nothing_is_refused(port: str | int, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        named([port], SWITCH)


def test_files_have_the_port_and_both_ends_in_their_names(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "captures"
    scenario = load_scenario({"platform": SWITCH, "pcap": {"ports": ["rank1"], "folder": str(folder)}})
    capture = capture_of(scenario.pcap, build_platform(scenario.platform), 0)
    assert capture is not None
    assert capture.paths == (str(folder / "port2_rank1_to_switch0.pcap"),)
    assert folder.is_dir()
    assert capture_of(load_scenario({}).pcap, build_platform(scenario.platform), 0) is None


def test_a_folder_that_cannot_be_and_a_file_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder" / "port0_rank0_to_switch0.pcap").mkdir(parents=True)
    for folder, message in (("file", "cannot be made: "), ("folder", "port0_rank0_to_switch0.pcap cannot be written")):
        tables = {"platform": SWITCH, "pcap": {"ports": ["rank0"], "folder": str(tmp_path / folder)}}
        with pytest.raises(ConfigError, match=f"pcap.folder: .*{message}"):
            one_collective(load_scenario(tables), "barrier", 0).run()


def test_a_message_too_large_for_its_header_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    tables = {"platform": SWITCH, "pcap": {"ports": "all", "folder": str(tmp_path / "captures")}}
    with pytest.raises(ConfigError, match="has 4294967296 B, and the length in an RDMA WRITE's header has 32 bits"):
        one_collective(load_scenario(tables), "all_to_all", 4 * 2**32).estimate()
    assert not (tmp_path / "captures").exists()


def test_a_script_on_the_network_interface_is_captured(tmp_path: Path) -> None:
    from astra_py.engines.network import NetworkInterface

    scenario = load_scenario({"platform": SWITCH, "pcap": {"ports": "all", "folder": str(tmp_path)}})
    with NetworkInterface(scenario) as net:
        net.send(0, 1, 100, tag=1)
        net.recv(1, 0, 100, tag=1, on_received=lambda: None)
        net.run()
    sizes = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    assert len(sizes) == 8
    assert sizes["port0_rank0_to_switch0.pcap"] == 24 + 16 + 14 + 20 + 8 + 12 + 16 + 100 + 4
    assert sizes["port4_rank2_to_switch0.pcap"] == 24
