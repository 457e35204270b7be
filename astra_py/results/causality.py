# SPDX-License-Identifier: GPL-2.0-only
"""Checks that causes come before effects: dependencies, the moments of a message, and the speed of the links."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.schedule import EdgeOn
from astra_py.engines.base import TimeRounding
from astra_py.results.check import Check

if TYPE_CHECKING:
    from astra_py.collectives.schedule import Template
    from astra_py.results.record import RunRecord

__all__ = ["check_dependencies", "check_moments", "check_speed", "message_edges"]


def message_edges(
    template: Template,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8], NDArray[np.int64]]:
    """What each message waits for, in messages: local operations between two messages become time between them.

    Returns
    -------
    after, before, on, delay_ps : one row an edge: message ``after`` is posted no earlier than ``delay_ps`` after moment
        ``on`` (:class:`EdgeOn`) of message ``before``; both index the template's operations.
    """
    is_send = template.is_send
    waits = np.diff(template.dep_ptr)
    after = np.repeat(np.arange(len(template)), waits)
    before, on = template.dep_op.astype(np.int64), template.dep_on
    keep = is_send[after]
    after, before, on = after[keep], before[keep], on[keep]
    delay = template.duration_ps[after]
    found: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8], NDArray[np.int64]]] = []
    while len(after):
        direct = is_send[before]
        found.append((after[direct], before[direct], on[direct], delay[direct]))
        after, before, delay = after[~direct], before[~direct], delay[~direct] + template.duration_ps[before[~direct]]
        # a local operation is replaced by what it waits for itself
        count = waits[before]
        at = np.repeat(template.dep_ptr[before] - np.cumsum(count) + count, count) + np.arange(count.sum())
        after, delay = np.repeat(after, count), np.repeat(delay, count)
        before, on = template.dep_op[at].astype(np.int64), template.dep_on[at]
        # many ways lead through the gates of chunks from one message to another: the longest is enough
        key = (after * len(template) + before) * len(EdgeOn) + on
        order = np.lexsort((delay, key))
        last = np.append(np.diff(key[order]) != 0, True)[: len(order)]
        kept = order[last]
        after, before, on, delay = after[kept], before[kept], on[kept], delay[kept]
    if not found:
        return after, before, on, delay
    return tuple(np.concatenate(column) for column in zip(*found, strict=True))  # type: ignore[return-value]


def check_dependencies(record: RunRecord) -> Check:
    """No operation, message or end of a part before what it waits for."""
    trace, columns = record.trace, record.columns
    after = np.repeat(np.arange(len(trace)), np.diff(trace.dep_ptr))
    early = columns.op_start_ps[after] < columns.op_end_ps[trace.dep_node]
    edges, violations = len(after), [f"operation {i} starts before one it waits for ended" for i in after[early][:1]]
    wrong = int(early.sum())
    for count, bad, example in (_inside(record), _parts(record)):
        edges, wrong = edges + count, wrong + bad
        violations += example
    return _verdict("dependencies", "nothing starts before what it waits for", edges, wrong, violations)


def _inside(record: RunRecord) -> tuple[int, int, list[str]]:
    """Edges between messages of one collective: how many, how many broken, and one of these."""
    schedule, columns = record.schedule, record.columns
    moments = np.stack([columns.message_sent_ps, columns.message_delivered_ps, columns.message_acked_ps])
    late = np.array([0, record.endpoint_delay_ps, record.endpoint_delay_ps])
    row = record.message_row
    edges, wrong = 0, 0
    example: list[str] = []
    for number, template in enumerate(schedule.templates):
        after, before, on, delay = message_edges(template)
        for instance in np.flatnonzero(schedule.instance_template == number):
            first = record.first_row[instance]
            effect, cause = row[first + after], row[first + before]
            # where one of the two is of an alternative that was not picked, nobody waits
            broken = columns.message_posted_ps[effect] < moments[on, cause] + late[on] + delay
            broken &= (effect >= 0) & (cause >= 0)
            edges, wrong = edges + len(after), wrong + int(broken.sum())
            if broken.any() and not example:
                at = int(np.flatnonzero(broken)[0])
                moment = EdgeOn(int(on[at])).name.lower()
                example = [f"message {effect[at]} is posted before message {cause[at]} is {moment}"]
    return edges, wrong, example


def _parts(record: RunRecord) -> tuple[int, int, list[str]]:
    """Messages against the parts of their two ranks: none before its sender joined, none after its parts' ends."""
    schedule, columns = record.schedule, record.columns
    sender, receiver = record.message_parts
    notify_on = np.array([t.notify_on for t in schedule.templates], dtype=np.int64)[schedule.instance_template]
    is_late = notify_on[columns.message_instance] == EdgeOn.ACKED
    told = np.where(is_late, columns.message_acked_ps, columns.message_delivered_ps) + record.endpoint_delay_ps
    delay = record.of_message([template.duration_ps for template in schedule.templates])
    early = columns.message_posted_ps < columns.op_start_ps[sender] + record.endpoint_delay_ps + delay
    left = (columns.op_end_ps[sender] < columns.message_sent_ps) | (columns.op_end_ps[receiver] < told)
    example = [f"message {i} is posted before its sender has joined" for i in np.flatnonzero(early)[:1]]
    example += [f"message {i} outlasts a part it belongs to" for i in np.flatnonzero(left)[:1]]
    return 3 * len(sender), int(early.sum() + left.sum()), example


def check_moments(record: RunRecord) -> Check:
    """Each message is posted, sent, delivered and acknowledged in this order.

    TCP acknowledges what came to a socket, which its application may not have read yet.
    """
    columns = record.columns
    arrived = columns.message_delivered_ps - record.transport.receive_latency_ps
    acked = columns.message_acked_ps
    wrong = (columns.message_posted_ps > columns.message_sent_ps) | (columns.message_sent_ps > arrived)
    wrong |= (acked >= 0) & (acked < (arrived if record.transport.tcp is None else columns.message_sent_ps))
    example = [f"message {i}" for i in np.flatnonzero(wrong)[:1]]
    return _verdict(
        "moments", "messages posted, sent, delivered, acknowledged in this order", len(wrong), int(wrong.sum()), example
    )


def check_speed(record: RunRecord) -> Check:
    """No message is faster than its payload at the slowest link's rate and the delays of its way."""
    traffic, arrays, columns, transport = record.traffic, record.arrays, record.columns, record.transport
    channel = traffic.there
    start = traffic.there_ptr[:-1]
    sender, _ = record.channel_ends
    is_first = np.zeros(len(channel), dtype=bool)
    is_first[start] = True
    # packets may take another channel of a group, and several side by side
    group = record.channel_group
    delay = np.full(len(record.group_rate_bps), np.iinfo(np.int64).max)
    np.minimum.at(delay, group, np.repeat(arrays.link_delay_ps, 2))
    latency = np.where(is_first, 0, arrays.node_latency_ps[sender[channel]]) + delay[group[channel]]
    if not len(channel):
        return _verdict("speed", "no message faster than its links", 0, 0, [])
    slowest = np.minimum.reduceat(record.group_rate_bps[group[channel]], start)[traffic.flow]
    fixed = np.add.reduceat(latency, start)[traffic.flow] + transport.send_latency_ps + transport.receive_latency_ps
    serial = traffic.size_bytes * 8e12 / slowest
    if record.has_packet_ways:
        # packets go side by side, over links that may differ from these: what is left is the fastest of them
        fixed = traffic.hops[traffic.flow] * arrays.link_delay_ps.min()
        serial = np.zeros(len(serial))
    if transport.time_rounding == TimeRounding.NS_NEAREST:
        serial -= 500.0 * traffic.packets(transport)
    took = (columns.message_delivered_ps - columns.message_posted_ps)[traffic.whole]
    # the bound is in floating point: a part in 10^12 is its rounding, not a faster message
    wrong = took < (serial + fixed) * (1 - 1e-12) - columns.clock_ps
    example = [f"message {traffic.whole[i]}: {took[i]:,} ps" for i in np.flatnonzero(wrong)[:1]]
    return _verdict("speed", "no message faster than its links", len(wrong), int(wrong.sum()), example)


def _verdict(name: str, meaning: str, cases: int, wrong: int, example: list[str]) -> Check:
    where = f"{wrong:,} are not; first: {example[0]}" if wrong else ""
    return Check(name, meaning, cases, cases - wrong, not wrong, where)
