# SPDX-License-Identifier: GPL-2.0-only
"""Messages of a timeline: at the NIC that sends, at the NIC that receives, and the arrow between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.results.trace_events import Tracks, arrow, slice_text
from astra_py.results.trace_lanes import lanes

if TYPE_CHECKING:
    from astra_py.results.result import Result

__all__ = ["MOST_ARROWS", "MOST_MESSAGES", "message_events", "shown_messages"]

#: Messages that are drawn, and those of them that have arrows: at some 370 B a message and 200 B an arrow, 28 MB.
MOST_MESSAGES = 60_000
MOST_ARROWS = 30_000


def shown_messages(result: Result, most: int) -> NDArray[np.int64]:
    """The rows of the messages that are drawn, in order: at most ``most``, those that take longest to be delivered.

    Those are the ones that are wide enough to be seen, and that what comes after them waits for. Of equals the first
    ones are taken. A message that was not delivered, of a run that was stopped, takes until the end.
    """
    table = result.columns("messages")
    delivered = table["delivered_ps"]
    time = np.where(delivered < 0, result.manifest["run"]["time_ps"], delivered) - table["posted_ps"]
    return np.sort(np.argsort(-time, kind="stable")[:most])


def message_events(result: Result, tracks: Tracks, pid_of_rank: Callable[[int], int]) -> Iterator[str]:
    """The slices of messages, at the sender and at the receiver, each with its arrow where it has one.

    At the sender a message is there from its posting to its last byte's leaving, at the receiver from that moment to
    its last byte's arrival.

    Parameters
    ----------
    result : of a run.
    tracks : where tracks are named.
    pid_of_rank : gives the process of a rank.
    """
    table = result.columns("messages")
    rows = shown_messages(result, MOST_MESSAGES)
    has_arrow = np.isin(rows, shown_messages(result, MOST_ARROWS))
    end = int(result.manifest["run"]["time_ps"])
    posted, sent, delivered = (table[f"{moment}_ps"][rows] for moment in ("posted", "sent", "delivered"))
    src, dst, collective = (table[name][rows] for name in ("src", "dst", "collective"))
    is_sent, is_delivered = sent >= 0, delivered >= 0
    left = np.where(is_sent, sent, end)
    sending = _tids(tracks, pid_of_rank, "sends", src, posted, left, np.ones(len(rows), dtype=np.bool_))
    receiving = _tids(tracks, pid_of_rank, "receives", dst, left, delivered, is_delivered)
    names = dict(zip(*(result.columns("collectives")[name].tolist() for name in ("collective", "name")), strict=True))
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
        if has_arrow[i]:
            yield from arrow(pids, tids, (int(posted[i]), int(left[i])), args["message"])


def _tids(
    tracks: Tracks,
    pid_of_rank: Callable[[int], int],
    what: str,
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
        tid = np.array([tracks.track(pid, f"NIC {what} {each}") for each in range(int(lane.max()) + 1)])
        found[mine] = tid[lane]
    return found
