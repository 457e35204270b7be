# SPDX-License-Identifier: GPL-2.0-only
"""Times of nodes that a file gives operations and bytes of in place of a time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from astra_py.errors import WorkloadError
from astra_py.formats.rank_graph import RankGraph
from astra_py.hardware import accelerator
from astra_py.workloads.calls import MAX_INT64
from astra_py.workloads.dlrm.roofline import Roofline

if TYPE_CHECKING:
    from astra_py.config import Scenario

__all__ = ["rated"]


def rated(graph: RankGraph, costs: Iterable[tuple[int, int, int, str]], scenario: Scenario) -> RankGraph:
    """Give nodes the times that the scenario's accelerator takes for them, by its roofline.

    Parameters
    ----------
    graph : the nodes.
    costs : row, operations, bytes of memory, and type of the operations' numbers, of each such node.
    scenario : ``platform.accelerator``, ``workload.flops_efficiency`` and ``workload.memory_efficiency``.

    Raises
    ------
    ConfigError : the accelerator has no peak for a type.
    WorkloadError : a node takes more than 64 bits of picoseconds.
    """
    config = scenario.require_workload()
    roofline = Roofline(
        accelerator=accelerator(scenario.platform.accelerator),
        flops_efficiency=config.flops_efficiency,
        memory_efficiency=config.memory_efficiency,
    )
    duration_ps = graph.duration_ps.copy()
    times: dict[tuple[int, int, str], int] = {}
    for row, operations, size_bytes, dtype in costs:
        if (time := times.get((operations, size_bytes, dtype))) is None:
            time = times[operations, size_bytes, dtype] = roofline.time_ps(operations, size_bytes, dtype)
        if time > MAX_INT64:
            raise WorkloadError(
                f"{graph.where(row)}: {operations} operations and {size_bytes} B take more than 2^63 ps"
            )
        duration_ps[row] = time
    return replace(graph, duration_ps=duration_ps)
