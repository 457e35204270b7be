# SPDX-License-Identifier: GPL-2.0-only
"""The built-in workloads: a workload file, and a DLRM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astra_py.hardware import accelerator
from astra_py.platforms import build_platform
from astra_py.workloads.astra_text import read_astra_text
from astra_py.workloads.dlrm import DlrmJob
from astra_py.workloads.registry import Job, workload
from astra_py.workloads.training_loop import training_trace

if TYPE_CHECKING:
    from astra_py.config import Scenario

__all__ = ["dlrm", "file"]


@workload("file")
def file(scenario: Scenario, ranks: int) -> Job:
    """Read ``workload.kind = "file"``: layers of a training loop, in ASTRA-sim 1.0's text."""
    config = scenario.require_workload()
    model = read_astra_text(config.path)
    trace = training_trace(
        model,
        ranks=ranks,
        iterations=config.iterations,
        compute_unit_ps=config.compute_unit,
        compute_scale=config.compute_scale,
        comm_scale=config.comm_scale,
    )
    scales = [("compute times", config.compute_scale), ("collective sizes", config.comm_scale)]
    scaled = [f"{what} are scaled by {scale:g}" for what, scale in scales if scale != 1]
    return Job(trace, (*model.account(config.compute_unit), *scaled))


@workload("dlrm")
def dlrm(scenario: Scenario, ranks: int) -> Job:
    """Make ``workload.kind = "dlrm"``: a model's description, sharded over the ranks."""
    platform = build_platform(scenario.platform).arrays()
    job = DlrmJob(scenario.require_workload(), ranks, accelerator(scenario.platform.accelerator), platform)
    return Job(job.trace, job.notes)
