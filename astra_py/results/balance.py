# SPDX-License-Identifier: GPL-2.0-only
"""Checks of the ports' own counters against one another: what goes into a link or a switch comes out of it.

They hold with losses, too, where bytes per link are no more than bounded by what was declared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.engines.base import TimeRounding
from astra_py.results.check import Check, compare
from astra_py.results.traffic import integer_sums

if TYPE_CHECKING:
    from astra_py.results.record import RunRecord

__all__ = ["check_links", "check_ports", "check_switches"]

_BITS_PER_BYTE = 8
_PS_PER_S = 10**12
#: Most that rounding to the nearest nanosecond takes from a frame's time, and adds to it: no frame takes none.
_HALF_NS_PS, _ONE_NS_PS = 500, 1000


def check_links(record: RunRecord) -> list[Check]:
    """What is sent on a channel arrives at its far end, but for dropped frames, and takes the time it has to take."""
    columns = record.columns
    sent, delivered = columns.channel_payload_bytes, columns.channel_delivered_payload_bytes
    lost_at_most = columns.channel_dropped_frames * record.transport.payload_bytes
    busy = columns.channel_busy_ps
    low, high = _serialisation_ps(record)
    if not (record.has_repetitions or record.has_notices):
        # after the run's last operation nothing moves but acknowledgements, the last of which tells when it is over
        high = np.minimum(high, max(record.end_ps, int(columns.message_acked_ps.max(initial=0))))
    return [
        compare(
            "link_delivery",
            "payload arrived per channel: all sent but what was lost",
            np.clip(delivered, sent - lost_at_most, sent),
            delivered,
            record.channel_name,
        ),
        compare(
            "link_busy",
            "ps of sending per channel: line bytes at its rate",
            np.clip(busy, low, high),
            busy,
            record.channel_name,
        ),
    ]


def check_switches(record: RunRecord) -> list[Check]:
    """Every frame, and all payload, that reaches a node without a rank leaves it again, but for refused frames.

    PFC frames are made and ended by ports and are in neither side.
    """
    columns, arrays = record.columns, record.arrays
    forwards = np.flatnonzero(arrays.node_rank < 0)
    sender, receiver = record.channel_ends
    nodes = len(arrays.node_rank)
    frames, refused = columns.channel_frames - record.channel("pfc_frames"), record.channel("buffer_drops")
    entered = integer_sums(receiver, frames - columns.channel_dropped_frames - refused, nodes)[forwards]
    reached = integer_sums(receiver, columns.channel_delivered_payload_bytes, nodes)[forwards]
    refused_at_most = integer_sums(receiver, refused, nodes)[forwards] * record.transport.payload_bytes
    left = integer_sums(sender, columns.channel_payload_bytes, nodes)[forwards]
    return [
        compare(
            "switch_frames",
            "frames that switches sent: those that reached them",
            entered,
            integer_sums(sender, frames, nodes)[forwards],
            lambda i: arrays.node_names[forwards[i]],
        ),
        compare(
            "switch_payload",
            "payload that switches sent: what reached them",
            np.clip(left, reached - refused_at_most, reached),
            left,
            lambda i: arrays.node_names[forwards[i]],
        ),
    ]


def check_ports(record: RunRecord) -> list[Check]:
    """The payload that crosses the ports of each rank's node is what it sends, receives and passes on for others."""
    columns, arrays = record.columns, record.arrays
    sent, received = record.declared_rank_bytes
    transit = _transit(record)
    node_rank = arrays.node_rank.astype(np.int64)
    sender, receiver = record.channel_ends
    return [
        compare(
            f"ports_{way}",
            meaning,
            declared + transit,
            integer_sums(node_rank[node] + 1, measured, record.schedule.ranks + 1)[1:],
            lambda rank: f"rank {rank}",
            is_exact=not record.has_repetitions,
        )
        for way, meaning, declared, node, measured in (
            (
                "sent",
                "payload onto links per rank: closed forms, and ports",
                sent,
                sender,
                columns.channel_payload_bytes,
            ),
            (
                "received",
                "payload off links per rank: closed forms, and ports",
                received,
                receiver,
                columns.channel_delivered_payload_bytes,
            ),
        )
    ]


def _serialisation_ps(record: RunRecord) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Least and most time that each channel's line bytes take; equal where a byte takes whole picoseconds."""
    columns = record.columns
    rate = np.repeat(record.arrays.link_rate_bps, 2).astype(object)
    frames = columns.channel_frames
    # Python's integers: a byte in ps and bits per second is 8 * 10^12, which leaves 64 bits from 1.2 MB on
    bits_ps = columns.channel_line_bytes.astype(object) * (_BITS_PER_BYTE * _PS_PER_S)
    low, high = (-(-bits_ps // rate)).astype(np.int64), (bits_ps // rate).astype(np.int64)
    if record.transport.time_rounding == TimeRounding.NS_NEAREST:
        return low - _HALF_NS_PS * frames, high + _ONE_NS_PS * frames
    is_whole = (_BITS_PER_BYTE * _PS_PER_S % rate == 0).astype(bool)
    return low, np.where(is_whole, high, high + frames)


def _transit(record: RunRecord) -> NDArray[np.int64]:
    """Payload that each rank's node passes on, by the routes; i64[ranks].

    Where packets have ways of their own, it is what came in and was not the rank's: the same has to go out. With
    repetitions that is not known, and the lower bound is without it.
    """
    traffic = record.traffic
    _, receiver = record.channel_ends
    if record.has_packet_ways and record.has_repetitions:
        return np.zeros(record.schedule.ranks, dtype=np.int64)
    if record.has_packet_ways:
        node_rank = record.arrays.node_rank.astype(np.int64)[receiver] + 1
        came = integer_sums(node_rank, record.columns.channel_delivered_payload_bytes, record.schedule.ranks + 1)[1:]
        return came - record.declared_rank_bytes[1]
    is_last = np.zeros(len(traffic.there), dtype=bool)
    is_last[traffic.there_ptr[1:] - 1] = True
    rank = record.arrays.node_rank[receiver[traffic.there]]
    passed = (rank >= 0) & ~is_last
    payload = np.repeat(traffic.per_flow(traffic.size_bytes), traffic.hops)
    return integer_sums(rank[passed], payload[passed], record.schedule.ranks)
