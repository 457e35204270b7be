# SPDX-License-Identifier: GPL-2.0-only
"""What a scenario takes from files through the formats: ``workload.kind = "file"``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astra_py.formats.registry import Kind, Options, read
from astra_py.workloads.registry import Job, workload

if TYPE_CHECKING:
    from astra_py.config import Scenario

__all__ = ["workload_file"]


@workload("file")
def workload_file(scenario: Scenario, ranks: int) -> Job:
    """Make ``workload.kind = "file"``: the job of a file of ``workload.format``."""
    config = scenario.require_workload()
    format = None if config.format == "auto" else config.format
    document = read(config.path, format, kinds=(Kind.WORKLOAD,), options=Options(ranks=ranks))
    job: Job = document.content(scenario, ranks)
    scales = [("compute times", config.compute_scale), ("collective sizes", config.comm_scale)]
    scaled = [f"{what} are scaled by {scale:g}" for what, scale in scales if scale != 1]
    return Job(job.trace, (*job.notes, *scaled))
