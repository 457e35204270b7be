# SPDX-License-Identifier: GPL-2.0-only
"""A training job of four ranks that runs in a moment, for the tests of the API and of the command ``run``."""

from __future__ import annotations

from pathlib import Path

#: Compute a rank and iteration, in us: forward 9, input gradient 11, weight gradient 5.
COMPUTE_US = 25.0
LAYERS = """\
HYBRID_DLRM 1
3
Embedding -1 1000 ALLTOALL 8000 1000 ALLTOALL 8000 0 NONE 0 10
Bottom -1 3000 NONE 0 4000 NONE 0 2000 ALLREDUCE 4003 5
Top -1 5000 NONE 0 6000 NONE 0 3000 ALLREDUCE 120000 7
"""
SCENARIO = """\
[platform]
kind = "leaf_spine"
ranks = 4
ranks_per_leaf = 2

[workload]
file = "job.txt"
"""


def write_job(folder: Path, layers: str = LAYERS) -> Path:
    """Write workload and scenario into ``folder``; gives the scenario's path."""
    (folder / "job.txt").write_text(layers)
    scenario = folder / "job.toml"
    scenario.write_text(SCENARIO)
    return scenario
