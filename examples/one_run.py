# SPDX-License-Identifier: GPL-2.0-only
"""One run: a scenario file with changes, checked first, simulated, looked at, saved and read again.

``one_run.py [FOLDER]`` leaves the tables in FOLDER.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import astra_py as ap

SCENARIO = Path(__file__).parents[1] / "workloads" / "astra2020_16.toml"


def main(folder: Path) -> ap.Result:
    """Run the main job with links of 200 Gb/s into ``folder``, and return its result as it is read from there."""
    run = ap.load(SCENARIO, "platform.link_rate=200Gbps", "workload.iterations=1")
    estimate = run.estimate()
    print(f"{estimate.messages:,} messages in {estimate.packets:,} packets, about {estimate.cpu_s:.1f} s of CPU\n")

    result = run.run()
    print(result.iterations[["iteration", "time_us", "compute_us", "exposed_us"]].to_string(index=False), end="\n\n")
    slowest = result.collectives.sort_values("exposed_us", ascending=False)
    columns = ["name", "ranks", "size_bytes", "time_us", "busbw_GBps", "exposed_us"]
    print(slowest[columns].head(3).to_string(index=False))

    # every rank's messages, every link: the same tables lie in the folder, with the scenario and its digest
    result.save(folder)
    again = ap.read_result(folder)
    busiest = again.links.sort_values("line_bytes").iloc[-1]
    print(f"\nmost bytes: {busiest['from']} to {busiest['to']}, {busiest['line_bytes']:,} B")
    return again


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as name:
            main(Path(name) / "run")
