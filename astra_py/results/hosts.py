# SPDX-License-Identifier: GPL-2.0-only
"""The tables of hosts under TCP: what their cores did, what was copied to and from accelerators, and the sockets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.results.columns import Columns, us

if TYPE_CHECKING:
    from astra_py.results.record import RunRecord

__all__ = ["host_cores_table", "sockets_table", "staging_table"]


def host_cores_table(record: RunRecord) -> Columns:
    """Columns of the table ``host_cores``, one row a core, in order of machines and cores."""
    columns = record.columns
    return {
        "machine": columns.core_machine,
        "core": columns.core_core,
        "busy_us": us(columns.core_busy_ps),
        "utilisation_percent": 100.0 * columns.core_busy_ps / max(record.watched_ps, 1),
        "message_us": us(columns.core_message_ps),
        "segment_us": us(columns.core_segment_ps),
        "packet_us": us(columns.core_packet_ps),
        "copy_us": us(columns.core_copy_ps),
        "works": columns.core_units,
        "busy_ps": columns.core_busy_ps,
    }


def staging_table(record: RunRecord) -> Columns:
    """Columns of the table ``staging``, one row a rank whose messages are copied, in order of ranks."""
    columns, end = record.columns, max(record.watched_ps, 1)
    return {
        "rank": columns.staging_rank,
        "out_bytes": columns.staging_out_bytes,
        "in_bytes": columns.staging_in_bytes,
        "out_us": us(columns.staging_out_busy_ps),
        "in_us": us(columns.staging_in_busy_ps),
        "out_utilisation_percent": 100.0 * columns.staging_out_busy_ps / end,
        "in_utilisation_percent": 100.0 * columns.staging_in_busy_ps / end,
    }


def sockets_table(record: RunRecord) -> Columns:
    """Columns of the table ``sockets``, one row an end of a connection that sent."""
    columns = record.columns
    return {
        "src": columns.socket_src,
        "dst": columns.socket_dst,
        "priority": columns.socket_priority,
        "socket": columns.socket_index,
        "size_bytes": columns.socket_bytes,
        "segments": columns.socket_segments,
        "acks": columns.socket_acks,
        "retransmitted_segments": columns.socket_retransmitted_segments,
        "timeouts": columns.socket_timeouts,
        "late_acks": columns.socket_late_acks,
        "round_trip_us": np.where(columns.socket_srtt_ps > 0, columns.socket_srtt_ps / 1e6, np.nan),
        "window_bytes": columns.socket_cwnd_bytes,
        "longest_hold_us": us(_longest_holds(record)),
    }


def _longest_holds(record: RunRecord) -> NDArray[np.int64]:
    """i64[sockets]: ps that a congestion window held one message of the socket's ranks and priority, at the longest."""
    columns = record.columns
    held = columns.message_cwnd_limited_ps
    if not len(held):
        return np.zeros(len(columns.socket_src), dtype=np.int64)
    longest: dict[tuple[int, int, int], int] = {}
    kept = np.flatnonzero(held)
    for src, dst, priority, time in zip(
        columns.message_src[kept].tolist(),
        columns.message_dst[kept].tolist(),
        record.message_priority[kept].tolist(),
        held[kept].tolist(),
        strict=True,
    ):
        longest[src, dst, priority] = max(longest.get((src, dst, priority), 0), time)
    sockets = zip(
        columns.socket_src.tolist(), columns.socket_dst.tolist(), columns.socket_priority.tolist(), strict=True
    )
    return np.array([longest.get(socket, 0) for socket in sockets], dtype=np.int64)
