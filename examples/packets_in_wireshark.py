# SPDX-License-Identifier: GPL-2.0-only
"""An incast of 8 ranks with DCQCN, one port of it captured for Wireshark, and the control loop seen in its packets.

Seven ranks send to rank 0 at once. The queue of the switch's port to rank 0 grows, packets are marked there, rank 0
answers marks with CNPs, and the senders slow down. The script counts all that in the captures and in the run's tables.
"""

from __future__ import annotations

import struct
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from astra_py.api import one_collective
from astra_py.config import load_scenario

SCENARIO = {
    "platform": {"kind": "single_switch", "ranks": 8},
    "transport": {"congestion_control": "dcqcn"},
    # both ways of the link of rank 0
    "pcap": {"ports": ["switch0>rank0", "rank0>switch0"]},
}
#: Opcodes of RDMA WRITE packets, and others (InfiniBand Architecture 1.4, volume 1, table 38; annex A17).
NAMES = {0x06: "data", 0x07: "data", 0x08: "data", 0x0A: "data", 0x11: "ACK", 0x81: "CNP"}


def packets(path: Path) -> Iterator[tuple[float, bytes]]:
    """Time in microseconds and bytes of each frame of a capture."""
    data = path.read_bytes()
    at = 24
    while at < len(data):
        seconds, nanoseconds, kept, _ = struct.unpack_from("=4I", data, at)
        yield seconds * 1e6 + nanoseconds / 1e3, data[at + 16 : at + 16 + kept]
        at += 16 + kept


def main(folder: Path, size_bytes: int = 4_000_000) -> dict[str, int]:
    """Run, and return how many frames of each kind the captures have; "marked" counts data that came marked."""
    scenario = load_scenario(SCENARIO, [f"pcap.folder={folder}"])
    one_collective(scenario, "gather", size_bytes).run()
    counts: Counter[str] = Counter()
    first: dict[str, float] = {}
    for path in sorted(folder.glob("*.pcap")):
        for time_us, frame in packets(path):
            is_pause = frame[12:14] == b"\x88\x08"
            kind = "PAUSE" if is_pause else NAMES[frame[42]]
            kinds = [kind] if is_pause or frame[15] & 3 != 3 else [kind, "marked"]
            for name in kinds:
                counts[name] += 1
                first.setdefault(name, time_us)
        print(path.name)
    for name, count in counts.items():
        print(f"{name:>7} {count:6}, the first at {first[name]:8.3f} us")
    print(f"look closer: tshark -r {folder}/port1_switch0_to_rank0.pcap -Y 'ip.dsfield.ecn == 3'")
    return dict(counts)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "captures"))
