# SPDX-License-Identifier: GPL-2.0-only
"""Checks of the bytes of each channel: what messages, routes and headers imply, and what ports counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from astra_py.engines.wire import CNP_LINE_BYTES
from astra_py.results.check import Check, compare
from astra_py.results.traffic import ControlFrames, implied_line_bytes

if TYPE_CHECKING:
    from astra_py.results.record import RunRecord

__all__ = ["check_link_bytes"]


def check_link_bytes(record: RunRecord) -> list[Check]:
    """Payload and line bytes of each channel; lower bounds where packets were repeated."""
    traffic, transport, columns = record.traffic, record.transport, record.columns
    payload = traffic.on_channels(traffic.per_flow(traffic.size_bytes), len(columns.channel_line_bytes))
    control, is_known = _control_frames(record)
    line = implied_line_bytes(traffic, transport, record.channel_efficiency, control)
    is_exact = not record.has_repetitions
    return [
        compare(f"link_{name}_bytes", meaning, declared, measured, record.channel_name, is_exact=exactly)
        for name, meaning, declared, measured, exactly in (
            ("payload", "payload per channel: routes, and ports", payload, columns.channel_payload_bytes, is_exact),
            (
                "line",
                "line bytes per channel: routes and headers, and ports",
                line,
                columns.channel_line_bytes,
                is_exact and is_known,
            ),
        )
    ]


def _control_frames(record: RunRecord) -> tuple[ControlFrames, bool]:
    """Frames without data of each channel, and whether it is known which of them are ACKs and which CNPs.

    Where acknowledgements follow from messages, what else there is are CNPs. Where they do not (a window asks for more
    of them, one that is lost on a link does not reach the next), the ports' own count is taken, and all of it as what
    is smaller.
    """
    traffic, transport, columns = record.traffic, record.transport, record.columns
    pfc = record.channel("pfc_frames")
    others = columns.channel_frames - columns.channel_data_frames - pfc
    none, has_cnps = np.zeros_like(others), columns.counters.get("cnps", 0) > 0
    are_some_marked = bool(columns.channel_marked_frames.any())
    if record.has_repetitions or not traffic.are_acks_implied(transport, are_some_marked=are_some_marked):
        if has_cnps and transport.ack_line_bytes > CNP_LINE_BYTES:
            return ControlFrames(none, others, pfc), False
        return ControlFrames(others, none, pfc), not has_cnps
    acks = traffic.on_channels(traffic.per_flow(traffic.acks(transport)), len(others), back=True)
    return ControlFrames(acks, np.maximum(others - acks, 0) if has_cnps else none, pfc), True
