# SPDX-License-Identifier: GPL-2.0-only
"""The part of the printed report on congestion: what the control did, marks, pauses, buffers, losses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from astra_py.results.text import figure

if TYPE_CHECKING:
    from astra_py.results.result import Result

__all__ = ["congestion_section"]


def congestion_section(result: Result) -> list[str]:
    """Lines on congestion control, and on pauses, buffers and losses where there were any; none without ports."""
    if "flows_controlled" not in result.counters:
        return []
    lines = [_control(result), *_pauses(result), *_buffers(result), *_losses(result)]
    return [line for line in lines if line]


def _control(result: Result) -> str:
    counters, marked = result.counters, int(result.columns("queues")["marked_frames"].sum())
    transport = result.manifest.get("scenario", {}).get("transport", {})
    name = transport.get("congestion_control", "none")
    if transport.get("kind") == "tcp":
        again = int(result.columns("sockets")["retransmitted_segments"].sum())
        title = "congestion control" if marked + again else "congestion control had no reason to act"
        return f"{title}: {name}; {marked:,} frames marked, {again:,} sent again"
    flows, slowed = counters["flows_controlled"], counters.get("flows_slowed", 0)
    if name == "none":
        return "congestion control: none"
    told = f"{marked:,} frames marked"
    if cnps := counters.get("cnps", 0):
        told += f", {cnps:,} CNPs"
    if not slowed:
        return f"congestion control never acted: {name} slowed none of {flows:,} flows; {told}"
    return f"congestion control: {name} slowed {slowed:,} of {flows:,} flows; {told}"


def _pauses(result: Result) -> list[str]:
    table = result.columns("pauses")
    if not len(table["time_us"]):
        return []
    ports, time = len(np.unique(table["channel"])), table["time_us"]
    if "pauses" in result.cut:
        # sums would be of a sample
        return [f"pauses: {result.cut['pauses'].of:,}, of which {len(time):,} are listed"]
    return [
        f"pauses: {len(time):,} at {ports:,} port{'s' * (ports != 1)}, {figure(time.sum(), 2)} us in all, the longest "
        f"{figure(time.max(), 2)} us"
    ]


def _buffers(result: Result) -> list[str]:
    table = result.columns("queues")
    used = table["max_buffer_bytes"]
    if not len(used) or not used.any():
        return []
    most = int(np.argmax(used))
    size = int(table["buffer_bytes"][most])
    return [
        f"buffers: at most {used[most]:,} of {size:,} B ({100 * used[most] / size:.1f} %), at {table['switch'][most]}"
    ]


def _losses(result: Result) -> list[str]:
    lost, refused = (
        int(result.columns("links")["dropped_frames"].sum()),
        int(result.columns("queues")["refused_frames"].sum()),
    )
    if not lost + refused:
        return []
    return [f"losses: {lost:,} frames lost on links, {refused:,} refused by buffers"]
