# SPDX-License-Identifier: GPL-2.0-only
"""What bounds each collective: the resource that its messages need longest, or what held their senders back.

A resource's share is the time that the collective's messages need of it, one after another, in the collective's
duration; of a link, where other collectives are under way, what these need of it meanwhile, too. Where no resource is
needed for most of it, senders may have waited for something else: a window, congestion control, a pause. That has the
time in which the sender that was held longest had something to send, beyond the resource's. What neither explains is
latency: ways, switches, and steps that wait for one another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.results.holds import Hold, Holds
from astra_py.results.traffic import integer_sums
from astra_py.results.work import PS_PER_BYTE, Work

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
        if resource.share < _BINDING and is_accompanied[i] and not record.has_packet_ways:
            resource = max(resource, needs.shared_link(messages, int(start_ps[i]), time), key=lambda each: each.share)
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
        self._work: dict[int, Work] = {}
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
        hops = traffic.hops[traffic.flow[on_wire]]
        at = np.repeat(traffic.there_ptr[traffic.flow[on_wire]] - np.cumsum(hops) + hops, hops) + np.arange(hops.sum())
        channel = traffic.there[at]
        line = self._line_bytes.of(np.repeat(on_wire, hops), channel)
        group = record.channel_group[channel]
        groups, of_group = np.unique(group, return_inverse=True)
        load = integer_sums(of_group, line, len(groups))
        needed = load * (PS_PER_BYTE / record.group_rate_bps[groups])
        worst = int(np.argmax(needed))
        is_pcie = bool(self._is_pcie[channel[of_group == worst]].any())
        return Bottleneck(
            "pcie" if is_pcie else "link", float(needed[worst]) / time_ps, record.group_name(int(groups[worst]))
        )

    def shared_link(self, messages: NDArray[np.int64], start_ps: int, time_ps: int) -> Bottleneck:
        """The link on the messages' ways that they and others need most from ``start_ps`` on, for ``time_ps``."""
        record, traffic = self._record, self._record.traffic
        flows = np.unique(traffic.flow[traffic.of_whole(messages)])
        hops = traffic.hops[flows]
        at = np.repeat(traffic.there_ptr[flows] - np.cumsum(hops) + hops, hops) + np.arange(hops.sum())
        groups = np.unique(record.channel_group[traffic.there[at]]).tolist()
        window = np.array([start_ps]), np.array([start_ps + time_ps])
        worst = max(groups, key=lambda group: self._work_of(group).during(*window))
        kind = "pcie" if self._is_pcie[record.channel_group == worst].any() else "link"
        return Bottleneck(kind, self._work_of(worst).during(*window) / time_ps, record.group_name(worst))

    @cached_property
    def _group_rows(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Of each message and link of its way, by groups of links: group, message, time that it needs of the group."""
        record, traffic = self._record, self._record.traffic
        every = np.arange(len(traffic.size_bytes))
        hops = traffic.hops[traffic.flow]
        at = np.repeat(traffic.there_ptr[traffic.flow] - np.cumsum(hops) + hops, hops) + np.arange(hops.sum())
        channel, message = traffic.there[at], np.repeat(every, hops)
        group = record.channel_group[channel]
        needs = self._line_bytes.of(message, channel) * (PS_PER_BYTE / record.group_rate_bps[group])
        order = np.argsort(group, kind="stable")
        return group[order], message[order], needs[order]

    def _work_of(self, group: int) -> Work:
        if group not in self._work:
            groups, message, needs = self._group_rows
            rows = slice(np.searchsorted(groups, group), np.searchsorted(groups, group, side="right"))
            whole, columns = self._record.traffic.whole[message[rows]], self._record.columns
            self._work[group] = Work(columns.message_posted_ps[whole], columns.message_delivered_ps[whole], needs[rows])
        return self._work[group]

    def _cores(self, messages: NDArray[np.int64], time_ps: int) -> Iterator[Bottleneck]:
        columns, machine = self._record.columns, self._record.arrays.rank_machine
        if not len(columns.message_src_core):
            return
        mine = messages[columns.message_src_core[messages] >= 0]
        if not len(mine):
            return
        key = np.concatenate(
            [
                machine[columns.message_src[mine]].astype(np.int64) << 32 | columns.message_src_core[mine],
                machine[columns.message_dst[mine]].astype(np.int64) << 32 | columns.message_dst_core[mine],
            ]
        )
        cores, of_core = np.unique(key, return_inverse=True)
        busy = np.concatenate([columns.message_src_core_ps[mine], columns.message_dst_core_ps[mine]])
        # a message is copied at both its ends alike
        copies = np.tile(columns.message_copy_ps[mine] // 2, 2)
        busy, copies = (integer_sums(of_core, column, len(cores)) for column in (busy, copies))
        worst = int(np.argmax(busy))
        where = f"core {cores[worst] & 0xFFFFFFFF} of machine {cores[worst] >> 32}"
        kind = "copy" if 2 * copies[worst] > busy[worst] else "core"
        yield Bottleneck(kind, int(busy[worst]) / time_ps, where)

    def _staging(self, messages: NDArray[np.int64], time_ps: int) -> Iterator[Bottleneck]:
        columns, host = self._record.columns, self._record.transport.host
        if host is None or not len(columns.staging_rank):
            return
        is_staged = np.zeros(self._record.schedule.ranks, dtype=bool)
        is_staged[columns.staging_rank] = True
        traffic = self._record.traffic
        on_ethernet = messages[~traffic.is_message_scale_up[np.searchsorted(traffic.whole, messages)]]
        for way, rank in (("out", columns.message_src), ("in", columns.message_dst)):
            mine = on_ethernet[is_staged[rank[on_ethernet]]]
            load = integer_sums(rank[mine], columns.message_size_bytes[mine], self._record.schedule.ranks)
            worst = int(np.argmax(load))
            needed = int(load[worst]) * (PS_PER_BYTE / host.staging_rate_bps)
            yield Bottleneck("pcie", needed / time_ps, f"copies {way} of rank {worst}")
