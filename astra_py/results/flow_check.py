# SPDX-License-Identifier: GPL-2.0-only
"""Checks of what collectives do, beyond their bytes: templates as promised, messages between the ranks meant."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from astra_py.collectives.dataflow import check_dataflow
from astra_py.errors import CheckError
from astra_py.results.check import Check

if TYPE_CHECKING:
    from astra_py.results.record import RunRecord

__all__ = ["check_data_flow", "check_message_ends"]

#: Operations of all templates that are followed: a ring of 64 ranks has 8,064 and takes 0.1 s.
_MOST_OPERATIONS = 16_000


def check_data_flow(record: RunRecord) -> Check:
    """Each distinct template brings every rank what its collective promises, whatever the messages' timing.

    The smallest are followed first, up to 16,000 operations together; what is not followed is not counted.
    """
    trace, schedule = record.trace, record.schedule
    call_of = dict(zip(schedule.instance_template.tolist(), schedule.instance_call.tolist(), strict=True))
    by_size = sorted((len(schedule.templates[number]), number) for number in call_of)
    total = accumulate(size for size, _ in by_size)
    followed = [
        number for (size, number), most in zip(by_size, total, strict=True) if size and most <= _MOST_OPERATIONS
    ]
    wrong: list[str] = []
    for number in followed:
        try:
            check_dataflow(schedule.templates[number], trace.calls[call_of[number]].payload)
        except CheckError as error:
            wrong.append(str(error))
    return Check(
        "data_flow",
        "collectives that bring every rank what they promise",
        len(followed),
        len(followed) - len(wrong),
        not wrong,
        wrong[0] if wrong else "",
    )


def check_message_ends(record: RunRecord) -> Check:
    """Each message goes between the ranks that stand, in the group of its call, where the template has its ends."""
    calls, schedule, columns = record.trace.calls, record.schedule, record.columns
    first = np.cumsum([0, *(len(call.group) for call in calls)])
    ranks = np.array([rank for call in calls for rank in call.group], dtype=np.int64)
    start = first[schedule.instance_call[columns.message_instance]]
    src, dst = (
        ranks[start + record.of_message([getattr(template, end) for template in schedule.templates])]
        for end in ("src", "dst")
    )
    wrong = np.flatnonzero((columns.message_src != src) | (columns.message_dst != dst))
    where = ""
    if len(wrong):
        i = int(wrong[0])
        where = f"{len(wrong):,} are not; first: message {i}, rank {columns.message_src[i]} to {columns.message_dst[i]}"
        where += f" and not {src[i]} to {dst[i]}"
    return Check(
        "message_ends",
        "messages between the ranks of their call's group",
        len(src),
        len(src) - len(wrong),
        not len(wrong),
        where,
    )
