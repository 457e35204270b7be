# SPDX-License-Identifier: GPL-2.0-only
"""Messages as the network carries them: packets, line bytes, flows and their ways, recomputed from what was declared.

Nothing here looks at an engine's packet counters: it is the other side of the comparison.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from astra_py.engines.base import AckPolicy, WindowPolicy
from astra_py.engines.wire import DATA_HEADER, PADDING, RETH

if TYPE_CHECKING:
    from astra_py.engines.base import TransportModel

Integers = TypeVar("Integers", int, NDArray[np.int64])
#: Compressed rows of channels.
Rows = tuple[NDArray[np.int64], NDArray[np.int32]]

__all__ = [
    "SCALE_UP_FLIT",
    "ControlFrames",
    "LineBytes",
    "Traffic",
    "implied_line_bytes",
    "integer_sums",
    "padded",
    "scale_up_bytes",
]

#: Controls that limit the bytes in flight, as a window of the transport does.
_WINDOW_CONTROLS = ("ns3::Hpcc", "ns3::Swift", "ns3::Dctcp")
#: A receiver acknowledges at least so often: a quarter of the 24-bit packet sequence numbers.
_MAX_PACKETS_TO_ACK = 2**22
#: Payload of a packet whose way has scale-up links only.
_SCALE_UP_PAYLOAD = 4096
#: What a packet without payload, or an ACK, counts as on a scale-up link.
SCALE_UP_FLIT = 16


@dataclass(frozen=True, eq=False)
class ControlFrames:
    """Frames that carry no data.

    Attributes
    ----------
    crossing : i64[channels], those that go from rank to rank: acknowledgements and CNPs.
    line_bytes : i64[channels], what these, and PAUSE and RESUME frames, take of an Ethernet link.
    """

    crossing: NDArray[np.int64]
    line_bytes: NDArray[np.int64]


def implied_line_bytes(
    traffic: Traffic, transport: TransportModel, efficiency: NDArray[np.float64], control: ControlFrames
) -> NDArray[np.int64]:
    """Line bytes of each channel as routes, headers and control frames imply them; i64[channels].

    Parameters
    ----------
    efficiency : f64[channels], 0 for Ethernet.
    control : the frames without data of each channel.
    """
    channels = len(efficiency)
    parts = np.rint(efficiency * 1e6).astype(np.int64)
    total = np.zeros(channels, dtype=np.int64)
    for part in np.unique(parts):
        if part == 0:
            message = _ethernet_line_bytes(traffic, transport)
            beside = control.line_bytes
        else:
            message = _scale_up_line_bytes(traffic, transport, int(part))
            beside = control.crossing * scale_up_bytes(SCALE_UP_FLIT, int(part))
        line = traffic.on_channels(traffic.per_flow(message), channels) + beside
        total = np.where(parts == part, line, total)
    return total


def _ethernet_line_bytes(traffic: Traffic, transport: TransportModel) -> NDArray[np.int64]:
    """Line bytes of each message's packets on each Ethernet link they cross."""
    packets, size_bytes = traffic.packets(transport), traffic.size_bytes
    if transport.header_bytes >= 0:
        return size_bytes + packets * (transport.header_bytes + transport.telemetry_bytes)
    last = size_bytes - (packets - 1) * transport.payload_bytes
    payload = (packets - 1) * padded(np.int64(transport.payload_bytes)) + padded(last)
    return payload + packets * (DATA_HEADER + transport.telemetry_bytes) + RETH


def _scale_up_line_bytes(traffic: Traffic, transport: TransportModel, part: int) -> NDArray[np.int64]:
    """Line bytes of each message's packets on a scale-up link, whose payload has ``part`` millionths of the line."""
    packets, payload = traffic.packets(transport), traffic.payload_bytes(transport)
    last = np.maximum(traffic.size_bytes - (packets - 1) * payload, SCALE_UP_FLIT)
    return (packets - 1) * scale_up_bytes(payload, part) + scale_up_bytes(last, part)


def scale_up_bytes(payload: Integers, part: int) -> Integers:
    """Line bytes of a payload that has ``part`` millionths of the line."""
    return -(-payload * 1_000_000 // part)


def padded(payload: NDArray[np.int64] | np.int64) -> NDArray[np.int64]:
    """RoCE pads a payload."""
    return (np.asarray(payload) + PADDING - 1) // PADDING * PADDING


class LineBytes:
    """Line bytes of messages on the wire, without those of acknowledgements, on links of each efficiency."""

    def __init__(self, traffic: Traffic, transport: TransportModel, efficiency: NDArray[np.float64]) -> None:
        parts = np.rint(efficiency * 1e6).astype(np.int64)
        kinds, self._kind = np.unique(parts, return_inverse=True)
        self._of_kind = [
            _scale_up_line_bytes(traffic, transport, part) if part else _ethernet_line_bytes(traffic, transport)
            for part in kinds.tolist()
        ]

    def of(self, messages: NDArray[np.int64], channels: NDArray[np.int32]) -> NDArray[np.int64]:
        """i64: line bytes of each of ``messages`` on the channel that stands beside it."""
        kind = self._kind[channels]
        line = np.zeros(len(messages), dtype=np.int64)
        for i, of_message in enumerate(self._of_kind):
            line = np.where(kind == i, of_message[messages], line)
        return line


@dataclass(frozen=True, eq=False)
class Traffic:
    """The messages of a run, as they are on the wire, and the ways of their flows.

    A message on the wire is a whole one, or the part of one that went to one of several queue pairs.

    Attributes
    ----------
    size_bytes : i64[m], as the messages' templates declare them.
    flow : i64[m], the flow of each message.
    whole : i64[m], which of the declared messages it is of.
    flow_src, flow_dst, flow_qp : i32[f], (source rank, destination rank, queue pair) of each flow.
    there_ptr, there : compressed rows of channels, the way of each flow.
    back_ptr, back : the way of its acknowledgements.
    is_scale_up : bool[f], whether all links of the flow's way are scale-up links.
    """

    size_bytes: NDArray[np.int64]
    flow: NDArray[np.int64]
    whole: NDArray[np.int64]
    flow_src: NDArray[np.int32]
    flow_dst: NDArray[np.int32]
    flow_qp: NDArray[np.int32]
    there_ptr: NDArray[np.int64]
    there: NDArray[np.int32]
    back_ptr: NDArray[np.int64]
    back: NDArray[np.int32]
    is_scale_up: NDArray[np.bool_]

    @classmethod
    def on_routes(
        cls,
        size_bytes: NDArray[np.int64],
        src: NDArray[np.int32],
        dst: NDArray[np.int32],
        priority: NDArray[np.uint8],
        qps_per_peer: int,
        way: Callable[[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]], Rows],
        efficiency: NDArray[np.float64],
        *,
        striped_payload: int = 0,
    ) -> Traffic:
        """Gather messages into flows.

        Parameters
        ----------
        size_bytes, src, dst, priority : one row a message, in order of posting; ``src`` and ``dst`` are ranks.
        qps_per_peer : queue pairs that a pair's messages of one priority take in turn; 0: a new one for each message.
        way : gives the compressed rows of channels of (source ranks, destination ranks, queue pairs).
        efficiency : f64[channels], 0 for Ethernet.
        striped_payload : payload of a packet where each message is split over its queue pairs, else 0.
        """
        whole = np.arange(len(size_bytes))
        if striped_payload and qps_per_peer > 1:
            is_scale_up = cls.on_routes(size_bytes, src, dst, priority, 1, way, efficiency).is_message_scale_up
            payload = np.where(is_scale_up, _SCALE_UP_PAYLOAD, striped_payload)
            whole, size_bytes = _striped(size_bytes, payload, qps_per_peer)
            src, dst, priority = src[whole], dst[whole], priority[whole]
        most_ranks = int(max(src.max(initial=0), dst.max(initial=0))) + 1
        pair = src.astype(np.int64) * most_ranks + dst
        qp = _queue_pairs(pair * 256 + priority, qps_per_peer)
        most = int(qp.max(initial=0)) + 1
        key, flow = np.unique(pair * most + qp, return_inverse=True)
        flow_src = (key // most // most_ranks).astype(np.int32)
        flow_dst = (key // most % most_ranks).astype(np.int32)
        flow_qp = (key % most).astype(np.int32)
        there, back = way(flow_src, flow_dst, flow_qp), way(flow_dst, flow_src, flow_qp)
        is_ethernet = efficiency[there[1]] == 0
        is_scale_up = ~np.logical_or.reduceat(is_ethernet, there[0][:-1]) if len(flow_src) else np.zeros(0, dtype=bool)
        return cls(size_bytes, flow, whole, flow_src, flow_dst, flow_qp, *there, *back, is_scale_up)

    @property
    def is_message_scale_up(self) -> NDArray[np.bool_]:
        """bool[m]: whether all links of each message's way are scale-up links."""
        return self.is_scale_up[self.flow]

    def of_whole(self, messages: NDArray[np.int64]) -> NDArray[np.int64]:
        """Indices of the messages on the wire that declared ``messages`` became."""
        first = np.searchsorted(self.whole, messages)
        count = np.searchsorted(self.whole, messages, side="right") - first
        return np.repeat(first - np.cumsum(count) + count, count) + np.arange(count.sum())

    def payload_bytes(self, transport: TransportModel) -> NDArray[np.int64]:
        """i64[m]: largest payload of each message's packets."""
        return np.where(self.is_message_scale_up, _SCALE_UP_PAYLOAD, transport.payload_bytes)

    def packets(self, transport: TransportModel) -> NDArray[np.int64]:
        """i64[m]: how many packets each message is cut into; a message of 0 bytes is one packet."""
        packets: NDArray[np.int64] = np.maximum(1, -(-self.size_bytes // self.payload_bytes(transport)))
        return packets

    def line_bytes(self, transport: TransportModel, efficiency: NDArray[np.float64]) -> LineBytes:
        """Line bytes of the messages on each channel; ``efficiency`` is f64[channels], 0 for Ethernet."""
        return LineBytes(self, transport, efficiency)

    def acks(self, transport: TransportModel) -> NDArray[np.int64]:
        """i64[m]: ACK frames that each message's packets cause at least, none lost; see :meth:`are_acks_implied`."""
        packets = self.packets(transport)
        match transport.ack_policy:
            case AckPolicy.PER_PACKET:
                acks = packets
            case AckPolicy.EVERY:
                # each N-th packet since the last ACK, and the last packet of every message
                acks = -(-packets // transport.ack_every)
            case AckPolicy.PER_MESSAGE:
                acks = np.ones_like(packets)
            case AckPolicy.OUT_OF_BAND:
                acks = np.zeros_like(packets)
        return np.where(self.is_message_scale_up, 0, acks)

    def are_acks_implied(
        self, transport: TransportModel, *, are_some_marked: bool = False, has_packet_ways: bool = False
    ) -> bool:
        """Whether :meth:`acks` is all there is, or a packet may ask for an ACK that only the run can tell.

        A packet that fills the window asks for one, and a receiver gives one before the packet numbers run out, and
        where marked packets follow unmarked ones or the other way round (RFC 8257, section 3.2), and for each packet
        that overtook another on a way of its own.
        """
        if transport.ack_policy in (AckPolicy.PER_PACKET, AckPolicy.OUT_OF_BAND):
            return True
        has_window = transport.window_policy != WindowPolicy.NONE or transport.congestion_control in _WINDOW_CONTROLS
        if are_some_marked or has_packet_ways or has_window:
            return False
        return int(self.packets(transport).max(initial=0)) < _MAX_PACKETS_TO_ACK

    def per_flow(self, weight: NDArray[np.int64]) -> NDArray[np.int64]:
        """Sum of ``weight`` (i64, one a message) over each flow's messages."""
        return integer_sums(self.flow, weight, len(self.flow_src))

    def on_channels(self, flow_weight: NDArray[np.int64], channels: int, *, back: bool = False) -> NDArray[np.int64]:
        """Sum of each flow's weight over the channels of its way, or of its acknowledgements' way; i64[channels]."""
        ptr, way = (self.back_ptr, self.back) if back else (self.there_ptr, self.there)
        return integer_sums(way, np.repeat(flow_weight, np.diff(ptr)), channels)

    @property
    def hops(self) -> NDArray[np.int64]:
        """i64[f]: links on each flow's way."""
        return np.diff(self.there_ptr)


def _queue_pairs(peer: NDArray[np.int64], qps_per_peer: int) -> NDArray[np.int64]:
    """Queue pair of each message: a peer's messages take them in turn, or each a new one where there is no number."""
    if qps_per_peer == 1:
        return np.zeros_like(peer)
    order = np.argsort(peer, kind="stable")
    first = np.flatnonzero(np.diff(peer[order], prepend=-1))
    turn = np.empty_like(peer)
    turn[order] = np.arange(len(peer)) - np.repeat(first, np.diff(first, append=len(peer)))
    return turn % qps_per_peer if qps_per_peer else turn


def _striped(
    size_bytes: NDArray[np.int64], payload: NDArray[np.int64], queue_pairs: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The messages split into as many parts as they have packets, at most ``queue_pairs``; longer parts first.

    Returns
    -------
    whole, size_bytes : i64[parts] each, the message that each part is of, in order, and the part's size.
    """
    packets = np.maximum(1, -(-size_bytes // payload))
    parts = np.minimum(packets, queue_pairs)
    whole = np.repeat(np.arange(len(parts)), parts)
    number = np.arange(len(whole)) - np.repeat(np.cumsum(parts) - parts, parts)
    least, longer = np.divmod(packets, parts)
    first = number * least[whole] + np.minimum(number, longer[whole])
    after = first + least[whole] + (number < longer[whole])
    size = np.minimum(after * payload[whole], size_bytes[whole]) - first * payload[whole]
    return whole, size


def integer_sums(
    index: NDArray[np.int64] | NDArray[np.int32], weight: NDArray[np.int64], length: int
) -> NDArray[np.int64]:
    """Integer sums of ``weight`` by ``index``: ``bincount`` alone would add in floating point."""
    low = np.bincount(index, weight & 0xFFFFFFF, minlength=length).astype(np.int64)
    if len(weight) == 0 or (weight.min() >= 0 and weight.max() <= 0xFFFFFFF):
        return low
    high = np.bincount(index, weight >> 28, minlength=length).astype(np.int64)
    return low + (high << 28)


def distinct(numbers: NDArray[np.int64] | NDArray[np.int32]) -> NDArray[np.int64]:
    """As ``numpy.unique`` of small numbers from 0 on, by counting and not by sorting."""
    return np.flatnonzero(np.bincount(numbers))
