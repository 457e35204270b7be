# SPDX-License-Identifier: GPL-2.0-only
"""Checks of switches and of congestion control: buffers, pauses, marks and what receivers said of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from astra_py.engines.buffers import AUTO_SHARED_BYTES, kept_bytes, switch_ports
from astra_py.results.check import Check, compare

if TYPE_CHECKING:
    from astra_py.engines.base import TransportModel
    from astra_py.results.record import RunRecord

__all__ = ["check_switching"]

#: Controls whose data packets are ECN capable.
_ECN_CONTROLS = ("ns3::Dcqcn", "ns3::Dctcp")


def check_switching(record: RunRecord) -> list[Check]:
    """All of them; the one of lossless classes only where no other class is in use."""
    checks = [_buffer_sizes(record), _buffers(record), _pauses(record), _marks(record), _notifications(record)]
    return [_lossless(record), *checks] if _is_lossless(record) else checks


def _is_lossless(record: RunRecord) -> bool:
    """Whether no frame may find a buffer full: all priorities in use are lossless, with the room that PFC needs."""
    switch = record.switch
    has_room = switch.headroom_bytes < 0 and switch.reserve_bytes < 0
    return switch.buffer_bytes == 0 or (has_room and record.priorities <= set(switch.lossless))


def _lossless(record: RunRecord) -> Check:
    drops = record.channel("buffer_drops")
    return compare(
        "lossless",
        "frames of lossless priorities that a buffer refused: none",
        np.zeros_like(drops),
        drops,
        record.channel_name,
    )


def _buffer_sizes(record: RunRecord) -> Check:
    """The engine's switches have the buffer that was asked for; where that is "auto", they have at least its share."""
    sender, _ = record.channel_ends
    nodes = np.unique(sender[switch_ports(record.arrays)])
    asked, size = record.switch.buffer_bytes, record.buffer_bytes[nodes]
    return compare(
        "buffer_sizes",
        "size of each switch's buffer",
        np.full_like(size, asked) if asked >= 0 else np.maximum(size, AUTO_SHARED_BYTES),
        size,
        lambda i: record.arrays.node_names[nodes[i]],
    )


def _buffers(record: RunRecord) -> Check:
    used, arrays = record.max_buffer_bytes, record.arrays
    # what ports keep for themselves is theirs even where it is more than there is
    size = np.maximum(record.buffer_bytes, kept_bytes(record.switch, record.transport, arrays, record.priorities))
    return compare(
        "buffers",
        "most bytes in each switch's buffer: 0 to its size",
        np.clip(used, 0, size),
        used,
        lambda node: arrays.node_names[node],
    )


def _pauses(record: RunRecord) -> Check:
    """Each episode has its end, and those of a channel last as long as its port was held."""
    columns, paused = record.columns, record.channel("paused_ps")
    start, end = columns.pause_start_ps, columns.pause_end_ps
    lasted = np.zeros(len(paused), dtype=np.int64)
    np.add.at(lasted, columns.pause_channel, np.where((start >= 0) & (end >= start), end - start, -1))
    return compare(
        "pauses",
        "ps that each port was held: by its ended episodes",
        lasted,
        paused,
        record.channel_name,
        is_exact=not columns.counters.get("pauses_unlisted", 0),
    )


def _marks(record: RunRecord) -> Check:
    """Only data is marked, by a switch's Ethernet port with ECN, and under a control that asks for it."""
    columns, arrays, marked = record.columns, record.arrays, record.channel("marked_frames")
    sender, _ = record.channel_ends
    can_mark = (record.channel_efficiency == 0) & (arrays.node_forwards[sender] != 0)
    if not (record.switch.has_ecn and _asks_for_marks(record.transport)):
        can_mark[:] = False
    # DCTCP's acknowledgements are ECN capable, too
    frames, what = columns.channel_data_frames, "only data"
    if record.transport.tcp is not None:
        frames, what = columns.channel_frames, "TCP's"
    return compare(
        "marks",
        f"frames marked per channel: {what}, only where ECN is on",
        np.clip(marked, 0, np.where(can_mark, frames, 0)),
        marked,
        record.channel_name,
    )


def _asks_for_marks(transport: TransportModel) -> bool:
    return transport.tcp.has_ecn if transport.tcp is not None else transport.congestion_control in _ECN_CONTROLS


def _notifications(record: RunRecord) -> Check:
    """No more notifications than marks."""
    cnps, marks = record.columns.counters.get("cnps", 0), int(record.channel("marked_frames").sum())
    return compare(
        "notifications",
        "CNPs: no more than frames marked",
        np.array([min(cnps, marks)], dtype=np.int64),
        np.array([cnps], dtype=np.int64),
        lambda _: "the run",
    )
