# SPDX-License-Identifier: GPL-2.0-only
"""Others read the captures as they are meant: Wireshark's dissectors, and scapy's layer for RoCE."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from capture_cases import CASES, Captured, capture

FIELDS = (
    "_ws.col.Protocol",
    "_ws.malformed",
    "_ws.expert.message",
    "frame.len",
    "ip.dsfield.ecn",
    "udp.dstport",
    "infiniband.bth.opcode",
    "infiniband.bth.psn",
    "infiniband.bth.destqp",
    "infiniband.reth.dmalen",
    "infiniband.aeth.syndrome.opcode",
    "infiniband.invariant.crc",
    "macc.cbfc.enbv",
    "macc.cbfc.pause_time.c0",
    "macc.cbfc.pause_time.c7",
)


def one_file(captured: Captured, to: Path) -> Path:
    """All ports' frames in one capture, port after port."""
    parts = [path.read_bytes() for path in captured.files.values()]
    to.write_bytes(parts[0][:24] + b"".join(part[24:] for part in parts))
    return to


def dissected(path: Path) -> list[dict[str, str]]:
    command = ["tshark", "-n", "-r", str(path), "-T", "fields", *(word for name in FIELDS for word in ("-e", name))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [dict(zip(FIELDS, line.split("\t"), strict=True)) for line in done.stdout.splitlines()]


@pytest.mark.skipif(shutil.which("tshark") is None, reason="needs Wireshark's tshark, as of Debian's package")
@pytest.mark.parametrize("case", CASES)
def test_wireshark_finds_no_fault_and_counts_as_we_do(case: str, tmp_path: Path) -> None:
    captured = capture(case, tmp_path / "ports")
    columns = captured.columns
    frames = dissected(one_file(captured, tmp_path / "all.pcap"))
    assert len(frames) == columns.channel_frames.sum()
    assert {(frame["_ws.malformed"], frame["_ws.expert.message"]) for frame in frames} == {("", "")}
    assert sum(int(frame["frame.len"]) + 24 for frame in frames) == columns.channel_line_bytes.sum()
    roce = [frame for frame in frames if frame["_ws.col.Protocol"] == "RRoCE"]
    pauses = [frame for frame in frames if frame["_ws.col.Protocol"] == "MAC CTRL"]
    assert len(roce) + len(pauses) == len(frames)
    assert len(pauses) == columns.channel_pfc_frames.sum()
    held = [(frame["macc.cbfc.pause_time.c0"], frame["macc.cbfc.pause_time.c7"]) for frame in pauses]
    assert sum("65535" in times for times in held) == columns.channel_pauses.sum()
    assert {frame["udp.dstport"] for frame in roce} == {"4791"}
    data = [frame for frame in roce if int(frame["infiniband.bth.opcode"]) in (6, 7, 8, 10)]
    assert len(data) == columns.channel_data_frames.sum()
    assert sum(frame["ip.dsfield.ecn"] == "3" for frame in data) == columns.channel_marked_frames.sum()
    sizes = {int(frame["infiniband.reth.dmalen"]) for frame in data if frame["infiniband.reth.dmalen"]}
    assert sizes == set(columns.message_size_bytes.tolist())
    answers = [frame for frame in roce if frame["infiniband.bth.opcode"] == "17"]
    assert {frame["infiniband.aeth.syndrome.opcode"] for frame in answers} == (
        {"0", "3"} if columns.counters["naks"] else {"0"}
    )
    assert len(data) + len(answers) + sum(frame["infiniband.bth.opcode"] == "129" for frame in roce) == len(roce)


def scapy() -> Any:
    pytest.importorskip("scapy", reason="needs scapy")
    import scapy.contrib.roce as roce
    from scapy.layers.l2 import Ether

    return roce, Ether


@pytest.mark.parametrize("case", CASES)
def test_scapy_reads_the_same_and_makes_the_same_icrc(case: str, tmp_path: Path) -> None:
    roce, ether = scapy()
    captured = capture(case, tmp_path, ports=["rank0", "switch0>rank0"])
    opcodes: Counter[int] = Counter()
    for port in captured.files:
        frames = [frame for _, frame in captured.frames(port) if frame[12:14] == b"\x08\x00"]
        for frame in frames[:: max(1, len(frames) // 40)]:
            length = 14 + int.from_bytes(frame[16:18], "big")
            packet = ether(frame[:length])
            bth = packet[roce.BTH]
            opcodes[bth.opcode] += 1
            assert (bth.pkey, bth.version, bth.psn) == (0xFFFF, 0, int.from_bytes(frame[51:54], "big"))
            assert (bth.opcode == roce.CNP_OPCODE) == packet.haslayer(roce.CNPPadding)
            if packet.haslayer(roce.AETH):
                assert packet[roce.AETH].syndrome in (0x1F, 0x60)
            made = packet.copy()
            made[roce.BTH].icrc = None
            assert bytes(made) == frame[:length]
    assert opcodes[0x11] > 0
