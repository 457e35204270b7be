# SPDX-License-Identifier: GPL-2.0-only
"""Beside a log of nccl-tests: a simulated all-reduce at the log's sizes, as it comes and with one figure fitted.

The log is of eight A100 in one node; ``nccl_tests_log.py LOG`` takes another one of such a node. The fit needs scipy
(``pip install 'astra-py[fit]'``).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import astra_py as ap
from astra_py.analysis.calibrate import Calibration, calibrate
from astra_py.analysis.comparison import Comparison
from astra_py.formats import read

LOG = Path(__file__).parent / "all_reduce_a100_8.log"
#: A DGX A100 as its data sheets have it, and NCCL's algorithm for large buffers.
NODE: dict[str, Any] = {"platform": {"kind": "dgx_a100", "nodes": 1}, "collective": {"all_reduce": "ring"}}


def main(log: Path = LOG) -> tuple[Comparison, Calibration]:
    """Compare, fit to every second size, and return both; the others say how well the fit predicts."""
    document = read(log)
    print(*document.summary, sep="\n", end="\n\n")
    sizes = document.content["size_bytes"].tolist()
    both = ap.compare(
        NODE, collective="all_reduce", sizes=sizes, engines=["analytic", "flow"], reference=document.content
    )
    table = both.table[both.table["level"] == "collective"]
    print(table.to_string(index=False), end="\n\n")

    fit = calibrate(NODE, document.content, "all_reduce", "engine=analytic", keys=["platform.scale_up.efficiency"])
    columns = ["size_bytes", "measured_us", "simulated_us", "error_percent", "is_fitted"]
    print(fit.points[columns].to_string(index=False))
    print("to use it:", *fit.overrides)
    return both, fit


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
