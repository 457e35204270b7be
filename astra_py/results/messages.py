# SPDX-License-Identifier: GPL-2.0-only
"""The tables of messages, and of pairs of ranks with what they exchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from astra_py.results.columns import Columns, us

if TYPE_CHECKING:
    from astra_py.results.record import RunRecord

__all__ = ["messages_table", "pairs_table"]


def messages_table(record: RunRecord) -> Columns:
    """Columns of the table ``messages``, one row a message, in order of posting."""
    columns, templates = record.columns, record.schedule.templates
    return {
        "message": np.arange(len(columns.message_src)),
        "collective": columns.message_instance,
        "src": columns.message_src,
        "dst": columns.message_dst,
        "size_bytes": columns.message_size_bytes,
        "control_bytes": record.of_message([t.size_bytes - t.data_bytes for t in templates]),
        "phase": record.of_message([template.phase for template in templates]),
        "chunk": record.of_message([template.chunk for template in templates]),
        "posted_us": us(columns.message_posted_ps),
        "sent_us": us(columns.message_sent_ps),
        "delivered_us": us(columns.message_delivered_ps),
        "acked_us": us(columns.message_acked_ps),
        "retransmitted_packets": columns.message_retransmitted_packets,
        "posted_ps": columns.message_posted_ps,
        "sent_ps": columns.message_sent_ps,
        "delivered_ps": columns.message_delivered_ps,
        "acked_ps": columns.message_acked_ps,
    }


def pairs_table(record: RunRecord) -> Columns:
    """Columns of the table ``pairs``, one row a pair of ranks with messages, by source and destination."""
    columns = record.columns
    ranks = record.schedule.ranks
    pair = columns.message_src.astype(np.int64) * ranks + columns.message_dst
    key, flow, messages = np.unique(pair, return_inverse=True, return_counts=True)
    waited = columns.message_delivered_ps - columns.message_posted_ps
    total, longest, last = (np.zeros(len(key), dtype=np.int64) for _ in range(3))
    first = np.full(len(key), np.iinfo(np.int64).max)
    size, packets, again = (np.zeros(len(key), dtype=np.int64) for _ in range(3))
    np.add.at(total, flow, waited)
    np.maximum.at(longest, flow, waited)
    np.maximum.at(last, flow, columns.message_delivered_ps)
    np.minimum.at(first, flow, columns.message_posted_ps)
    np.add.at(size, flow, columns.message_size_bytes)
    np.add.at(packets, flow[record.traffic.whole], record.traffic.packets(record.transport))
    np.add.at(again, flow, columns.message_retransmitted_packets)
    return {
        "src": key // ranks,
        "dst": key % ranks,
        "messages": messages,
        "size_bytes": size,
        "packets": packets,
        "retransmitted_packets": again,
        "first_posted_us": us(first),
        "last_delivered_us": us(last),
        "mean_message_us": us(total) / messages,
        "max_message_us": us(longest),
    }
