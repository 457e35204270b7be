# SPDX-License-Identifier: GPL-2.0-only
"""What a run that was stopped leaves: the tables of what has happened, and checks that hold for a part."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.schedule import OuterKind
from astra_py.engines.base import ExitReason
from astra_py.results.check import Check, compare
from astra_py.results.columns import Columns
from astra_py.results.flow_check import check_message_ends

if TYPE_CHECKING:
    from astra_py.results.record import RunRecord

__all__ = ["how_it_ended", "only_what_ended", "partial_checks", "rows_of_what_happened"]


def only_what_ended(record: RunRecord) -> RunRecord:
    """The record with those messages alone that were delivered, and every operation cut at the moment of the stop.

    Tables are made of it, but those of messages and operations, which have empty fields where a moment never came.
    """
    columns = record.columns
    is_done = (columns.message_sent_ps >= 0) & (columns.message_delivered_ps >= 0)
    messages = {
        each.name: column[is_done]
        for each in fields(columns)
        if each.name.startswith("message_") and len(column := getattr(columns, each.name)) == len(is_done)
    }
    start, end = (np.where(each < 0, columns.end_ps, each) for each in (columns.op_start_ps, columns.op_end_ps))
    return replace(record, columns=replace(columns, **messages, op_start_ps=start, op_end_ps=end))


def rows_of_what_happened(record: RunRecord, table: str, rows: Columns) -> Columns:
    """The rows of what has happened: operations that began, and iterations, collectives and phases that ended.

    Parameters
    ----------
    record : the run as it was stopped.
    table, rows : the table's name and its columns.
    """
    match table:
        case "operations":
            kept = record.columns.op_start_ps >= 0
        case "iterations":
            kept = _iterations_that_ended(record, rows)
        case "collectives" | "phases":
            unfinished = (record.schedule.kind == OuterKind.COLLECTIVE) & (record.columns.op_end_ps < 0)
            kept = ~np.isin(rows["collective"], record.schedule.instance[unfinished])
        case _:
            return rows
    return {name: column[kept] for name, column in rows.items()}


def _iterations_that_ended(record: RunRecord, rows: Columns) -> NDArray[np.bool_]:
    """Of each row of ``iterations``, whether all of it and of those before it has ended on every rank of its job."""
    schedule, trace = record.schedule, record.trace
    job = record.job_names[trace.job] if trace.jobs else np.full(len(schedule), "", dtype=object)
    kept = np.ones(len(rows["iteration"]), dtype=np.bool_)
    unfinished = record.columns.op_end_ps < 0
    for name in np.unique(job[unfinished]).tolist():
        first = schedule.iteration[unfinished & (job == name)].min()
        kept &= (rows["job"] != name) | (rows["iteration"] < first)
    return kept


def partial_checks(record: RunRecord) -> tuple[Check, ...]:
    """Checks of a run that was stopped: of what there is, nothing may be more, or elsewhere, than declared."""
    columns = record.columns
    row = record.first_row[columns.message_instance] + columns.message_op
    posted = np.bincount(row, minlength=int(record.first_row[-1])).astype(np.int64)
    size = record.declared_message_bytes
    delivered = columns.message_delivered_ps >= 0
    return (
        compare(
            "messages",
            "messages posted at most once each",
            np.minimum(posted, 1),
            posted,
            lambda i: f"operation {i} of all collectives",
        ),
        compare(
            "message_bytes",
            "payload of each delivered message",
            np.where(delivered, size, 0),
            np.where(delivered, columns.message_delivered_bytes, 0),
            lambda i: f"message {i}",
        ),
        check_message_ends(record),
    )


def how_it_ended(record: RunRecord, error: BaseException) -> dict[str, str | int]:
    """What the manifest says of a stop: the reason in a word and in a line, and how far the run came."""
    columns = record.columns
    reason = columns.exit_reason
    if reason == ExitReason.COMPLETED:
        reason = ExitReason.INTERRUPTED if isinstance(error, KeyboardInterrupt) else ExitReason.CHECK
    unnamed = "the user stopped it" if isinstance(error, KeyboardInterrupt) else type(error).__name__
    return {
        "exit_reason": str(reason),
        "exit_message": str(error).splitlines()[0] if str(error) else unnamed,
        "time_ps": int(columns.end_ps),
    }
