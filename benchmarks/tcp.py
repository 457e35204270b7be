# SPDX-License-Identifier: GPL-2.0-only
"""What a segment of TCP costs, beside a plain ns-3 program with the same segments: CPU seconds, each in a new process.

Usage: ``python benchmarks/tcp.py [FOLDER]``; the plain program (``plain_ns3_tcp``: point-to-point links, an IP router,
FqCoDel) is built in FOLDER, else in one that is removed again. Needs CMake and a C++ compiler. In both, what is timed
begins with established connections and ends with the last event.
"""

from __future__ import annotations

import json
import multiprocessing
import platform
import subprocess
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
MTU, RATE, DELAY = "9000B", "100Gbps", "500ns"
#: Ranks of a direct all-to-all and bytes from each to each other one; of 1 rank, one flow between two.
CASES = {
    "one flow, 200 MB": (1, 200_000_000),
    "all-to-all of 16, 1 MB a peer": (16, 1_000_000),
    "all-to-all of 128, 1 MiB a rank": (128, 8_192),
}


def build(folder: Path) -> Path:
    """Build the plain program in ``folder`` and return it."""
    source = ["-S", str(HERE / "plain_ns3_tcp"), "-B", str(folder), f"-DPython_EXECUTABLE={sys.executable}"]
    subprocess.run(["cmake", *source], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", str(folder)], check=True, stdout=subprocess.DEVNULL)
    return folder / "plain_ns3_tcp"


def plain(program: Path, ranks: int, bytes_per_peer: int) -> dict[str, float]:
    """Run the plain program."""
    keys = {"ranks": max(ranks, 2), "bytesPerPeer": bytes_per_peer, "isOneFlow": str(ranks == 1).lower()}
    keys |= {"mtu": MTU.removesuffix("B"), "rate": RATE, "delay": DELAY}
    done = subprocess.run(
        [program, *(f"--{key}={value}" for key, value in keys.items())], check=True, capture_output=True
    )
    counts: dict[str, float] = json.loads(done.stdout)
    return counts


def ours(ranks: int, bytes_per_peer: int, answer: Connection) -> None:
    """Run the packet engine on the same messages."""
    from astra_py.api import one_collective
    from astra_py.config import load_scenario

    keys = [f"platform.ranks={max(ranks, 2)}", f"platform.link_rate={RATE}", f"platform.link_delay={DELAY}"]
    keys += [
        "transport.kind=tcp",
        f"transport.tcp.mtu={MTU}",
        "transport.tcp.delayed_ack_timeout=1ms",
        "transport.tcp.send_buffer=4MiB",
        "switch.buffer=1GB",
    ]
    scenario = load_scenario({}, [*keys, "transport.tcp.receive_buffer=4MiB", "collective.all_to_all=direct"])
    if ranks == 1:
        job = one_collective(scenario, "sendrecv", bytes_per_peer, (0, 1))
    else:
        job = one_collective(scenario, "all_to_all", ranks * bytes_per_peer)
    started = time.process_time()
    prepared = job.prepare()
    began = time.process_time()
    columns = prepared.run()
    ended = time.process_time()
    counters: dict[str, Any] = {"data_segments": columns.counters["packets"] + columns.counters["repeated_packets"]}
    counters |= {"acks": columns.counters["acks"], "events": columns.counters["events"]}
    counters |= {"setup_cpu_s": began - started, "simulation_cpu_s": ended - began}
    answer.send(counters | {"time_us": int(columns.message_delivered_ps.max()) // 10**6})


def in_new_process(ranks: int, bytes_per_peer: int) -> dict[str, float]:
    """Return what :func:`ours` counts in a process of its own."""
    spawn = multiprocessing.get_context("spawn")
    here, there = spawn.Pipe()
    process = spawn.Process(target=ours, args=(ranks, bytes_per_peer, there))
    process.start()
    there.close()
    counts: dict[str, float] = here.recv()
    process.join()
    return counts


def machine() -> str:
    """Return the processor and the commit that was measured."""
    info = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    names = [line.split(":", 1)[1].strip() for line in info.splitlines() if line.startswith("model name")]
    git = ["git", "-C", str(HERE), "describe", "--always", "--dirty"]
    commit = subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip() or "unknown"
    return f"{names[0] if names else platform.processor()}, Python {platform.python_version()}, commit {commit}"


def row(name: str, who: str, counts: dict[str, float]) -> None:
    """Print one row."""
    segments, acks, taken = counts["data_segments"], counts["acks"], counts["simulation_cpu_s"]
    each_us = 1e6 * taken / (segments + acks)
    columns = f"{segments:>10,} {acks:>10,} {counts['events']:>12,} {counts['time_us']:>9,}"
    print(f"{name:34} {who:6} {columns} {counts['setup_cpu_s']:>9.2f} {taken:>8.2f} {each_us:>8.2f}", flush=True)


def main() -> None:
    """Print the table."""
    print(machine())
    heads = (
        f"{'segments':>10} {'ACKs':>10} {'events':>12} {'time, us':>9} {'set-up, s':>9} {'CPU, s':>8} {'us each':>8}"
    )
    print(f"{'':34} {'':6} {heads}")
    with tempfile.TemporaryDirectory() as made:
        program = build(Path(sys.argv[1] if len(sys.argv) > 1 else made))
        for name, (ranks, bytes_per_peer) in CASES.items():
            row(name, "plain", plain(program, ranks, bytes_per_peer))
            row(name, "ours", in_new_process(ranks, bytes_per_peer))


if __name__ == "__main__":
    main()
