# SPDX-License-Identifier: GPL-2.0-only
"""What it costs to shard many tables over many ranks, and to make the job's trace: seconds, shards and peak memory.

Usage: ``python benchmarks/sharding.py [TABLES] [RANKS]``; 4,096 drawn tables on 1,024 ranks (128 ZionEX nodes of 8
A100s) without them. Each row is a new process; its memory includes the interpreter and the package.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

SHARDERS = ("greedy", "karmarkar_karp", "planner")
MODEL = """\
bottom = [256, 512, 128]
top = [1024, 1]
interaction = "concatenation"
projection = 1024
local_batch = 512

[generator]
count = {tables}
rows = {{ distribution = "log_normal", mean = 2.08e6, sigma = 2.0, least = 10, most = 4e7 }}
"""


def shard(model: str, sharder: str, ranks: int) -> None:
    """Print one row."""
    from astra_py.config import load_scenario
    from astra_py.hardware import accelerator
    from astra_py.platforms import build_platform
    from astra_py.workloads.dlrm import DlrmJob
    from astra_py.workloads.dlrm.sharders import plan_seconds

    workload = {"kind": "dlrm", "file": model, "sharder": sharder}
    scenario = load_scenario({"platform": {"kind": "zionex", "nodes": ranks // 8}, "workload": workload})
    platform = build_platform(scenario.platform).arrays()
    started = time.perf_counter()
    job = DlrmJob(scenario.require_workload(), ranks, accelerator("A100-40"), platform)
    plan = job.plan
    planned = time.perf_counter()
    plan_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    _ = job.trace
    traced = time.perf_counter()
    trace_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    tables_ms = plan_seconds(plan, platform.rank_machine, job.rates) * 1e3
    figures = f"{planned - started:>8.1f} {plan_mb:>8.0f} {traced - planned:>8.1f} {trace_mb:>8.0f} {tables_ms:>10.1f}"
    print(f"{sharder:16} {len(plan.table):>8,} {figures}", flush=True)


def main() -> None:
    """Print the table."""
    tables, ranks = (int(sys.argv[i]) if len(sys.argv) > i else default for i, default in ((1, 4096), (2, 1024)))
    print(f"{tables:,} tables on {ranks:,} ranks")
    print(f"{'sharder':16} {'shards':>8} {'plan s':>8} {'MB':>8} {'trace s':>8} {'MB':>8} {'tables ms':>10}")
    with TemporaryDirectory() as folder:
        model = Path(folder) / "model.toml"
        model.write_text(MODEL.format(tables=tables))
        for sharder in SHARDERS:
            process = multiprocessing.get_context("spawn").Process(target=shard, args=(str(model), sharder, ranks))
            process.start()
            process.join()


if __name__ == "__main__":
    main()
