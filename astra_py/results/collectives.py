# SPDX-License-Identifier: GPL-2.0-only
"""The table of collectives: each one's time beside what it would ideally, and analytically, have been."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.bandwidth import algorithm_bytes, bus_bytes
from astra_py.collectives.schedule import OuterKind
from astra_py.results.alone import AloneTimes
from astra_py.results.bottleneck import bottlenecks
from astra_py.results.columns import Columns, us
from astra_py.results.ideal import ideal_times
from astra_py.results.traffic import integer_sums

if TYPE_CHECKING:
    from astra_py.results.record import RunRecord

__all__ = ["collectives_table"]


@dataclass(frozen=True, eq=False)
class _Spans:
    """When each collective was under way: i64[instances]; ``last`` is the operation of the rank that ended last."""

    start: NDArray[np.int64]
    last_join: NDArray[np.int64]
    end: NDArray[np.int64]
    last: NDArray[np.int64]


def collectives_table(record: RunRecord) -> Columns:
    """Columns of the table ``collectives``, one row an instance, in the order of the schedule's instances."""
    schedule = record.schedule
    calls = [record.trace.calls[i] for i in schedule.instance_call]
    templates = [schedule.templates[i] for i in schedule.instance_template]
    spans = _spans(record)
    time = spans.end - spans.start
    size = np.array([algorithm_bytes(call.kind, call.payload) for call in calls], dtype=np.int64)
    on_bus = [float(bus_bytes(call.kind, len(call.group), call.payload)) for call in calls]
    sent = [
        int(np.bincount(t.src, t.data_bytes * (t.is_send & t.is_counted), t.ranks).max(initial=0))
        for t in schedule.templates
    ]
    control = [
        int((template.size_bytes - template.data_bytes)[is_picked].sum())
        for template, is_picked in zip(templates, record.is_picked, strict=True)
    ]
    ideal, bottleneck = ideal_times(record)
    analytic = AloneTimes(record).per_instance()
    bounds = bottlenecks(record, spans.start, time, ideal, bottleneck)
    return {
        "collective": np.arange(len(calls)),
        "name": _text(call.name for call in calls),
        "job": record.job_names[record.job_of_instance],
        "kind": _text(call.kind for call in calls),
        "algorithm": _text(template.algorithm for template in templates),
        "protocol": _text(template.protocol for template in templates),
        "iteration": np.array([call.iteration for call in calls], dtype=np.int64),
        "ranks": np.array([len(call.group) for call in calls], dtype=np.int64),
        "size_bytes": size,
        "sent_bytes": np.array(sent, dtype=np.int64)[schedule.instance_template],
        "control_bytes": np.array(control, dtype=np.int64),
        "start_us": us(spans.start),
        "time_us": us(time),
        "skew_us": us(spans.last_join - spans.start),
        "algbw_GBps": _ratio(size * 1000.0, time),
        "busbw_GBps": _ratio(np.array(on_bus) * 1000.0, time),
        "ideal_time_us": us(ideal),
        "bottleneck_link": _text(record.channel_name(c) if c >= 0 else "" for c in bottleneck.tolist()),
        "analytic_time_us": us(analytic),
        "ratio": _ratio(time, analytic),
        "exposed_us": us(_exposed(record, spans.last)),
        "bottleneck": _text(each.kind if each else "" for each in bounds),
        "bottleneck_percent": np.array([100 * each.share if each else np.nan for each in bounds], dtype=np.float64),
        "bottleneck_at": _text(each.where if each else "" for each in bounds),
        "retransmitted_packets": integer_sums(
            record.columns.message_instance, record.columns.message_retransmitted_packets, len(calls)
        ),
        "time_ps": time,
        "ideal_time_ps": ideal,
        "analytic_time_ps": analytic,
    }


def _text(values: Iterable[str]) -> NDArray[np.object_]:
    return np.array(list(values), dtype=np.object_)


def _ratio(above: NDArray[Any], below: NDArray[np.int64]) -> NDArray[np.float64]:
    ratio = np.full(len(below), np.nan)
    np.divide(above, below, out=ratio, where=below > 0)
    return ratio


def _spans(record: RunRecord) -> _Spans:
    schedule, columns = record.schedule, record.columns
    parts = np.flatnonzero(schedule.kind == OuterKind.COLLECTIVE)
    instance, start, end = schedule.instance[parts], columns.op_start_ps[parts], columns.op_end_ps[parts]
    # within an instance, the part that ends last stands last; of equals, the one of the lowest rank
    order = np.lexsort((-schedule.rank[parts].astype(np.int64), end, instance))
    last = order[np.append(np.flatnonzero(np.diff(instance[order])), len(order) - 1)] if len(order) else order
    first_join = np.full(len(schedule.instance_call), np.iinfo(np.int64).max)
    last_join = np.full(len(schedule.instance_call), -1)
    np.minimum.at(first_join, instance, start)
    np.maximum.at(last_join, instance, start)
    return _Spans(first_join, last_join, end[last], parts[last])


def _exposed(record: RunRecord, op: NDArray[np.int64]) -> NDArray[np.int64]:
    """How long each of the participations ``op`` is under way while its rank does not compute."""
    start, end, rank = record.columns.op_start_ps[op], record.columns.op_end_ps[op], record.schedule.rank[op]
    exposed = end - start
    for each in np.unique(rank):
        mine = rank == each
        exposed[mine] -= record.busy(int(each), OuterKind.COMPUTE).covered(start[mine], end[mine])
    return exposed
