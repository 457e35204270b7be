# SPDX-License-Identifier: GPL-2.0-only
"""The ideal time of a collective: its most loaded link sends its payload at full rate, and nothing else takes time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

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
    flows, of_message = np.unique(traffic.flow[messages], return_inverse=True)
    flow_bytes = np.zeros(len(flows), dtype=np.int64)
    np.add.at(flow_bytes, of_message, traffic.size_bytes[messages])
    hops = traffic.hops[flows]
    at = np.repeat(traffic.there_ptr[flows] - np.cumsum(hops) + hops, hops) + np.arange(hops.sum())
    channels, of_hop = np.unique(traffic.there[at], return_inverse=True)
    load = np.zeros(len(channels), dtype=np.int64)
    np.add.at(load, of_hop, np.repeat(flow_bytes, hops))
    rate = record.arrays.link_rate_bps[channels // 2]
    worst = int(np.argmax(load / rate))
    return -(-8 * int(load[worst]) * 10**12 // int(rate[worst])), int(channels[worst])
