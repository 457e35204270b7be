# SPDX-License-Identifier: GPL-2.0-only
"""The table of links by bins of time, and the checks that its bins add up to the table of links."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.results.check import Check, compare
from astra_py.results.columns import Columns

if TYPE_CHECKING:
    from astra_py.results.record import RunRecord

__all__ = ["check_link_bins", "link_bins_table"]

_PS_PER_S = 10**12


def link_bins_table(record: RunRecord) -> Columns:
    """Columns of the table ``link_bins``: each channel that carried anything, bin by bin."""
    end_ps = record.columns.bin_end_ps
    line, queue = _by_channel(record)
    used = np.flatnonzero(line.any(axis=1))
    start_ps = np.concatenate([[0], end_ps[:-1]]) if len(end_ps) else end_ps
    time_ps = end_ps - start_ps
    capacity = np.repeat(record.arrays.link_rate_bps, 2)[used, None] / 8 / _PS_PER_S * time_ps
    return {
        "channel": np.repeat(used, len(end_ps)),
        "bin": np.tile(np.arange(len(end_ps)), len(used)),
        "start_us": np.tile(start_ps / 1e6, len(used)),
        "time_us": np.tile(time_ps / 1e6, len(used)),
        "line_bytes": line[used].ravel(),
        "utilisation_percent": (100.0 * line[used] / capacity).ravel(),
        "max_queue_bytes": queue[used].ravel(),
    }


def check_link_bins(record: RunRecord) -> list[Check]:
    """Each channel's bins add up to its line bytes, and the longest queue of all bins is its longest."""
    if not len(record.columns.bin_end_ps):
        return []
    line, queue = _by_channel(record)
    return [
        compare(
            "link_bins",
            "line bytes per channel: its bins of time, and in all",
            record.columns.channel_line_bytes,
            line.sum(axis=1),
            record.channel_name,
        ),
        compare(
            "link_bin_queues",
            "longest queue per channel: in its bins, and in all",
            record.columns.channel_max_queue_bytes,
            queue.max(axis=1),
            record.channel_name,
        ),
    ]


def _by_channel(record: RunRecord) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Line bytes, and longest queues, of each channel and bin; both i64[channels, bins]."""
    columns = record.columns
    shape = (len(columns.bin_end_ps), len(columns.channel_line_bytes))
    return columns.bin_line_bytes.reshape(shape).T, columns.bin_max_queue_bytes.reshape(shape).T
