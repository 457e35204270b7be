# SPDX-License-Identifier: GPL-2.0-only
"""The table of links: what each direction of each link carried, from the ports' own counters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from astra_py.results.columns import Columns, us

if TYPE_CHECKING:
    from astra_py.results.record import RunRecord

__all__ = ["links_table"]


def links_table(record: RunRecord) -> Columns:
    """Columns of the table ``links``, one row a channel."""
    columns, arrays = record.columns, record.arrays
    sender, receiver = record.channel_ends
    names = np.array(arrays.node_names, dtype=object)
    return {
        "channel": np.arange(len(sender)),
        "from": names[sender],
        "to": names[receiver],
        "link_class": np.array(arrays.class_names, dtype=object)[np.repeat(arrays.link_class, 2)],
        "rate_Gbps": np.repeat(arrays.link_rate_bps, 2) / 1e9,
        "line_bytes": columns.channel_line_bytes,
        "payload_bytes": columns.channel_payload_bytes,
        "frames": columns.channel_frames,
        "busy_us": us(columns.channel_busy_ps),
        "utilisation_percent": 100.0 * columns.channel_busy_ps / max(record.end_ps, 1),
        "max_queue_bytes": columns.channel_max_queue_bytes,
        "dropped_frames": columns.channel_dropped_frames,
    }
