# SPDX-License-Identifier: GPL-2.0-only
"""A sweep: congestion controls at two rates, three seeds each, every point in a process of its own.

``sweep.py [FOLDER]`` keeps the sweep in FOLDER; called again it runs nothing twice, and goes on where it was stopped.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pandas as pd

import astra_py as ap
from astra_py.batch import Limits

SCENARIO = Path(__file__).parents[1] / "workloads" / "incast_64.toml"
DESIGN = {
    "platform.link_rate": ["100Gbps", "400Gbps"],
    "transport.congestion_control": ["dcqcn", "hpcc"],
    "seed": range(3),
}


def main(folder: Path) -> pd.DataFrame:
    """Run what ``folder`` has not yet, and return the spread over seeds."""
    sweep = ap.run_sweep(SCENARIO, DESIGN, out=folder, limits=Limits(time_s=300, retries=1))
    print(sweep.report())
    return sweep.spread()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as name:
            main(Path(name) / "incast")
