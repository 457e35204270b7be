# SPDX-License-Identifier: GPL-2.0-only
"""What plan and Trace of a large DLRM cost: CPU seconds and peak memory, each way to divide tables in a new process.

Usage: ``python benchmarks/dlrm_trace.py [RANKS]``; 1,024 ranks without it, with the 4,096 tables of ``dlrm_a``.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time

SHARDINGS = ("table_wise", "column_wise", "row_wise", "table_row_wise", "data_parallel")


def plan_and_trace(sharding: str, ranks: int) -> None:
    """Print one row; the memory includes the interpreter and numpy."""
    import numpy as np

    from astra_py.config.workload import dlrm_presets
    from astra_py.hardware import accelerator
    from astra_py.workloads.dlrm import (
        Exchanges,
        Memory,
        MicroBatch,
        Roofline,
        Sharding,
        dlrm_trace,
        read_dlrm,
        roofline_times,
        shard,
    )

    model = read_dlrm(dlrm_presets()["dlrm_a"])
    a100 = accelerator("A100-80")
    # memory without limit: the replicas of all tables fit nowhere
    memory = Memory(hbm_bytes=2**50, machines=np.arange(ranks, dtype=np.int32) // 8)
    started = time.process_time()
    plan = shard(model, memory, sharding=Sharding(sharding), min_shard_dim=47)
    planned = time.process_time()
    exchanges = Exchanges(plan)
    times = roofline_times(plan, Roofline(accelerator=a100, flops_efficiency=0.7, memory_efficiency=0.8))
    trace = dlrm_trace(exchanges, [MicroBatch(exchanges, times)], iterations=2)
    traced = time.process_time()
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    figures = (
        f"{len(plan.table):>9,} {len(trace):>9,} {planned - started:>8.2f} {traced - planned:>8.2f} {peak_mb:>8.0f}"
    )
    print(f"{sharding:16} {figures}", flush=True)


def main() -> None:
    """Print the table."""
    ranks = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
    print(f"{'sharding':16} {'shards':>9} {'nodes':>9} {'plan s':>8} {'trace s':>8} {'peak MB':>8}")
    for sharding in SHARDINGS:
        process = multiprocessing.get_context("spawn").Process(target=plan_and_trace, args=(sharding, ranks))
        process.start()
        process.join()


if __name__ == "__main__":
    main()
