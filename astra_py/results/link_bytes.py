# SPDX-License-Identifier: GPL-2.0-only
"""Checks of the bytes of each channel: what messages, routes and headers imply, and what ports counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from astra_py.engines.wire import CNP_LINE_BYTES, PFC_LINE_BYTES
from astra_py.results.check import Check, compare
from astra_py.results.tcp_checks import tcp_line_bytes
from astra_py.results.traffic import ControlFrames, implied_line_bytes, integer_sums

if TYPE_CHECKING:
    from astra_py.results.record import RunRecord

__all__ = ["check_link_bytes"]


def check_link_bytes(record: RunRecord) -> list[Check]:
    """Payload and line bytes of each channel; lower bounds where packets were repeated.

    Where packets of one flow go different ways, no more than the sums of groups of channels are known: equal ways have
    equally many channels of each.
    """
    traffic, columns = record.traffic, record.columns
    payload = traffic.on_channels(traffic.per_flow(traffic.size_bytes), len(columns.channel_line_bytes))
    is_exact = not record.has_repetitions
    if record.transport.tcp is not None:
        line = np.clip(columns.channel_line_bytes, *tcp_line_bytes(record, record.transport.tcp))
        is_known, from_what = True, "frames and headers"
    else:
        control, is_known = _control_frames(record)
        line = implied_line_bytes(traffic, record.transport, record.channel_efficiency, control)
        is_known, from_what = is_known and is_exact, "routes and headers"
    sides = {
        "payload": ("payload per channel: routes, and ports", payload, columns.channel_payload_bytes, is_exact),
        "line": (
            f"line bytes per channel: {from_what}, and ports",
            line,
            columns.channel_line_bytes,
            is_known,
        ),
    }
    checks = []
    for name, (meaning, declared, measured, exactly) in sides.items():
        groups = len(record.group_rate_bps)
        declared, measured = (integer_sums(record.channel_group, side, groups) for side in (declared, measured))
        checks.append(compare(f"link_{name}_bytes", meaning, declared, measured, record.group_name, is_exact=exactly))
    return checks


def _control_frames(record: RunRecord) -> tuple[ControlFrames, bool]:
    """Frames without data of each channel, and whether their line bytes are exact or what they take at least.

    Where acknowledgements follow from messages, what else there is are CNPs. Where they do not (a window asks for more
    of them, packets overtake each other, one that is lost on a link does not reach the next), the ports' own count is
    taken. There, CNPs cannot be told from ACKs, nor ACKs from NAKs that return no telemetry, and all are taken as the
    smallest.
    """
    traffic, transport, columns = record.traffic, record.transport, record.columns
    pfc = record.channel("pfc_frames")
    others = columns.channel_frames - columns.channel_data_frames - pfc
    pfc_bytes, ack_bytes = pfc * PFC_LINE_BYTES, transport.ack_line_bytes
    has_cnps = columns.counters.get("cnps", 0) > 0
    are_some_marked = bool(columns.channel_marked_frames.any())
    if record.has_repetitions:
        least = min(ack_bytes - transport.telemetry_bytes, CNP_LINE_BYTES)
        return ControlFrames(others, others * least + pfc_bytes), False
    if not traffic.are_acks_implied(transport, are_some_marked=are_some_marked, has_packet_ways=record.has_packet_ways):
        least = min(ack_bytes, CNP_LINE_BYTES) if has_cnps else ack_bytes
        return ControlFrames(others, others * least + pfc_bytes), not has_cnps
    acks = traffic.on_channels(traffic.per_flow(traffic.acks(transport)), len(others), back=True)
    cnps = np.maximum(others - acks, 0) if has_cnps else np.zeros_like(others)
    return ControlFrames(acks + cnps, acks * ack_bytes + cnps * CNP_LINE_BYTES + pfc_bytes), True
