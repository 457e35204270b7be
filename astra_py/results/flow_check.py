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

#: Operations of all templates that are followed: on 64 ranks, a direct all-to-all's 4,032 and a ring all-reduce's 8,064
#: and 4,032 reductions; 0.15 s together on one core of a 2-core x86-64 virtual machine, 2026.
_MOST_OPERATIONS = 16_128
#: What the flow of blocks depends on: everything but sizes, durations and pools.
_SHAPE = ("kind", "src", "dst", "dep_ptr", "dep_op", "dep_on", "block_ptr", "block", "combine")


def check_data_flow(record: RunRecord) -> Check:
    """Each distinct template brings every rank what its collective promises, whatever the messages' timing.

    Up to 16,128 operations are followed: of templates that differ in sizes only the largest payload's come first, and
    of these the shortest. What is not followed is not counted.
    """
    trace, schedule = record.trace, record.schedule
    call_of = dict(zip(schedule.instance_template.tolist(), schedule.instance_call.tolist(), strict=True))
    payload = {number: trace.calls[call].payload for number, call in call_of.items()}
    seen: set[tuple[object, ...]] = set()
    queue: list[tuple[bool, int, int]] = []
    size = {number: trace.calls[call].buffer_bytes for number, call in call_of.items()}
    for number in sorted(call_of, key=lambda number: -size[number]):
        template = schedule.templates[number]
        if len(template):
            shape = (template.collective, template.ranks, *(getattr(template, name).tobytes() for name in _SHAPE))
            queue.append((shape in seen, len(template), number))
            seen.add(shape)
    queue.sort()
    total = accumulate(length for _, length, _ in queue)
    followed = [number for (_, _, number), most in zip(queue, total, strict=True) if most <= _MOST_OPERATIONS]
    wrong: list[str] = []
    for number in followed:
        try:
            check_dataflow(schedule.templates[number], payload[number])
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
