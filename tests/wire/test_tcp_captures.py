# SPDX-License-Identifier: GPL-2.0-only
"""Captures of TCP say what the tables say, and Wireshark's dissector and its analysis of sequences find no fault."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from astra_py.api import one_collective
from astra_py.config import load_scenario
from capture_cases import Captured, read_pcap

#: A case's collective, its bytes, and what it runs on beside eight ranks at a switch.
CASES: dict[str, tuple[str, int, dict[str, Any]]] = {
    "plain": ("all_to_all", 800_000, {"transport": {"tcp": {"mtu": "1500B"}}}),
    "jumbo": ("all_to_all", 2_000_000, {}),
    "small": ("all_to_all", 8, {"transport": {"tcp": {"timestamps": False}}}),
    "several": ("all_to_all", 800_000, {"transport": {"tcp": {"sockets_per_peer": 2, "connect": "timed"}}}),
    "marked": ("gather", 2_000_000, {"switch": {"ecn_kmin": "20kB", "ecn_kmax": "20kB"}}),
    "lossy": ("all_to_all", 800_000, {"platform": {"link_loss": 0.01}, "transport": {"tcp": {"mtu": "1500B"}}}),
}
FIELDS = (
    "frame.protocols",
    "_ws.malformed",
    "_ws.expert.message",
    "frame.len",
    "ip.dsfield.ecn",
    "ip.checksum.status",
    "tcp.checksum.status",
    "tcp.len",
    "tcp.flags.syn",
    "tcp.analysis.flags",
    "tcp.analysis.retransmission",
    "tcp.analysis.fast_retransmission",
    "tcp.analysis.spurious_retransmission",
    "tcp.analysis.lost_segment",
    "tcp.analysis.ack_lost_segment",
    "tcp.analysis.out_of_order",
)
GOOD = "1"
TROUBLE = FIELDS[10:]
CHECKED = ("-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE")
#: Line bytes that a capture does not have: preamble, FCS, gap (IEEE 802.3).
UNCAPTURED = 24

pytestmark = pytest.mark.skipif(
    shutil.which("tshark") is None, reason="needs Wireshark's tshark, as of Debian's package"
)


def capture(case: str, folder: Path) -> Captured:
    """Run the case with all ports captured."""
    kind, size, tables = CASES[case]
    transport = {"kind": "tcp"} | tables.get("transport", {})
    platform = {"kind": "single_switch", "ranks": 8} | tables.get("platform", {})
    scenario = {**tables, "transport": transport, "platform": platform, "pcap": {"ports": "all", "folder": str(folder)}}
    prepared = one_collective(load_scenario(scenario), kind, size).prepare()
    try:
        columns = prepared.run()
    finally:
        prepared.close()
    return Captured(columns, {int(path.name.split("_")[0].removeprefix("port")): path for path in folder.iterdir()})


def dissected(path: Path) -> list[dict[str, str]]:
    words = [word for name in FIELDS for word in ("-e", name)]
    command = ["tshark", "-n", *CHECKED, "-r", str(path), "-T", "fields", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [dict(zip(FIELDS, line.split("\t"), strict=True)) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module", params=CASES)
def captured(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Captured]:
    return request.param, capture(request.param, tmp_path_factory.mktemp(request.param))


def both_ways(captured: Captured, rank: int, to: Path) -> Path:
    """What a rank's link carries in both directions in one capture, in order of time."""
    files = [captured.files[2 * rank], captured.files[2 * rank + 1]]
    if shutil.which("mergecap") is None:
        pytest.skip("needs Wireshark's mergecap")
    subprocess.run(["mergecap", "-F", "nsecpcap", "-w", str(to), *map(str, files)], check=True)
    return to


def test_frames_bytes_and_marks_are_those_of_the_tables(captured: tuple[str, Captured]) -> None:
    case, run = captured
    columns = run.columns
    for port, path in sorted(run.files.items()):
        frames = dissected(path)
        assert len(frames) == columns.channel_frames[port] == len(read_pcap(path))
        assert sum(int(frame["frame.len"]) + UNCAPTURED for frame in frames) == columns.channel_line_bytes[port]
        assert {(frame["ip.checksum.status"], frame["tcp.checksum.status"]) for frame in frames} <= {(GOOD, GOOD)}
        assert {frame["_ws.malformed"] for frame in frames} <= {""}
        assert all(frame["frame.protocols"].startswith("eth:ethertype:ip:tcp") for frame in frames)
        assert sum(int(frame["tcp.len"]) > 0 for frame in frames) == columns.channel_data_frames[port]
        assert sum(int(frame["tcp.len"]) for frame in frames) == columns.channel_payload_bytes[port]
        marks = sum(frame["ip.dsfield.ecn"] == "3" for frame in frames)
        if port % 2:  # the switch's; it alone marks
            assert marks == columns.channel_marked_frames[port]
        else:
            assert marks == 0
    assert (columns.channel_marked_frames.sum() > 0) == (case == "marked")


def test_no_sequence_number_is_wrong(captured: tuple[str, Captured], tmp_path: Path) -> None:
    case, run = captured
    troubles = 0
    for rank in range(8):
        frames = dissected(both_ways(run, rank, tmp_path / f"{rank}.pcap"))
        troubles += sum(any(frame[name] for name in TROUBLE) for frame in frames)
    assert (troubles > 0) == (case == "lossy")


def test_connections_before_have_no_handshake_and_timed_ones_have(captured: tuple[str, Captured]) -> None:
    case, run = captured
    synchronised = sum(frame["tcp.flags.syn"] in ("1", "True") for frame in dissected(run.files[0]))
    # one message to each of seven needs one of its two sockets; a SYN of each, and an answer to each of theirs
    assert synchronised == (7 + 7 if case == "several" else 0)
