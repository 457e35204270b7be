# SPDX-License-Identifier: GPL-2.0-only
"""What bounds each collective: the resource that its messages need longest, or what held their senders back.

A resource's share is the time that the collective's messages need of it, one after another, in the collective's
duration; where other collectives are under way, what these need of it meanwhile, too. Where no resource is needed for
most of it, senders may have waited for something else: a window, congestion control, a pause.
That has the time in which the sender that was held longest had something to send, beyond the resource's. What neither
explains is latency: ways, switches, and steps that wait for one another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.results.holds import Hold, Holds
from astra_py.results.traffic import distinct, integer_sums
from astra_py.results.work import PS_PER_BYTE, SharedWork

if TYPE_CHECKING:
    from astra_py.results.record import RunRecord

__all__ = ["Bottleneck", "bottlenecks"]

#: A resource that is needed for so much of the duration bounds it, whatever else holds senders back: while a link is
#: full, their windows are, too. Assumed.
_BINDING = 0.8


@dataclass(frozen=True)
class Bottleneck:
    """What bounds a collective.

    Attributes
    ----------
    kind : ``link``, ``core``, ``copy``, ``pcie``, ``window``, ``congestion``, ``pause`` or ``latency``.
    share : of the duration, from 0 to about 1.
    where : the resource, or the sender that was held; empty for latency.
    """

    kind: str
    share: float
    where: str = ""


def bottlenecks(
    record: RunRecord,
    start_ps: NDArray[np.int64],
    time_ps: NDArray[np.int64],
    ideal_ps: NDArray[np.int64],
    ideal_channel: NDArray[np.int64],
) -> list[Bottleneck | None]:
    """The bottleneck of each instance; None where it has no message or takes no time.

    Parameters
    ----------
    start_ps, time_ps : i64[instances], when each is under way, and how long.
    ideal_ps, ideal_channel : as :func:`~astra_py.results.ideal.ideal_times` gives them.
    """
    # without packets nothing is held back
    needs, holds = _Needs(record), Holds(record) if record.has_ports else None
    instance = record.columns.message_instance
    order = np.argsort(instance, kind="stable")
    first = np.searchsorted(instance[order], np.arange(len(time_ps) + 1))
    is_accompanied = _are_accompanied(start_ps, start_ps + time_ps)
    found: list[Bottleneck | None] = []
    for i, time in enumerate(time_ps.tolist()):
        messages = order[first[i] : first[i + 1]]
        if not len(messages) or not time:
            found.append(None)
            continue
        resources = needs.of(messages, time, int(ideal_ps[i]), int(ideal_channel[i]))
        resource = max(resources, key=lambda each: each.share)
        if resource.share < _BINDING and is_accompanied[i]:
            shared = needs.shared(messages, int(start_ps[i]), time)
            resource = max([resource, *shared], key=lambda each: each.share)
        is_binding = resource.share >= _BINDING
        found.append(resource if is_binding else _beside(resource, holds.longest(messages) if holds else None, time))
    return found


def _are_accompanied(start: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.bool_]:
    """bool[n]: whether another of the intervals overlaps each."""
    started_before = np.searchsorted(np.sort(start), end, side="left")
    ended_before = np.searchsorted(np.sort(end), start, side="right")
    overlapping: NDArray[np.bool_] = started_before - ended_before > 1
    return overlapping


def _beside(resource: Bottleneck, hold: Hold | None, time_ps: int) -> Bottleneck:
    """What is to be named where no resource is needed for most of the time."""
    left = 1.0 - resource.share
    beyond = 0.0 if hold is None else max(0.0, min(hold.time_ps / time_ps, 1.0) - resource.share)
    # of the time in which the resource is not needed, most is spent held back
    if hold is not None and beyond > left / 2:
        return Bottleneck(hold.kind, beyond, hold.where)
    unexplained = left - beyond
    return resource if resource.share >= unexplained else Bottleneck("latency", unexplained)


class _Needs:
    """How long messages need each resource."""

    def __init__(self, record: RunRecord) -> None:
        self._record = record
        self._line_bytes = record.traffic.line_bytes(record.transport, record.channel_efficiency)
        names = record.arrays.class_names
        self._is_pcie = np.array([name == "pcie" for name in names], dtype=bool)[np.repeat(record.arrays.link_class, 2)]

    def of(self, messages: NDArray[np.int64], time_ps: int, ideal_ps: int, ideal_channel: int) -> Iterator[Bottleneck]:
        """The most needed link, core and copies of ``messages``, by their share of ``time_ps``."""
        if self._record.has_packet_ways:
            yield self._ideal_link(messages, time_ps, ideal_ps, ideal_channel)
        else:
            yield self._link(messages, time_ps)
        yield from self._cores(messages, time_ps)
        yield from self._staging(messages, time_ps)

    def _ideal_link(self, messages: NDArray[np.int64], time_ps: int, ideal_ps: int, ideal_channel: int) -> Bottleneck:
        """The link of the ideal time, where packets take any way: its payload, and the headers that come with it."""
        record, on_wire = self._record, self._record.traffic.of_whole(messages)
        line = self._line_bytes.of(on_wire, np.full(len(on_wire), ideal_channel, dtype=np.int32)).sum()
        payload = max(int(record.traffic.size_bytes[on_wire].sum()), 1)
        kind = "pcie" if self._is_pcie[ideal_channel] else "link"
        return Bottleneck(kind, ideal_ps / time_ps * int(line) / payload, record.channel_name(ideal_channel))

    def _link(self, messages: NDArray[np.int64], time_ps: int) -> Bottleneck:
        record, traffic = self._record, self._record.traffic
        on_wire = traffic.of_whole(messages)
        channel = traffic.there[self._hops(traffic.flow[on_wire])]
        line = self._line_bytes.of(np.repeat(on_wire, traffic.hops[traffic.flow[on_wire]]), channel)
        group = record.channel_group[channel]
        groups = distinct(group)
        load = integer_sums(group, line, len(record.group_rate_bps))[groups]
        needed = load * (PS_PER_BYTE / record.group_rate_bps[groups])
        worst = int(np.argmax(needed))
        is_pcie = bool(self._is_pcie[channel[group == groups[worst]]].any())
        return Bottleneck(
            "pcie" if is_pcie else "link", float(needed[worst]) / time_ps, record.group_name(int(groups[worst]))
        )

    def shared(self, messages: NDArray[np.int64], start_ps: int, time_ps: int) -> Iterator[Bottleneck]:
        """Link, core and copies of ``messages`` that all need most from ``start_ps`` on, for ``time_ps``."""
        record, traffic = self._record, self._record.traffic
        if not record.has_packet_ways:
            groups = record.channel_group[traffic.there[self._hops(distinct(traffic.flow[traffic.of_whole(messages)]))]]
            worst, share = self._link_work.most(distinct(groups), start_ps, time_ps)
            kind = "pcie" if self._is_pcie[record.channel_group == worst].any() else "link"
            yield Bottleneck(kind, share, record.group_name(worst))
        mine = self._on_cores(messages)
        if len(mine):
            core, share = self._core_work.most(np.unique(self._core_keys(mine)), start_ps, time_ps)
            yield self._core(core, share, mine)
        copies = self._copies(messages)[0]
        if len(copies):
            yield self._copy(*self._copy_work.most(np.unique(copies), start_ps, time_ps))

    def _hops(self, flows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where the channels of the ways of ``flows`` stand, way after way."""
        traffic = self._record.traffic
        hops = traffic.hops[flows]
        rows: NDArray[np.int64] = np.repeat(traffic.there_ptr[flows] - np.cumsum(hops) + hops, hops)
        return rows + np.arange(hops.sum())

    @cached_property
    def _link_work(self) -> SharedWork:
        record, traffic, columns = self._record, self._record.traffic, self._record.columns
        channel = traffic.there[self._hops(traffic.flow)]
        message = np.repeat(np.arange(len(traffic.size_bytes)), traffic.hops[traffic.flow])
        group, whole = record.channel_group[channel], traffic.whole[message]
        needs = self._line_bytes.of(message, channel) * (PS_PER_BYTE / record.group_rate_bps[group])
        return SharedWork(group, columns.message_posted_ps[whole], columns.message_delivered_ps[whole], needs)

    @cached_property
    def _core_work(self) -> SharedWork:
        columns = self._record.columns
        mine = self._on_cores(np.arange(len(columns.message_src)))
        begin, end = (np.tile(column[mine], 2) for column in (columns.message_posted_ps, columns.message_delivered_ps))
        needs = np.concatenate([columns.message_src_core_ps[mine], columns.message_dst_core_ps[mine]])
        return SharedWork(self._core_keys(mine), begin, end, needs.astype(np.float64))

    def _on_cores(self, messages: NDArray[np.int64]) -> NDArray[np.int64]:
        """Those of ``messages`` that cores worked for."""
        core = self._record.columns.message_src_core
        return messages[core[messages] >= 0] if len(core) else messages[:0]

    def _core_keys(self, messages: NDArray[np.int64]) -> NDArray[np.int64]:
        """Machine and core of each message's sender, and then of each one's receiver, in a number."""
        columns, machine = self._record.columns, self._record.arrays.rank_machine.astype(np.int64)
        ends = ((columns.message_src, columns.message_src_core), (columns.message_dst, columns.message_dst_core))
        return np.concatenate([machine[rank[messages]] << 32 | core[messages] for rank, core in ends])

    def _cores(self, messages: NDArray[np.int64], time_ps: int) -> Iterator[Bottleneck]:
        mine = self._on_cores(messages)
        if len(mine):
            columns = self._record.columns
            cores, of_core = np.unique(self._core_keys(mine), return_inverse=True)
            busy = np.concatenate([columns.message_src_core_ps[mine], columns.message_dst_core_ps[mine]])
            busy = integer_sums(of_core, busy, len(cores))
            worst = int(np.argmax(busy))
            yield self._core(int(cores[worst]), int(busy[worst]) / time_ps, mine)

    def _core(self, core: int, share: float, messages: NDArray[np.int64]) -> Bottleneck:
        """A core, by what it mostly does for ``messages``."""
        columns, is_here = self._record.columns, self._core_keys(messages) == core
        busy = np.concatenate([columns.message_src_core_ps[messages], columns.message_dst_core_ps[messages]])[is_here]
        # a message is copied at both its ends alike
        copies = np.tile(columns.message_copy_ps[messages] // 2, 2)[is_here]
        kind = "copy" if 2 * copies.sum() > busy.sum() else "core"
        return Bottleneck(kind, share, f"core {core & 0xFFFFFFFF} of machine {core >> 32}")

    def _staging(self, messages: NDArray[np.int64], time_ps: int) -> Iterator[Bottleneck]:
        ranks, needs = self._copies(messages)
        if len(ranks):
            copies, of_copy = np.unique(ranks, return_inverse=True)
            needed = np.bincount(of_copy, weights=needs)
            worst = int(np.argmax(needed))
            yield self._copy(int(copies[worst]), float(needed[worst]) / time_ps)

    def _copies(self, messages: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Of the copies of ``messages`` to the hosts, and then of those from them: 2 x rank, and 1 more in; and ps."""
        mine, (is_out, is_in) = self._staged(messages)
        columns, host = self._record.columns, self._record.transport.host
        rate = host.staging_rate_bps if host is not None else 1
        ranks = (2 * columns.message_src[mine][is_out], 2 * columns.message_dst[mine][is_in] + 1)
        size = columns.message_size_bytes[mine]
        return np.concatenate(ranks).astype(np.int64), np.concatenate([size[is_out], size[is_in]]) * (
            PS_PER_BYTE / rate
        )

    def _staged(
        self, messages: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
        """Those of ``messages`` on Ethernet, and which of them are copied to their sender's host, and from one."""
        columns, traffic = self._record.columns, self._record.traffic
        is_staged = np.zeros(self._record.schedule.ranks, dtype=bool)
        is_staged[columns.staging_rank] = True
        mine = messages[~traffic.is_message_scale_up[np.searchsorted(traffic.whole, messages)]]
        return mine, (is_staged[columns.message_src[mine]], is_staged[columns.message_dst[mine]])

    @cached_property
    def _copy_work(self) -> SharedWork:
        columns = self._record.columns
        messages = np.arange(len(columns.message_src))
        mine, (is_out, is_in) = self._staged(messages)
        copies, needs = self._copies(messages)
        begin, end = (
            np.concatenate([column[mine][is_out], column[mine][is_in]])
            for column in (columns.message_posted_ps, columns.message_delivered_ps)
        )
        return SharedWork(copies, begin, end, needs)

    @staticmethod
    def _copy(copy: int, share: float) -> Bottleneck:
        return Bottleneck("pcie", share, f"copies {'in' if copy % 2 else 'out'} of rank {copy // 2}")
