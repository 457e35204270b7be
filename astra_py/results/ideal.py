# SPDX-License-Identifier: GPL-2.0-only
"""The ideal time of a collective: its most loaded link sends its payload at full rate, and nothing else takes time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.platforms.node_kind import NodeKind
from astra_py.results.traffic import distinct, integer_sums

if TYPE_CHECKING:
    from astra_py.results.record import RunRecord

__all__ = ["ideal_times"]


def ideal_times(record: RunRecord) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Ideal time in ps, rounded up, and bottleneck channel (-1: no message) of each instance; both i64[instances]."""
    schedule = record.schedule
    instance = record.columns.message_instance
    order = np.argsort(instance, kind="stable")
    first = np.searchsorted(instance[order], np.arange(len(schedule.instance_call) + 1))
    # with one queue pair to a peer, equal collectives take equal ways
    is_shared = record.transport.qps_per_peer == 1
    known: dict[tuple[int, int], tuple[int, int]] = {}
    time = np.zeros(len(schedule.instance_call), dtype=np.int64)
    channel = np.full(len(schedule.instance_call), -1, dtype=np.int64)
    for i in range(len(time)):
        key = (int(schedule.instance_template[i]), int(schedule.instance_group[i]))
        if not is_shared or key not in known:
            known[key] = _most_loaded(record, order[first[i] : first[i + 1]])
        time[i], channel[i] = known[key]
    return time, channel


def _most_loaded(record: RunRecord, messages: NDArray[np.int64]) -> tuple[int, int]:
    traffic = record.traffic
    if not len(messages):
        return 0, -1
    messages = traffic.of_whole(messages)
    flow = traffic.flow[messages]
    flows = distinct(flow)
    flow_bytes = integer_sums(flow, traffic.size_bytes[messages], len(traffic.hops))[flows]
    hops = traffic.hops[flows]
    at = np.repeat(traffic.there_ptr[flows] - np.cumsum(hops) + hops, hops) + np.arange(hops.sum())
    channels = distinct(traffic.there[at])
    load = integer_sums(traffic.there[at], np.repeat(flow_bytes, hops), len(record.channel_group))[channels]
    if record.has_packet_ways:
        return max(_most_loaded_node(record, channels, load, end) for end in record.channel_ends)
    # channels of a group carry together what goes over any of them
    groups, first, of_channel = np.unique(record.channel_group[channels], return_index=True, return_inverse=True)
    loads, rate = integer_sums(of_channel, load, len(groups)), record.group_rate_bps[groups]
    worst = int(np.argmax(loads / rate))
    return _ideal_ps(int(loads[worst]), int(rate[worst])), int(channels[first[worst]])


def _most_loaded_node(
    record: RunRecord, channels: NDArray[np.int64], load: NDArray[np.int64], end: NDArray[np.int32]
) -> tuple[int, int]:
    """As :func:`_most_loaded`, where switches choose for each packet: a node's alike channels are one together.

    Only nodes other than switches are looked at, since switches choose any of their channels.
    """
    arrays = record.arrays
    kinds, kind = np.unique(record.channel_efficiency, return_inverse=True)
    group = end.astype(np.int64) * len(kinds) + kind
    groups = len(arrays.node_kind) * len(kinds)
    rate = integer_sums(group, np.repeat(arrays.link_rate_bps, 2), groups)
    is_chosen_from = arrays.node_kind[end[channels]] != NodeKind.SWITCH
    loads = integer_sums(group[channels[is_chosen_from]], load[is_chosen_from], groups)
    # without bytes all are alike, but a node without links of a kind has no rate of that kind
    candidates = np.unique(group[channels[is_chosen_from]])
    worst = int(candidates[np.argmax(loads[candidates] / rate[candidates])])
    return _ideal_ps(int(loads[worst]), int(rate[worst])), int(np.flatnonzero(group == worst)[0])


def _ideal_ps(size_bytes: int, rate_bps: int) -> int:
    return -(-8 * size_bytes * 10**12 // rate_bps)
