# SPDX-License-Identifier: GPL-2.0-only
"""Runs whose frames are captured, and a small reader of the captures: nothing of it knows how they were written."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from astra_py.api import one_collective
from astra_py.config import load_scenario
from astra_py.engines.base import EngineColumns

#: Scenarios of the cases: what a collective of the kind and size runs on.
CASES: dict[str, tuple[str, int, dict[str, Any]]] = {
    "plain": ("all_to_all", 40_003, {"transport": {"payload": "1024B", "ack": "every:3"}}),
    "marked": (
        "gather",
        4_000_000,
        {"transport": {"congestion_control": "dcqcn"}, "switch": {"ecn_kmin": "20kB", "ecn_kmax": "60kB"}},
    ),
    "paused": ("gather", 4_000_000, {"switch": {"buffer": "300kB"}}),
    "lossy": ("all_to_all", 800_000, {"platform": {"link_loss": 0.02}}),
    "repeated": (
        "all_to_all",
        800_000,
        {"platform": {"link_loss": 0.02}, "transport": {"recovery": "selective_repeat"}},
    ),
    "telemetry": ("gather", 200_000, {"transport": {"congestion_control": "hpcc"}}),
    "one_each": ("all_to_all", 8_000, {"transport": {"qps_per_peer": "per_message"}}),
}


@dataclass(frozen=True)
class Captured:
    """A run's columns, and its frames by port."""

    columns: EngineColumns
    files: dict[int, Path]

    def frames(self, port: int) -> list[tuple[int, bytes]]:
        """Time in ns and bytes of each frame of a port."""
        return read_pcap(self.files[port])


def capture(case: str, folder: Path, **pcap: Any) -> Captured:
    """Run a case on eight ranks at a switch with ports captured, all of them unless said otherwise."""
    kind, size, tables = CASES[case]
    scenario: dict[str, Any] = {
        "platform": {"kind": "single_switch", "ranks": 8} | tables.get("platform", {}),
        "pcap": {"ports": "all", "folder": str(folder)} | pcap,
    }
    prepared = one_collective(load_scenario({**tables, **scenario}), kind, size).prepare()
    try:
        columns = prepared.run()
    finally:
        prepared.close()
    files = {int(path.name.split("_")[0].removeprefix("port")): path for path in sorted(folder.iterdir())}
    return Captured(columns, files)


def read_pcap(path: Path) -> list[tuple[int, bytes]]:
    """Time in ns and bytes of each whole frame of a capture."""
    data = path.read_bytes()
    magic, major, minor, _, _, _, link_type = struct.unpack_from("=IHHiIII", data)
    assert (magic, major, minor, link_type) == (0xA1B23C4D, 2, 4, 1)
    frames, at = [], 24
    while at < len(data):
        seconds, nanoseconds, kept, length = struct.unpack_from("=IIII", data, at)
        assert kept == length
        frames.append((seconds * 10**9 + nanoseconds, data[at + 16 : at + 16 + kept]))
        at += 16 + kept
    assert at == len(data)
    return frames


def invariant_crc(frame: bytes) -> int:
    """The ICRC that an Ethernet frame with a RoCEv2 packet over IPv4 should have, as 32 bits in order of the wire."""
    packet = bytearray(frame[14 : 14 + int.from_bytes(frame[16:18], "big") - 4])
    for at in (1, 8, 10, 11, 26, 27, 32):  # TOS, TTL, both checksums, FECN and BECN
        packet[at] = 0xFF
    return int.from_bytes(zlib.crc32(b"\xff" * 8 + packet).to_bytes(4, "little"), "big")
