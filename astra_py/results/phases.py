# SPDX-License-Identifier: GPL-2.0-only
"""The table of phases: what each collective did inside machines and between them, phase by phase."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from astra_py.results.columns import Columns, us

if TYPE_CHECKING:
    from astra_py.results.record import RunRecord

__all__ = ["LEVELS", "phases_table"]

#: Where a message goes: to a rank of the sender's machine, or to one of another machine.
LEVELS = ("inside", "between")


def phases_table(record: RunRecord) -> Columns:
    """Columns of the table ``phases``, one row a collective, phase and level with messages, in this order."""
    schedule, columns = record.schedule, record.columns
    calls = [record.trace.calls[i] for i in schedule.instance_call]
    most_phases = max((len(template.phase_names) for template in schedule.templates), default=1)
    phase = record.of_message([template.phase for template in schedule.templates]).astype(np.int64)
    machine = record.arrays.rank_machine
    is_between = machine[columns.message_src] != machine[columns.message_dst]
    place = (columns.message_instance.astype(np.int64) * most_phases + phase) * len(LEVELS) + is_between
    key, row, messages = np.unique(place, return_inverse=True, return_counts=True)
    instance, phase, level = key // len(LEVELS) // most_phases, key // len(LEVELS) % most_phases, key % len(LEVELS)
    size = np.zeros(len(key), dtype=np.int64)
    start, end = np.full(len(key), np.iinfo(np.int64).max), np.zeros(len(key), dtype=np.int64)
    np.add.at(size, row, columns.message_size_bytes)
    np.minimum.at(start, row, columns.message_posted_ps)
    np.maximum.at(end, row, columns.message_delivered_ps)
    ranks = np.array([len(call.group) for call in calls], dtype=np.int64)[instance]
    most, least = _bytes_per_rank(record, row, ranks)
    names = [schedule.templates[i].phase_names for i in schedule.instance_template]
    return {
        "collective": instance,
        "name": _text([calls[i].name for i in instance]),
        "kind": _text([calls[i].kind for i in instance]),
        "iteration": np.array([call.iteration for call in calls], dtype=np.int64)[instance],
        "phase": _text([names[i][p] for i, p in zip(instance.tolist(), phase.tolist(), strict=True)]),
        "level": _text([LEVELS[i] for i in level]),
        "ranks": ranks,
        "messages": messages,
        "size_bytes": size,
        "bytes_per_rank_max": most,
        "bytes_per_rank_min": least,
        "start_us": us(start),
        "end_us": us(end),
        "time_us": us(end - start),
        "start_ps": start,
        "end_ps": end,
        "time_ps": end - start,
    }


def _bytes_per_rank(
    record: RunRecord, row: NDArray[np.int64], ranks: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Most and least payload that a rank of the group sends in each row; ``row`` is that of each message."""
    columns, job = record.columns, record.schedule.ranks
    sender, message_sender = np.unique(row * job + columns.message_src, return_inverse=True)
    sent = np.zeros(len(sender), dtype=np.int64)
    np.add.at(sent, message_sender, columns.message_size_bytes)
    most, least = np.zeros(len(ranks), dtype=np.int64), np.full(len(ranks), np.iinfo(np.int64).max)
    np.maximum.at(most, sender // job, sent)
    np.minimum.at(least, sender // job, sent)
    # a rank without a message sends nothing
    senders = np.bincount(sender // job, minlength=len(ranks))
    return most, np.where(senders < ranks, 0, least)


def _text(values: list[Any]) -> NDArray[np.object_]:
    return np.array(values, dtype=np.object_)
