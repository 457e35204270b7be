# SPDX-License-Identifier: GPL-2.0-only
"""The built-in workload that no file of the field describes: a DLRM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astra_py.hardware import accelerator
from astra_py.platforms import build_platform
from astra_py.workloads.dlrm import DlrmJob
from astra_py.workloads.dlrm.torchrec_estimate import estimate_plan, planner_trace
from astra_py.workloads.registry import Job, workload

if TYPE_CHECKING:
    from astra_py.config import Scenario

__all__ = ["dlrm"]


@workload("dlrm")
def dlrm(scenario: Scenario, ranks: int) -> Job:
    """Make ``workload.kind = "dlrm"``: a model's description, sharded over the ranks."""
    platform = build_platform(scenario.platform).arrays()
    workload, place = scenario.require_workload(), scenario.job_ranks(ranks)
    job = DlrmJob(workload, ranks, accelerator(scenario.platform.accelerator), platform, place)
    if scenario.analytic.mode == "torchrec":
        estimate = estimate_plan(job.plan, job.memory.machines)
        return Job(planner_trace(estimate, job.config.iterations), (*job.notes, estimate.note), tables=job.tables)
    return Job(job.trace, job.notes, tables=job.tables)
