# SPDX-License-Identifier: GPL-2.0-only
"""What it costs to build and check the schedules of large groups: CPU seconds and peak memory, each in a new process.

Usage: ``python benchmarks/schedules.py [RANKS]``; 1,024 ranks without it.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time

CASES = [("all_to_all", "direct"), ("all_reduce", "ring"), ("all_reduce", "direct"), ("all_reduce", "halving_doubling")]


def build_and_check(kind: str, algorithm: str, ranks: int) -> None:
    """Print one row; the memory includes the interpreter and numpy."""
    from astra_py.collectives import build_template, check_dataflow

    size_bytes = ranks * 16 * 1024
    started = time.process_time()
    template = build_template(kind, algorithm, ranks, size_bytes)
    built = time.process_time()
    check_dataflow(template, size_bytes)
    checked = time.process_time()
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    figures = f"{len(template):>9,} {built - started:>8.2f} {checked - built:>8.2f} {peak_mb:>8.0f}"
    print(f"{kind:12} {algorithm:18} {figures}", flush=True)


def main() -> None:
    """Print the table."""
    ranks = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
    print(f"{'collective':12} {'algorithm':18} {'messages':>9} {'build s':>8} {'check s':>8} {'peak MB':>8}")
    for kind, algorithm in CASES:
        process = multiprocessing.get_context("spawn").Process(target=build_and_check, args=(kind, algorithm, ranks))
        process.start()
        process.join()


if __name__ == "__main__":
    main()
