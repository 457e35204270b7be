# SPDX-License-Identifier: GPL-2.0-only
"""Sweeps: one scenario at many points, each run in a process of its own, resumable (``docs/sweeps.md``)."""

from astra_py.batch.designs import Design, Grid, PointList
from astra_py.batch.driver import SweepProgress
from astra_py.batch.executor import Executor, Started
from astra_py.batch.latin_hypercube import LatinHypercube, Range
from astra_py.batch.limits import Limits
from astra_py.batch.outcome import Outcome, Status
from astra_py.batch.point import Point
from astra_py.batch.shard import Shard
from astra_py.batch.study import Study
from astra_py.batch.sweep import Sweep, read_sweep, run_study, run_sweep
from astra_py.batch.sweep_file import read_study

__all__ = [
    "Design",
    "Executor",
    "Grid",
    "LatinHypercube",
    "Limits",
    "Outcome",
    "Point",
    "PointList",
    "Range",
    "Shard",
    "Started",
    "Status",
    "Study",
    "Sweep",
    "SweepProgress",
    "read_study",
    "read_sweep",
    "run_study",
    "run_sweep",
]
