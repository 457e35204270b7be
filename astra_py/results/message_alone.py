# SPDX-License-Identifier: GPL-2.0-only
"""How long a message would have taken alone on its way, by closed form: the ideal time of a flow.

Packet k leaves link j at ``F[j][k] = max(F[j-1][k] + d + s, F[j][k-1]) + tau[j][k]``. Written out, F of the last packet
on the last link is the largest sum of serialisation times over all walks through the grid of links and packets that go
to the next link or to the next packet at each step. A message has a first packet (longer by its RETH), a last one
(shorter), and equal ones between them: a walk leaves the first packet at some link p, comes to the last one at some
link q, and between them costs most where all the packets that it has a choice for are taken on the slowest link. So the
maximum over p and q is exact, and no packet is looked at singly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.engines.base import TimeRounding
from astra_py.engines.wire import DATA_HEADER, RETH
from astra_py.platforms.node_kind import NodeKind
from astra_py.results.traffic import SCALE_UP_FLIT, padded, scale_up_bytes

if TYPE_CHECKING:
    from astra_py.results.record import RunRecord

__all__ = ["times_alone"]

Integers = NDArray[np.int64]
_PS_PER_S = 10**12
_PS_PER_NS = 1000


def times_alone(record: RunRecord, messages: Integers) -> Integers:
    """From the post of each of ``messages`` to its last byte's delivery, in ps; i64 of its shape.

    Exact where each packet is stored and forwarded by one link after another. Where packets spread over several links
    side by side, or cut through switches, it is a lower bound: what the slowest links and the delays of the way allow.
    An engine without packets has messages that cut through.

    Parameters
    ----------
    record : the run.
    messages : i64[m], indices of its messages, ascending.

    Notes
    -----
    There are no windows, no congestion control and no acknowledgements here: nothing is in a lone message's way but the
    links. Of a message that is split over queue pairs it is the time of the part that takes longest.
    """
    traffic, transport = record.traffic, record.transport
    wire = traffic.of_whole(messages)
    flow = traffic.flow[wire]
    hops = traffic.hops[flow]
    took = np.zeros(len(wire), dtype=np.int64)
    for count in np.unique(hops):
        rows = np.flatnonzero(hops == count)
        channels = traffic.there[traffic.there_ptr[flow[rows]][:, np.newaxis] + np.arange(count)]
        took[rows] = _fixed(record, channels) + _Way(record, channels, wire[rows]).serial()
    took += transport.send_latency_ps + transport.receive_latency_ps
    longest = np.zeros(len(messages), dtype=np.int64)
    np.maximum.at(longest, np.searchsorted(messages, traffic.whole[wire]), took)
    return longest


def _fixed(record: RunRecord, channels: NDArray[np.int32]) -> Integers:
    """Delays of the links, and latencies of the nodes between them."""
    arrays, (sender, _) = record.arrays, record.channel_ends
    delay = np.repeat(arrays.link_delay_ps, 2)[channels].sum(axis=1)
    fixed: Integers = delay + arrays.node_latency_ps[sender[channels[:, 1:]]].sum(axis=1)
    return fixed


class _Way:
    """Messages whose ways have equally many links; columns are [messages, links]."""

    def __init__(self, record: RunRecord, channels: NDArray[np.int32], wire: Integers) -> None:
        traffic, transport = record.traffic, record.transport
        self.record = record
        self.channels = channels
        self.packets = traffic.packets(transport)[wire]
        payload, size = traffic.payload_bytes(transport)[wire], traffic.size_bytes[wire]
        self.payloads = (np.minimum(payload, size), payload, size - (self.packets - 1) * payload)

    def serial(self) -> Integers:
        """Time on the links."""
        record = self.record
        if not record.has_ports or record.switch.cuts_through:
            return self._cut_through()
        beside = self._beside()
        first, middle, last = (self._tau(payload, is_first=i == 0) for i, payload in enumerate(self.payloads))
        if (beside == 1).all():
            return _stored(first, middle, last, self.packets)
        # the packets that go side by side over links like the last one's are not waited for
        waited = np.maximum(self.packets[:, np.newaxis] - beside, 0) * (middle // np.maximum(beside, 1))
        spread: Integers = np.where(self.packets == 1, first.sum(axis=1), last.sum(axis=1) + waited.max(axis=1))
        return spread

    def _cut_through(self) -> Integers:
        """Time of all packets on the slowest link, or links side by side."""
        first, middle, last = (self._lines(payload, is_first=i == 0) for i, payload in enumerate(self.payloads))
        packets = self.packets[:, np.newaxis]
        line = np.where(packets == 1, first, first + np.maximum(packets - 2, 0) * middle + last)
        if self.record.has_packet_ways:
            rate = self._rates() * np.minimum(self._beside(), 2**20)
        else:
            rate = self.record.group_rate_bps[self.record.channel_group[self.channels]]
        # 8 L 10^12 leaves 64 bits from 1.2 MB on
        bits = (8 * line).astype(object)
        exact = -(-bits * _PS_PER_S // rate)
        slowest: Integers = exact.max(axis=1).astype(np.int64)
        return slowest

    def _beside(self) -> Integers:
        """How many links side by side each link is one of; 2^20 where switches choose for each packet."""
        record = self.record
        if record.has_packet_ways:
            is_switch = record.arrays.node_kind == NodeKind.SWITCH
            sender, receiver = (end[self.channels] for end in record.channel_ends)
            return np.where(is_switch[sender] & is_switch[receiver], 2**20, 1)
        return np.bincount(record.channel_group)[record.channel_group[self.channels]]

    def _rates(self) -> Integers:
        return np.repeat(self.record.arrays.link_rate_bps, 2)[self.channels]

    def _lines(self, payload: Integers, *, is_first: bool) -> Integers:
        """Line bytes of a packet of this payload on each link."""
        transport, efficiency = self.record.transport, self.record.channel_efficiency[self.channels]
        if transport.header_bytes >= 0:
            ethernet = payload + transport.header_bytes + transport.telemetry_bytes
        else:
            ethernet = padded(payload) + DATA_HEADER + transport.telemetry_bytes + (RETH if is_first else 0)
        lines = np.repeat(ethernet[:, np.newaxis], self.channels.shape[1], axis=1)
        parts = np.rint(efficiency * 1e6).astype(np.int64)
        for part in np.unique(parts[parts > 0]):
            flits = scale_up_bytes(np.maximum(payload, SCALE_UP_FLIT), int(part))
            lines = np.where(parts == part, flits[:, np.newaxis], lines)
        return lines

    def _tau(self, payload: Integers, *, is_first: bool) -> Integers:
        """Serialisation time of a packet of this payload on each link."""
        bits, rate = 8 * self._lines(payload, is_first=is_first), self._rates()
        if self.record.transport.time_rounding == TimeRounding.NS_NEAREST:
            doubled = 2 * bits * (_PS_PER_S // _PS_PER_NS)
            nearest: Integers = np.maximum((doubled + rate) // (2 * rate), 1) * _PS_PER_NS
            return nearest
        exact: Integers = -(-bits * _PS_PER_S // rate)
        return exact


def _stored(first: Integers, middle: Integers, last: Integers, packets: Integers) -> Integers:
    """The recurrence's end, from the serialisation times of packets on each link."""
    to_first = np.cumsum(first, axis=1)
    from_last = np.cumsum(last[:, ::-1], axis=1)[:, ::-1]
    links = first.shape[1]
    one = to_first[:, -1]
    two, more = np.zeros_like(one), np.zeros_like(one)
    for p in range(links):
        two = np.maximum(two, to_first[:, p] + from_last[:, p])
        between, slowest = np.zeros_like(one), np.zeros_like(one)
        for q in range(p, links):
            between = between + middle[:, q]
            slowest = np.maximum(slowest, middle[:, q])
            walk = to_first[:, p] + between + np.maximum(packets - 3, 0) * slowest + from_last[:, q]
            more = np.maximum(more, walk)
    return np.select([packets == 1, packets == 2], [one, two], more)
