# SPDX-License-Identifier: GPL-2.0-only
"""The table of flows, the check that they start when they are told to, and the sizes by which they are reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.results.check import Check, compare
from astra_py.results.columns import Columns, us
from astra_py.results.message_alone import times_alone

if TYPE_CHECKING:
    from astra_py.results.record import RunRecord

__all__ = ["check_flow_starts", "flows_table"]


def flows_table(record: RunRecord) -> Columns:
    """Columns of the table ``flows``, one row a flow, list after list and each in its own order."""
    columns = record.columns
    message, start = _flows(record)
    time = columns.message_delivered_ps[message] - start
    alone = np.zeros(len(message), dtype=np.int64)
    order = np.argsort(message)
    alone[order] = times_alone(record, message[order]) if len(message) else alone
    packets = np.zeros(len(columns.message_src), dtype=np.int64)
    np.add.at(packets, record.traffic.whole, record.traffic.packets(record.transport))
    instance = columns.message_instance[message]
    return {
        "flow": np.arange(len(message)),
        "job": record.job_names[record.job_of_instance[instance]],
        "collective": instance,
        "src": columns.message_src[message],
        "dst": columns.message_dst[message],
        "size_bytes": columns.message_size_bytes[message],
        "packets": packets[message],
        "retransmitted_packets": columns.message_retransmitted_packets[message],
        "start_us": us(start),
        "time_us": us(time),
        "ideal_time_us": us(alone),
        "slowdown": np.divide(time, alone, out=np.full(len(time), np.nan), where=alone > 0),
        "start_ps": start,
        "time_ps": time,
        "ideal_time_ps": alone,
    }


def check_flow_starts(record: RunRecord) -> Check:
    """Each flow is posted at its start, an endpoint delay after it where there is one, and not a picosecond off."""
    message, start = _flows(record)
    return compare(
        "flow_starts",
        "ps at which flows are posted: their starts",
        start + record.endpoint_delay_ps,
        record.columns.message_posted_ps[message],
        lambda i: (
            f"flow {i}, rank {record.columns.message_src[message[i]]} to {record.columns.message_dst[message[i]]}"
        ),
    )


def _flows(record: RunRecord) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The message of each flow, and when the flow starts by its list in the trace; i64[flows] twice."""
    schedule, columns = record.schedule, record.columns
    is_flow = np.array([template.is_flows for template in schedule.templates] + [False])
    message = np.flatnonzero(is_flow[schedule.instance_template[columns.message_instance]])
    message = message[np.lexsort((columns.message_op[message], columns.message_instance[message]))]
    start = columns.op_start_ps[record.message_parts[0][message]]
    instance = columns.message_instance[message]
    for each in np.unique(instance).tolist():
        flows = record.trace.calls[schedule.instance_call[each]].flows
        assert flows is not None
        mine = instance == each
        start[mine] += flows.start_ps[columns.message_op[message[mine]]]
    return message, start
