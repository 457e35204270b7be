# SPDX-License-Identifier: GPL-2.0-only
"""From a run's record to its result: completed, checked, and only then to be looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from astra_py.results.checks import require_completed, require_passed, run_checks
from astra_py.results.collectives import collectives_table
from astra_py.results.flows import flows_table
from astra_py.results.hosts import host_cores_table, sockets_table, staging_table
from astra_py.results.iterations import iterations_table
from astra_py.results.link_bins import link_bins_table
from astra_py.results.links import links_table
from astra_py.results.messages import messages_table, pairs_table
from astra_py.results.operations import operations_table
from astra_py.results.phases import phases_table
from astra_py.results.plans import plan_ranks_table, plan_table
from astra_py.results.queues import pauses_table, queues_table
from astra_py.results.result import Result

if TYPE_CHECKING:
    from astra_py.results.record import RunRecord

__all__ = ["build_result"]

_BUILDERS = {
    "iterations": iterations_table,
    "collectives": collectives_table,
    "phases": phases_table,
    "operations": operations_table,
    "messages": messages_table,
    "pairs": pairs_table,
    "flows": flows_table,
    "links": links_table,
    "link_bins": link_bins_table,
    "queues": queues_table,
    "pauses": pauses_table,
    "host_cores": host_cores_table,
    "staging": staging_table,
    "sockets": sockets_table,
    "plan": plan_table,
    "plan_ranks": plan_ranks_table,
}


def build_result(record: RunRecord, manifest: Mapping[str, Any]) -> Result:
    """The result of a run, once it has ended as it should and passed every check.

    Parameters
    ----------
    record : the run and its measurements.
    manifest : what was run; ``run``, ``platform`` and ``counters`` are added here.

    Raises
    ------
    DeadlockError, SimulationError : the run did not come to its end.
    CheckError : what happened is not what was declared.
    """
    require_completed(record)
    checks = run_checks(record)
    require_passed(checks)
    arrays = record.arrays
    classes, counts = np.unique(arrays.link_class, return_counts=True)
    whole = {
        **manifest,
        "engine": record.engine,
        "seed": record.seed,
        "platform": {
            "name": record.platform.name,
            "ranks": record.platform.ranks,
            "nodes": len(arrays.node_kind),
            "links": {arrays.class_names[c]: int(n) for c, n in zip(classes, counts, strict=True)},
        },
        "run": {**manifest.get("run", {}), "time_ps": record.end_ps, "messages": len(record.columns.message_src)},
        "counters": {name: int(value) for name, value in record.columns.counters.items()},
    }
    return Result(lambda table: _BUILDERS[table](record), checks, whole)
