# SPDX-License-Identifier: GPL-2.0-only
"""What a watched run writes down beside its results: frames on some channels, what held queue pairs, operations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["FrameKind", "Hold", "Watch", "WatchLog"]

#: Frames that are written down at most: some 80 B each, and three times that while they are looked at.
_MOST_RECORDS = 5_000_000


class FrameKind(IntEnum):
    """What a frame is for; the values are those of ``ns3::FrameKind``."""

    DATA = 0
    ACK = 1
    NAK = 2
    CNP = 3
    PAUSE = 4


class Hold(IntEnum):
    """What holds a queue pair back; the values are those of ``ns3::Hold``."""

    NOTHING = 0
    NO_DATA = 1
    PACING = 2
    WINDOW = 3
    CONTROL_WINDOW = 4


@dataclass(frozen=True, kw_only=True)
class Watch:
    """What of a run is to be written down; operations always are.

    Attributes
    ----------
    messages : i64, messages whose queue pairs are watched, by their numbers in order of posting.
    channel, from_ps, until_ps : i32, i64, i64: channels whose frames are watched, each from a time until another.
    max_records : most frames, and most changes of queue pairs; a log that would have more says so.
    """

    messages: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    channel: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    from_ps: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    until_ps: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    max_records: int = _MOST_RECORDS


@dataclass(frozen=True, kw_only=True, eq=False)
class WatchLog:
    """What was written down; times in ps.

    Attributes
    ----------
    is_full : whether there was more than there was room for: such a log explains nothing.
    frame_* : one row a frame on a watched channel, by start: the channel, the one by which it came to the node that
        sends it (-1: made there), :class:`FrameKind`, the priority by which PFC pauses it, whether it was sent before,
        queue pair, sequence number, ranks, message (of data at its first port, else -1), bytes, when it came to the
        port (-1 for data that waited in its NIC), start and end of its transmission.
    part_* : one row a message, or part of one, that came to a queue pair: message, queue pair, its number among those
        between its ranks, first sequence number, packets, when.
    hold_flow, hold, hold_ps : from when on what held a queue pair back (:class:`Hold`).
    ready_ps, start_ps, end_ps : one row an operation of each instance, those of all instances one after another: when
        what it waits for was there, when it had its pools, too, and when a local one ended; -1 where it never came.
    wait_row, wait_pool, wait_ps : operations that found a pool empty: row, pool as the template names it, since when.
    """

    is_full: bool
    frame_channel: NDArray[np.int32]
    frame_ingress: NDArray[np.int32]
    frame_kind: NDArray[np.uint8]
    frame_priority: NDArray[np.uint8]
    frame_is_repetition: NDArray[np.uint8]
    frame_flow: NDArray[np.int32]
    frame_psn: NDArray[np.int32]
    frame_src: NDArray[np.int32]
    frame_dst: NDArray[np.int32]
    frame_message: NDArray[np.int64]
    frame_payload_bytes: NDArray[np.int64]
    frame_line_bytes: NDArray[np.int64]
    frame_eligible_ps: NDArray[np.int64]
    frame_start_ps: NDArray[np.int64]
    frame_end_ps: NDArray[np.int64]
    part_message: NDArray[np.int64]
    part_flow: NDArray[np.int32]
    part_number: NDArray[np.int32]
    part_first_psn: NDArray[np.int32]
    part_packets: NDArray[np.int64]
    part_submitted_ps: NDArray[np.int64]
    hold_flow: NDArray[np.int32]
    hold: NDArray[np.uint8]
    hold_ps: NDArray[np.int64]
    ready_ps: NDArray[np.int64]
    start_ps: NDArray[np.int64]
    end_ps: NDArray[np.int64]
    wait_row: NDArray[np.int64]
    wait_pool: NDArray[np.int32]
    wait_ps: NDArray[np.int64]

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> WatchLog:
        """Make a log of what ``_ns3_ext`` returned."""
        return cls(**raw)
