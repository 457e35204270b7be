# SPDX-License-Identifier: GPL-2.0-only
"""The table of operations: what each rank did, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from astra_py.collectives.schedule import OuterKind
from astra_py.results.columns import Columns, us

if TYPE_CHECKING:
    from astra_py.results.record import RunRecord

__all__ = ["operations_table"]


def operations_table(record: RunRecord) -> Columns:
    """Columns of the table ``operations``, one row an operation of the schedule, in its order."""
    schedule, columns = record.schedule, record.columns
    kinds = np.array([kind.name.lower() for kind in OuterKind], dtype=object)
    return {
        "operation": np.arange(len(schedule)),
        "name": np.array(schedule.names, dtype=object)[schedule.name],
        "job": record.job_names[record.trace.job if record.trace.jobs else np.full(len(schedule), -1)],
        "kind": kinds[schedule.kind],
        "rank": schedule.rank,
        "iteration": schedule.iteration,
        "stream": np.array([*record.trace.streams, ""], dtype=object)[record.trace.stream],
        "phase": np.array(schedule.phases, dtype=object)[schedule.phase],
        "collective": schedule.instance,
        "start_us": us(columns.op_start_ps),
        "end_us": us(columns.op_end_ps),
        "start_ps": columns.op_start_ps,
        "end_ps": columns.op_end_ps,
    }
