# SPDX-License-Identifier: GPL-2.0-only
"""The table of congestion: what its control did to each flow that it ever held back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from astra_py.results.columns import Columns, us

if TYPE_CHECKING:
    from astra_py.results.record import RunRecord

__all__ = ["congestion_table"]


def congestion_table(record: RunRecord) -> Columns:
    """Columns of the table ``congestion``, one row a flow, by sender, receiver, priority and queue pair."""
    columns = record.columns
    order = np.lexsort((columns.control_queue_pair, columns.control_priority, columns.control_dst, columns.control_src))
    return {
        "src": columns.control_src[order],
        "dst": columns.control_dst[order],
        "priority": columns.control_priority[order],
        "queue_pair": columns.control_queue_pair[order],
        "notifications": columns.control_notifications[order],
        "decreases": columns.control_decreases[order],
        "line_rate_Gbps": columns.control_line_rate_bps[order] / 1e9,
        "least_rate_Gbps": columns.control_least_rate_bps[order] / 1e9,
        "last_rate_Gbps": columns.control_rate_bps[order] / 1e9,
        "least_window_bytes": columns.control_least_window_bytes[order],
        "last_window_bytes": columns.control_window_bytes[order],
        "slow_us": us(columns.control_slow_ps[order]),
        "slow_ps": columns.control_slow_ps[order],
    }
