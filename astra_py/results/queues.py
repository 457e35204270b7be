# SPDX-License-Identifier: GPL-2.0-only
"""The tables of switches' ports, with what their buffers and pauses did, and of the episodes of pauses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from astra_py.engines.buffers import switch_ports
from astra_py.results.columns import Columns, us

if TYPE_CHECKING:
    from astra_py.results.record import RunRecord

__all__ = ["pauses_table", "queues_table"]


def queues_table(record: RunRecord) -> Columns:
    """Columns of the table ``queues``, one row an Ethernet port of a switch, in order of switches and channels."""
    columns, arrays = record.columns, record.arrays
    sender, receiver = record.channel_ends
    out = switch_ports(arrays)
    out = out[np.argsort(sender[out], kind="stable")]
    # a port receives on the other way of its link
    into = out ^ 1
    names = np.array(arrays.node_names, dtype=object)
    marked, frames = record.channel("marked_frames")[out], columns.channel_frames[out]
    return {
        "switch": names[sender[out]],
        "peer": names[receiver[out]],
        "channel": out,
        "link_class": np.array(arrays.class_names, dtype=object)[arrays.link_class[out // 2]],
        "rate_Gbps": arrays.link_rate_bps[out // 2] / 1e9,
        "frames": frames,
        "max_queue_bytes": columns.channel_max_queue_bytes[out],
        "marked_frames": marked,
        "marked_percent": 100.0 * marked / np.maximum(frames, 1),
        "refused_frames": record.channel("buffer_drops")[into],
        "pauses_sent": record.channel("pauses")[into],
        "peer_paused_us": us(record.channel("paused_ps")[into]),
        "pauses_received": record.channel("pauses")[out],
        "paused_us": us(record.channel("paused_ps")[out]),
        "pfc_frames": record.channel("pfc_frames")[out],
        "buffer_bytes": record.buffer_bytes[sender[out]],
        "max_buffer_bytes": record.max_buffer_bytes[sender[out]],
    }


def pauses_table(record: RunRecord) -> Columns:
    """Columns of the table ``pauses``, one row an episode, by start and channel."""
    columns = record.columns
    sender, receiver = record.channel_ends
    names = np.array(record.arrays.node_names, dtype=object)
    channel, start, end = columns.pause_channel, columns.pause_start_ps, columns.pause_end_ps
    return {
        "channel": channel,
        "paused": names[sender[channel]],
        "by": names[receiver[channel]],
        "priority": columns.pause_priority,
        "start_us": us(start),
        "end_us": us(end),
        "time_us": us(end - start),
        "start_ps": start,
        "end_ps": end,
    }
