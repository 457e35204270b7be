# SPDX-License-Identifier: GPL-2.0-only
"""``[pcap]``: what may be captured, and what a scenario with captures is."""

from __future__ import annotations

from pathlib import Path

import pytest

from astra_py.config import load_scenario
from astra_py.errors import ConfigError

ALL = ["pcap.ports=all", "pcap.folder=captures"]


def test_without_ports_nothing_is_captured() -> None:
    assert load_scenario({}).pcap.ports == ()
    assert load_scenario({}).resolved()["pcap"] == {"ports": []}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["pcap.ports=all"], "pcap.folder: None is given, and the captures have to go somewhere"),
        (["pcap.folder=captures"], r"pcap.folder: 'captures' would mean nothing with pcap.ports = \[\]"),
        (["pcap.ports=rank0", "pcap.folder=x"], "pcap.ports: 'rank0' is not a list of ports"),
        (['pcap.ports=["rank0", true]', "pcap.folder=x"], "pcap.ports: True names no port"),
        (['pcap.ports=[" "]', "pcap.folder=x"], "pcap.ports: ' ' names no port"),
        ([*ALL, "pcap.snap_length=69B"], "pcap.snap_length: '69B' is out of range"),
        ([*ALL, "pcap.max_frames=0"], "pcap.max_frames: 0 is out of range"),
        ([*ALL, "engine=analytic"], "pcap.ports: 'all' would mean nothing with engine = 'analytic'"),
        ([*ALL, "transport.header_size=60B"], "pcap.ports: 'all' has no true bytes with transport.header_size = '60B'"),
        ([*ALL, "transport.ack_size=64B"], "pcap.ports: 'all' has no true bytes with transport.ack_size = '64B'"),
    ],
)
def test_a_capture_that_cannot_be_is_refused(changes: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_scenario({}, changes)


def test_a_folder_is_beside_the_scenario_file(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('[pcap]\nports = "all"\nfolder = "captures"\n')
    assert load_scenario(tmp_path / "a.toml").pcap.folder == str(tmp_path / "captures")
    assert load_scenario(tmp_path / "a.toml", ["pcap.folder=here"]).pcap.folder == "here"


def test_what_is_looked_at_is_no_part_of_the_digest() -> None:
    assert load_scenario({}, ALL).digest == load_scenario({}).digest
