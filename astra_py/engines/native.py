# SPDX-License-Identifier: GPL-2.0-only
"""From the extension's plain columns to EngineColumns, and from what waits to sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.schedule import FIRST_SHARED_POOL
from astra_py.engines.base import EngineColumns, ExitReason
from astra_py.engines.stopped import raise_with
from astra_py.engines.watch import WatchLog

if TYPE_CHECKING:
    from astra_py.collectives.schedule import Schedule, Template
    from astra_py.platforms.platform import Platform

__all__ = ["engine_columns"]

#: Lines for what is not told of singly: enough to see which collectives it is about.
_MOST_OTHERS = 20


def engine_columns(raw: Mapping[str, Any], schedule: Schedule, platform: Platform) -> EngineColumns:
    """Make EngineColumns of what ``_ns3_ext`` returned for ``schedule`` on ``platform``.

    Raises
    ------
    BaseException : what was thrown in the run, such as KeyboardInterrupt; see :mod:`astra_py.engines.stopped`.
    """
    fields = dict(raw)
    failure: BaseException | None = fields.pop("failure")
    is_interrupted = isinstance(failure, KeyboardInterrupt)
    fields["exit_reason"] = ExitReason.INTERRUPTED if is_interrupted else ExitReason(fields["exit_reason"])
    stuck = fields.get("deadlocked_channels", ())
    paused = [_paused(channel, platform) for channel in stuck]
    fields["deadlocked_channels"] = _circle(stuck, platform)
    if "log" in fields:
        fields["log"] = WatchLog.of(fields["log"])
    told = fields["waiting"]
    others = _others(np.setdiff1d(np.flatnonzero(fields["op_end_ps"] < 0), [item["op"] for item in told]), schedule)
    lines = (
        _connection(item, platform) if item["what"] == "connection" else _sentence(item, schedule) for item in told
    )
    fields["waiting"] = (*paused, *lines, *others)
    columns = EngineColumns(**fields)
    if failure is not None:
        raise_with(failure, columns)
    return columns


def _ends(channel: int, platform: Platform) -> tuple[int, int]:
    """Nodes that send and receive on a channel."""
    arrays = platform.arrays()
    a, b = int(arrays.link_a[channel // 2]), int(arrays.link_b[channel // 2])
    return (a, b) if channel % 2 == 0 else (b, a)


def _circle(stuck: Sequence[int], platform: Platform) -> tuple[int, ...]:
    """A circle of the channels that are stuck, in its order; others are stuck only because they lead into it.

    What a stuck channel's receiver holds of it waits for stuck channels, so each has one that follows.
    """
    following: dict[int, int] = {}
    for channel in stuck:
        following.setdefault(_ends(channel, platform)[0], channel)
    walk: list[int] = list(stuck[:1])
    while walk:
        channel = following[_ends(walk[-1], platform)[1]]
        if channel in walk:
            return tuple(walk[walk.index(channel) :])
        walk.append(channel)
    return ()


def _paused(channel: int, platform: Platform) -> str:
    """Say that a channel is stuck behind pauses."""
    transmitter, receiver = (platform.arrays().node_names[node] for node in _ends(channel, platform))
    return f"{transmitter} is paused by {receiver}, whose buffer holds only what waits for paused ports"


def _connection(item: Mapping[str, Any], platform: Platform) -> str:
    """Say of a connection that not all of its bytes were read."""
    arrays = platform.arrays()
    src, dst = (
        f"rank {item[end]} ({arrays.node_names[int((arrays.node_rank == item[end]).argmax())]})"
        for end in ("rank", "blocker")
    )
    state = "has bytes that were not read" if item["is_posted"] else "was given up: what it sent was not answered"
    return f"TCP connection {item['inner_op']} from {src} to {dst} {state}"


def _others(ops: NDArray[np.int64], schedule: Schedule) -> list[str]:
    """Say of unfinished operations that the executor's list has no room for whose they are: a line for each name."""
    labels = np.stack([schedule.iteration[ops], schedule.name[ops]])
    each, first, number = np.unique(labels, axis=1, return_index=True, return_inverse=True)
    shown = np.argsort(first)[:_MOST_OTHERS]
    lines = []
    for i in shown.tolist():
        iteration, name = each[:, i].tolist()
        ranks = _spans(np.unique(schedule.rank[ops[number.ravel() == i]]))
        lines.append(f"unfinished, too: {schedule.names[name]} (iteration {iteration}) on {ranks}")
    left = len(ops) - int(np.isin(number, shown).sum())
    return [*lines, f"and {left:,} operations more"] if left else lines


def _spans(ranks: NDArray[np.int32]) -> str:
    """``rank 5``, ``ranks 0-3, 7``: of different ranks in order."""
    parts = np.split(ranks, np.flatnonzero(np.diff(ranks) > 1) + 1)
    spans = ", ".join(f"{part[0]}" if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts)
    return f"rank {spans}" if len(ranks) == 1 else f"ranks {spans}"


def _sentence(item: Mapping[str, Any], schedule: Schedule) -> str:
    """Say what waits for what: one line for one item of the executor's list."""
    who = _operation(item["op"], schedule)
    match item["what"]:
        case "dependency":
            return f"{who} waits for {_operation(item['blocker'], schedule)}"
        case "pool":
            return f"{who} waits for the place that {_operation(item['blocker'], schedule)} holds"
        case "absent":
            name = schedule.names[schedule.name[int((schedule.instance == item["instance"]).argmax())]]
            joined = int((schedule.instance == item["instance"]).sum())
            where = f"collective {name} (instance {item['instance']})" if joined else f"instance {item['instance']}"
            return f"{where} is not complete: rank {item['rank']} is in its group and never joins it"
        case "join":
            return f"{who} waits for rank {item['rank']} to join"
        case "message":
            template = schedule.templates[schedule.instance_template[item["instance"]]]
            group = schedule.group(int(schedule.instance_group[item["instance"]]))
            op = item["inner_op"]
            src, dst = int(group[template.src[op]]), int(group[template.dst[op]])
            state = "not posted yet"
            if item["is_posted"]:
                state = "delivered, its acknowledgement on the way" if item["is_delivered"] else "on its way"
            if item["pool"] != -1:
                state = f"held up by {_pool(item['pool'], template, src)}"
            return (
                f"{who} waits for message {op} from rank {src} to rank {dst} "
                f"({int(template.size_bytes[op])} B, phase {int(template.phase[op])}), {state}"
            )
        case "local":
            template = schedule.templates[schedule.instance_template[item["instance"]]]
            state = "under way" if item["is_posted"] else "not started yet"
            if item["pool"] != -1:
                state = f"held up by {_pool(item['pool'], template, item['rank'])}"
            return f"{who} waits for local operation {item['inner_op']} of rank {item['rank']}, {state}"
        case _:
            return f"{who} is under way"


def _pool(pool: int, template: Template, rank: int) -> str:
    """The pool that an operation of ``rank`` waits for."""
    if pool <= FIRST_SHARED_POOL:
        return f"pool {template.shared_pools[FIRST_SHARED_POOL - pool]!r} of rank {rank}, of which all is taken"
    return f"pool {pool} of its collective, of which all is taken"


def _operation(op: int, schedule: Schedule) -> str:
    name = schedule.names[schedule.name[op]]
    return f"{name} (operation {op}, iteration {int(schedule.iteration[op])}) on rank {int(schedule.rank[op])}"
