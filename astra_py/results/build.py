# SPDX-License-Identifier: GPL-2.0-only
"""From a run's record to its result: completed, checked, and only then to be looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from astra_py.engines.base import ExitReason
from astra_py.errors import SimulationError
from astra_py.results.checks import require_completed, require_passed, run_checks
from astra_py.results.collectives import collectives_table
from astra_py.results.columns import Columns
from astra_py.results.controls import congestion_table
from astra_py.results.flow_sizes import flow_sizes_table
from astra_py.results.flows import flows_table
from astra_py.results.hosts import host_cores_table, sockets_table, staging_table
from astra_py.results.iterations import iterations_table
from astra_py.results.link_bins import link_bins_table
from astra_py.results.links import links_table
from astra_py.results.messages import messages_table, pairs_table
from astra_py.results.operations import operations_table
from astra_py.results.partial import how_it_ended, only_what_ended, partial_checks, rows_of_what_happened
from astra_py.results.phases import phases_table
from astra_py.results.plans import plan_ranks_table, plan_table
from astra_py.results.queues import pauses_table, queues_table
from astra_py.results.result import Result
from astra_py.results.volume import Volume

if TYPE_CHECKING:
    from astra_py.results.record import RunRecord

__all__ = ["build_result", "partial_result"]

_BUILDERS = {
    "iterations": iterations_table,
    "collectives": collectives_table,
    "phases": phases_table,
    "operations": operations_table,
    "messages": messages_table,
    "pairs": pairs_table,
    "flows": flows_table,
    "flow_sizes": flow_sizes_table,
    "links": links_table,
    "link_bins": link_bins_table,
    "queues": queues_table,
    "pauses": pauses_table,
    "congestion": congestion_table,
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
    KeyboardInterrupt : the user has not waited for the checks.
        The error's ``partial`` is the result of :func:`partial_result`.
    """
    try:
        require_completed(record)
        checks = run_checks(record)
        require_passed(checks)
        ended = {"exit_reason": str(ExitReason.COMPLETED), "time_ps": record.end_ps}
        about, volume = _manifest(record, manifest, ended), _volume(record)
        return Result(lambda table: _BUILDERS[table](record), checks, about, volume, lambda: record.platform)
    except (SimulationError, KeyboardInterrupt) as error:
        error.partial = partial_result(record, manifest, error)  # type: ignore[union-attr]  # of a KeyboardInterrupt
        raise


def partial_result(record: RunRecord, manifest: Mapping[str, Any], error: BaseException) -> Result:
    """What a run leaves that was stopped: tables of what has happened, and checks that hold for a part.

    Parameters
    ----------
    record, manifest : as :func:`build_result` takes them.
    error : what the run was stopped by.
    """
    ended = only_what_ended(record)

    def load(table: str) -> Columns:
        rows = _BUILDERS[table](record if table in ("messages", "operations") else ended)
        return rows_of_what_happened(record, table, rows)

    about = _manifest(record, manifest, how_it_ended(record, error))
    return Result(load, partial_checks(record), about, _volume(record), lambda: record.platform)


def _volume(record: RunRecord) -> Volume:
    columns, schedule = record.columns, record.schedule
    messages = len(columns.message_src)
    bounds = {
        "operations": len(schedule),
        "messages": messages,
        "pairs": messages,
        "flows": messages,
        "link_bins": len(columns.bin_line_bytes),
        "pauses": len(columns.pause_start_ps),
    }
    last = int(schedule.rank[np.argmax(columns.op_end_ps)]) if len(schedule) else -1
    return Volume(record.max_rows, bounds, last)


def _manifest(record: RunRecord, manifest: Mapping[str, Any], ended: Mapping[str, Any]) -> dict[str, Any]:
    arrays, columns = record.arrays, record.columns
    classes, counts = np.unique(arrays.link_class, return_counts=True)
    done = int((columns.op_end_ps >= 0).sum())
    return {
        **manifest,
        "engine": record.engine,
        "seed": record.seed,
        "platform": {
            "name": record.platform.name,
            "ranks": record.platform.ranks,
            "nodes": len(arrays.node_kind),
            "links": {arrays.class_names[c]: int(n) for c, n in zip(classes, counts, strict=True)},
        },
        "run": {
            **manifest.get("run", {}),
            **ended,
            "messages": len(columns.message_src),
            "operations": len(columns.op_end_ps),
            "operations_done": done,
        },
        "counters": {name: int(value) for name, value in columns.counters.items()},
    }
