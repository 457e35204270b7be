# SPDX-License-Identifier: GPL-2.0-only
"""What the flow engine takes for direct all-to-alls: CPU seconds of its run and peak memory, each in a new process.

Usage: ``python benchmarks/flow.py [RANKS]``; 128 and 1,024 ranks without it.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time

CASES = {
    "single_switch": (),
    "leaf_spine": ("platform.kind=leaf_spine",),
    "leaf_spine, 4 to 1": ("platform.kind=leaf_spine", "platform.oversubscription=4"),
    "rail_optimized": ("platform.kind=rail_optimized",),
}
PER_PEER_BYTES = 64 * 1024


def run(name: str, overrides: tuple[str, ...], ranks: int) -> None:
    """Print one row; the memory includes the interpreter, numpy and the schedule."""
    from astra_py.api import one_collective
    from astra_py.config import load_scenario
    from astra_py.engines.flow import FlowEngine
    from astra_py.engines.resolve import engine_options

    size = f"platform.nodes={ranks // 8}" if "rail" in name else f"platform.ranks={ranks}"
    job = one_collective(load_scenario({}, ["engine=flow", size, *overrides]), "all_to_all", ranks * PER_PEER_BYTES)
    schedule, platform, transport, options = job.schedule, job.platform, job.transport, engine_options(job.scenario)
    started = time.process_time()
    columns = FlowEngine().run(schedule, platform, transport, options)
    taken = time.process_time() - started
    instants = len(set(columns.message_sent_ps.tolist()))
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    flows, rates = len(columns.message_op), columns.counters["rates_given"]
    print(f"{name:20} {ranks:>6,} {flows:>10,} {instants:>9,} {rates:>10,} {taken:>8.2f} {peak_mb:>8.0f}", flush=True)


def main() -> None:
    """Print the table."""
    sizes = [int(sys.argv[1])] if len(sys.argv) > 1 else [128, 1024]
    header = f"{'ranks':>6} {'flows':>10} {'instants':>9} {'rates':>10} {'CPU s':>8} {'peak MB':>8}"
    print(f"{'platform':20} {header}")
    for ranks in sizes:
        for name, overrides in CASES.items():
            process = multiprocessing.get_context("spawn").Process(target=run, args=(name, overrides, ranks))
            process.start()
            process.join()


if __name__ == "__main__":
    main()
