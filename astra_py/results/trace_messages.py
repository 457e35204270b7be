# SPDX-License-Identifier: GPL-2.0-only
"""Messages of a timeline: at the NIC that sends, at the NIC that receives, the arrow between them, and what waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.results.trace_events import Tracks, arrow, counter_text, slice_text
from astra_py.results.trace_lanes import lanes
from astra_py.results.trace_limits import Limits, Section, longest, said

if TYPE_CHECKING:
    from astra_py.results.columns import Columns
    from astra_py.results.result import Result

__all__ = ["TO_SEND", "messages_section", "queues_section"]

#: The counter of a rank: bytes of messages that are posted and have not wholly left.
TO_SEND = "NIC to send"


def messages_section(result: Result, tracks: Tracks, pid_of_rank: Callable[[int], int], limits: Limits) -> Section:
    """The slices of messages, at the sender and at the receiver, each with its arrow where it has one.

    At the sender a message is there from its posting to its last byte's leaving, at the receiver from that moment to
    its last byte's arrival. Drawn are those that take longest to be delivered: they are wide enough to be seen, and
    what comes after waits for them. A message that was not delivered, of a run that was stopped, takes until the end.
    """
    table = result.columns("messages")
    end = int(result.manifest["run"]["time_ps"])
    time = np.where(table["delivered_ps"] < 0, end, table["delivered_ps"]) - table["posted_ps"]
    rows = longest(time, limits.messages)
    arrows = np.isin(rows, longest(time, limits.arrows))

    def events() -> Iterator[str]:
        posted, sent, delivered = (table[f"{moment}_ps"][rows] for moment in ("posted", "sent", "delivered"))
        src, dst, collective = (table[name][rows] for name in ("src", "dst", "collective"))
        is_sent, is_delivered = sent >= 0, delivered >= 0
        left = np.where(is_sent, sent, end)
        sending = _tids(tracks, pid_of_rank, "NIC sends", src, posted, left, np.ones(len(rows), dtype=np.bool_))
        receiving = _tids(tracks, pid_of_rank, "NIC receives", dst, left, delivered, is_delivered)
        calls = result.columns("collectives")
        names = dict(zip(calls["collective"].tolist(), calls["name"].tolist(), strict=True))
        for i, row in enumerate(rows.tolist()):
            args = {
                "message": int(table["message"][row]),
                "src": int(src[i]),
                "dst": int(dst[i]),
                "bytes": int(table["size_bytes"][row]),
                "collective": int(collective[i]),
            }
            name = names.get(args["collective"], "message")
            pids = pid_of_rank(args["src"]), pid_of_rank(args["dst"])
            tids = int(sending[i]), int(receiving[i])
            more = {"phase": int(table["phase"][row]), "chunk": int(table["chunk"][row])}
            more |= {} if is_sent[i] else {"unfinished": True}
            yield slice_text(pids[0], tids[0], int(posted[i]), int(left[i]), name, args | more)
            if not is_delivered[i]:
                continue
            yield slice_text(pids[1], tids[1], int(left[i]), int(delivered[i]), name, args)
            if arrows[i]:
                yield from arrow(pids, tids, (int(posted[i]), int(left[i])), args["message"])

    left_out = (
        *said("messages", limits.messages, len(time), "that take longest to be delivered are drawn"),
        *said("arrows", limits.arrows, len(time), "messages that take longest have one"),
    )
    return Section(left_out, events)


def queues_section(result: Result, pid_of_rank: Callable[[int], int], limits: Limits) -> Section:
    """A counter a rank of what its NIC has to send, to the byte; none where not all messages are known."""
    if "messages" in result.cut:
        line = f"counters {TO_SEND!r}: they would need all messages, and the results have {result.cut['messages']}"
        return Section((line,), lambda: iter(()))
    table = result.columns("messages")
    steps = {int(rank): _steps(table, np.flatnonzero(table["src"] == rank)) for rank in np.unique(table["src"])}
    order = np.argsort(-np.bincount(table["src"], weights=table["size_bytes"]), kind="stable").tolist()
    order = [rank for rank in order if rank in steps]
    fit = np.cumsum([len(steps[rank][0]) for rank in order]) <= limits.queue_values
    shown = sorted(order[: max(int(fit.sum()), 1)])

    def events() -> Iterator[str]:
        for rank in shown:
            for moment, value in zip(*(column.tolist() for column in steps[rank]), strict=True):
                yield counter_text(pid_of_rank(rank), moment, TO_SEND, "B", value)

    how = "ranks that send the most have one"
    return Section(said(f"counters {TO_SEND!r}", len(shown), len(order), how) if order else (), events)


def _steps(table: Columns, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """When what is to be sent changes, and what it is from then on; from the begin of the run on."""
    size, sent = table["size_bytes"][rows], table["sent_ps"][rows]
    left = sent >= 0
    moment = np.concatenate([[0], table["posted_ps"][rows], sent[left]])
    change = np.concatenate([[0], size, -size[left]])
    moments, at = np.unique(moment, return_inverse=True)
    value = np.cumsum(np.bincount(at, weights=change)).astype(np.int64)
    is_new = np.append(True, value[1:] != value[:-1])
    return moments[is_new], value[is_new]


def _tids(
    tracks: Tracks,
    pid_of_rank: Callable[[int], int],
    title: str,
    rank: NDArray[np.int64],
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    is_there: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """The track of each message, in lanes of its rank; 0 where it has none."""
    found = np.zeros(len(rank), dtype=np.int64)
    there = np.flatnonzero(is_there)
    order = there[np.argsort(rank[there], kind="stable")]
    for mine in np.split(order, np.flatnonzero(np.diff(rank[order])) + 1):
        if not len(mine):
            continue
        pid = pid_of_rank(int(rank[mine[0]]))
        lane = lanes(start[mine], end[mine])
        tid = np.array([tracks.track(pid, title, each) for each in range(int(lane.max()) + 1)])
        found[mine] = tid[lane]
    return found
