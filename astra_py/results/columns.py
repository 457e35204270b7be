# SPDX-License-Identifier: GPL-2.0-only
"""Every table a run leaves behind: its columns, their types and what they mean, declared once.

Building, saving, reading and the documentation all go by these declarations, so that a table on disk is the table in
memory and no column is without a meaning. Times are given twice where they are measured: as integer picoseconds
(``*_ps``), exact, and as microseconds (``*_us``), to read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["TABLES", "Column", "Columns", "to_dataframe", "us"]

#: A table before it is a DataFrame: column name to values, in order.
Columns = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Column:
    """A column of a public table.

    Attributes
    ----------
    name : ends in the unit where there is one.
    dtype : pandas' name of the type: "int64", "float64" or "str".
    meaning : one line, as the documentation prints it.
    """

    name: str
    dtype: str
    meaning: str


def us(time_ps: NDArray[np.int64]) -> NDArray[np.float64]:
    """Picoseconds as microseconds; a moment that never came (-1) is NaN."""
    return np.where(time_ps < 0, np.nan, time_ps / 1e6)


def _int(name: str, meaning: str) -> Column:
    return Column(name, "int64", meaning)


def _float(name: str, meaning: str) -> Column:
    return Column(name, "float64", meaning)


def _text(name: str, meaning: str) -> Column:
    return Column(name, "str", meaning)


TABLES: Mapping[str, tuple[Column, ...]] = {
    "iterations": (
        _text("job", "job it is of; empty where there is one job"),
        _int("iteration", "number of the iteration, from 0"),
        _int("rank", "the rank these figures are of: the one that ends the run (the lowest of equals)"),
        _float("start_us", "end of the iteration before, or the run's start; its first work may have begun earlier"),
        _float("time_us", "until the last operation of the iteration ends on the rank; adds up to the run"),
        _float("compute_us", "time in which it computes (union of the iteration's compute operations)"),
        _float("communication_us", "time in which it has a collective of the iteration under way (union)"),
        _float("exposed_us", "exposed communication: time_us - compute_us"),
        _float("exposed_percent", "exposed_us in time_us"),
        _float("memory_us", "time in which only memory work of the iteration (such as an update delay) is under way"),
        _float("fastest_rank_time_us", "time_us of the rank with the shortest iteration"),
        _float("slowest_rank_time_us", "time_us of the rank with the longest iteration"),
        _int("time_ps", "time_us, exact"),
    ),
    "collectives": (
        _int("collective", "index of the collective in the run; operations and messages refer to it"),
        _text("name", "the workload's name for it"),
        _text("job", "job it is of; empty where there is one job"),
        _text("kind", "all_reduce, all_to_all, ..., or flows"),
        _text("algorithm", "ring, direct, ..."),
        _text("protocol", "the collective library's protocol whose costs are in it; empty without"),
        _int("iteration", "iteration it belongs to"),
        _int("ranks", "ranks in its group"),
        _int(
            "size_bytes", "nccl-tests' size: per-rank buffer; whole array of all-gather and reduce-scatter; all flows"
        ),
        _int("sent_bytes", "data sent by the rank that sends most"),
        _int("control_bytes", "clear-to-send messages and a protocol's flags, of all its messages together"),
        _float("start_us", "the first rank joins"),
        _float("time_us", "from the first rank's joining to the last rank's end"),
        _float("skew_us", "from the first rank's joining to the last rank's joining"),
        _float("algbw_GBps", "size_bytes / time (GB = 10^9 B)"),
        _float("busbw_GBps", "algbw times nccl-tests' factor of the kind"),
        _float("ideal_time_us", "largest over links of the collective's payload bytes / rate, on the routes used"),
        _text("bottleneck_link", "the link of that largest time, from -> to"),
        _float("analytic_time_us", "the analytic engine's time for this collective alone, all ranks joining at once"),
        _float("ratio", "time / analytic time"),
        _float("exposed_us", "on the rank that ends last: part of its own participation in which it does not compute"),
        _text("bottleneck", "what bounds it: link, core, copy, pcie, window, congestion, pause or latency"),
        _float("bottleneck_percent", "how much of time_us it is needed for, or holds the sender that it holds longest"),
        _text("bottleneck_at", "that resource, or that sender"),
        _int("retransmitted_packets", "packets of its messages that were sent again"),
        _int("time_ps", "time_us, exact"),
        _int("ideal_time_ps", "ideal_time_us, rounded up"),
        _int("analytic_time_ps", "analytic_time_us, exact"),
    ),
    "phases": (
        _int("collective", "row of collectives it is a phase of"),
        _text("name", "the workload's name for the collective"),
        _text("kind", "all_reduce, all_to_all, ..."),
        _int("iteration", "iteration the collective belongs to"),
        _text("phase", "the algorithm's name for the phase"),
        _text("level", "inside: messages within machines; between: from one machine to another"),
        _int("ranks", "ranks in the collective's group"),
        _int("messages", "messages of the phase on this level"),
        _int("size_bytes", "their payload together"),
        _int("bytes_per_rank_max", "payload sent by the rank that sends most"),
        _int("bytes_per_rank_min", "payload sent by the rank that sends least; 0 where one of the group sends nothing"),
        _float("start_us", "the first of them is posted"),
        _float("end_us", "the last of them is delivered"),
        _float("time_us", "from the first one's posting to the last one's delivery"),
        _int("start_ps", "start_us, exact"),
        _int("end_ps", "end_us, exact"),
        _int("time_ps", "time_us, exact"),
    ),
    "operations": (
        _int("operation", "index of the operation in the run"),
        _text("name", "the workload's name for it"),
        _text("job", "job it is of; empty where there is one job"),
        _text("kind", "compute, collective (one rank's part) or memory"),
        _int("rank", "rank that runs it"),
        _int("iteration", "iteration it belongs to"),
        _text("stream", "stream of its rank that it is in, one at a time; empty where it is in none"),
        _text("phase", "phase of the training step"),
        _int("collective", "row of collectives it takes part in; -1 for local work"),
        _float("start_us", "start; of a collective, when the rank joins"),
        _float("end_us", "end; of a collective, when the rank's part is done"),
        _int("start_ps", "start_us, exact"),
        _int("end_ps", "end_us, exact"),
    ),
    "messages": (
        _int("message", "number of the message, in order of posting"),
        _int("collective", "row of collectives it belongs to"),
        _int("src", "sending rank"),
        _int("dst", "receiving rank"),
        _int("size_bytes", "payload"),
        _int("control_bytes", "what of it is a protocol's and no data"),
        _int("phase", "phase of the collective's algorithm"),
        _int("chunk", "chunk of the collective's buffer"),
        _float("posted_us", "given to the NIC"),
        _float("sent_us", "last byte left the sender"),
        _float("delivered_us", "last byte at the receiver"),
        _float("acked_us", "last acknowledgement back at the sender"),
        _int("retransmitted_packets", "packets sent again"),
        _int("posted_ps", "posted_us, exact"),
        _int("sent_ps", "sent_us, exact"),
        _int("delivered_ps", "delivered_us, exact"),
        _int("acked_ps", "acked_us, exact; -1 where nothing is acknowledged"),
    ),
    "pairs": (
        _int("src", "sending rank"),
        _int("dst", "receiving rank"),
        _int("messages", "messages of the pair"),
        _int("size_bytes", "their payload together"),
        _int("packets", "packets they are cut into"),
        _int("retransmitted_packets", "packets sent again"),
        _float("first_posted_us", "first message given to the NIC"),
        _float("last_delivered_us", "last message delivered"),
        _float("mean_message_us", "mean of delivered - posted"),
        _float("max_message_us", "largest delivered - posted"),
    ),
    "flows": (
        _int("flow", "number of the flow, by list and in the list's order"),
        _text("job", "job whose list it is in; empty where there is one job"),
        _int("collective", "row of collectives that is its list"),
        _int("src", "sending rank"),
        _int("dst", "receiving rank"),
        _int("size_bytes", "payload"),
        _int("packets", "packets it is cut into"),
        _int("retransmitted_packets", "packets sent again"),
        _float("start_us", "start, as its list declares it"),
        _float("time_us", "flow completion time: from its start to the last byte's delivery"),
        _float("ideal_time_us", "what that is alone on its way, without windows, control and acknowledgements"),
        _float("slowdown", "time / ideal time"),
        _int("start_ps", "start_us, exact"),
        _int("time_ps", "time_us, exact"),
        _int("ideal_time_ps", "ideal_time_us, exact"),
    ),
    "flow_sizes": (
        _text("job", "job whose list it is; empty where there is one job"),
        _text("name", "the workload's name for the list"),
        _int("collective", "row of collectives that is the list"),
        _int("flows", "number of flows in the row"),
        _int("size_bytes_min", "payload of the smallest"),
        _int("size_bytes_max", "payload of the largest; a list's first row is of all sizes, others of a decade"),
        _float("mean_us", "mean completion time"),
        _float("p50_us", "completion time that half of them do not exceed; some flow had it"),
        _float("p95_us", "the same of 95 %"),
        _float("p99_us", "the same of 99 %"),
        _float("max_us", "longest completion time"),
        _float("slowdown_mean", "mean of completion time / ideal time"),
        _float("slowdown_p50", "slowdown that half of them do not exceed"),
        _float("slowdown_p95", "the same of 95 %"),
        _float("slowdown_p99", "the same of 99 %"),
        _float("slowdown_max", "largest slowdown"),
        _int("last_end_ps", "when the last of them was delivered"),
    ),
    "links": (
        _int("channel", "directed link: 2 l is the one way of link l, 2 l + 1 the other"),
        _text("from", "node that sends"),
        _text("to", "node that receives"),
        _text("link_class", "class of the link"),
        _float("rate_Gbps", "rate (Gb = 10^9 b)"),
        _int("line_bytes", "all that occupied the wire: preambles, headers, payload, gaps, acknowledgements"),
        _int("payload_bytes", "payload in it"),
        _int("frames", "frames sent"),
        _float("busy_us", "time spent sending"),
        _float("utilisation_percent", "busy_us in the run's time"),
        _int("max_queue_bytes", "most bytes that waited or were being sent at its egress port"),
        _int("dropped_frames", "frames lost on it"),
    ),
    "link_bins": (
        _int("channel", "directed link, as in links"),
        _int("bin", "number of the bin of time, from 0"),
        _float("start_us", "begin of the bin"),
        _float("time_us", "length of the bin; of all but the last the same"),
        _int("line_bytes", "all that was on the wire in it, as in links; of a frame that goes on, the part"),
        _float("utilisation_percent", "line_bytes in what the link carries in that time"),
        _int("max_queue_bytes", "most bytes that waited or were being sent in it"),
    ),
    "queues": (
        _text("switch", "node whose port it is"),
        _text("peer", "node at the link's other end"),
        _int("channel", "the channel that the port sends on, as in links"),
        _text("link_class", "class of the link"),
        _float("rate_Gbps", "rate (Gb = 10^9 b)"),
        _int("frames", "frames sent"),
        _int("max_queue_bytes", "most bytes that waited or were being sent"),
        _int("marked_frames", "frames that were ECN marked here"),
        _float("marked_percent", "marked_frames in frames"),
        _int("refused_frames", "frames that came in by the port and found no room in the switch's buffer"),
        _int("pauses_sent", "how often the switch made a priority of the peer pause"),
        _float("peer_paused_us", "how long it held the peer, summed over priorities"),
        _int("pauses_received", "how often the peer made a priority of the port pause"),
        _float("paused_us", "how long the peer held the port, summed over priorities"),
        _int("pfc_frames", "PAUSE and RESUME frames in frames"),
        _int("buffer_bytes", "buffer of the whole switch; 0 without limit"),
        _int("max_buffer_bytes", "most bytes that the switch's buffer held"),
    ),
    "pauses": (
        _int("channel", "the channel whose sender was held, as in links"),
        _text("paused", "node that was held"),
        _text("by", "node that made it pause"),
        _int("priority", "the priority that was held"),
        _float("start_us", "the PAUSE takes effect"),
        _float("end_us", "the RESUME takes effect, or the quanta of the last PAUSE are over"),
        _float("time_us", "from start to end"),
        _int("start_ps", "start_us, exact"),
        _int("end_ps", "end_us, exact"),
    ),
    "congestion": (
        _int("src", "sending rank"),
        _int("dst", "receiving rank"),
        _int("priority", "priority of the flow; where queue pairs share a control, of the first"),
        _int("queue_pair", "number of the queue pair among those from src to dst; of several, of the first"),
        _int("notifications", "CNPs that came, and packets that were acknowledged with an ECN mark"),
        _int("decreases", "how often the control made rate or window less"),
        _float("line_rate_Gbps", "rate of the ports that serve it (Gb = 10^9 b)"),
        _float("least_rate_Gbps", "lowest rate that the control gave"),
        _float("last_rate_Gbps", "rate at the end"),
        _int("least_window_bytes", "smallest window that the control gave; 0 where it has none"),
        _int("last_window_bytes", "window at the end; 0 where it has none"),
        _float("slow_us", "time for which the rate was below line_rate_Gbps"),
        _int("slow_ps", "slow_us, exact"),
    ),
    "host_cores": (
        _int("machine", "machine of the core; rank where the platform has none"),
        _int("core", "number of the core in its machine"),
        _float("busy_us", "time spent working for TCP/IP"),
        _float("utilisation_percent", "busy_us in the time until the last acknowledgement"),
        _float("message_us", "of busy_us: messages given and taken (host.per_message)"),
        _float("segment_us", "of busy_us: segments sent (host.per_segment)"),
        _float("packet_us", "of busy_us: packets received (host.per_packet)"),
        _float("copy_us", "of busy_us: copies between application and socket (host.copy_rate)"),
        _int("works", "pieces of work done"),
        _int("busy_ps", "busy_us, exact"),
    ),
    "staging": (
        _int("rank", "rank whose messages are copied between its accelerator and its host"),
        _int("out_bytes", "payload copied to the host"),
        _int("in_bytes", "payload copied to the accelerator"),
        _float("out_us", "time spent copying to the host"),
        _float("in_us", "time spent copying to the accelerator"),
        _float("out_utilisation_percent", "out_us in the time until the last acknowledgement"),
        _float("in_utilisation_percent", "in_us in the time until the last acknowledgement"),
    ),
    "sockets": (
        _int("src", "rank of the socket"),
        _int("dst", "rank that it is connected to"),
        _int("priority", "priority of its messages"),
        _int("socket", "number among the sockets from src to dst of that priority"),
        _int("size_bytes", "payload that it sent, each byte once"),
        _int("segments", "segments with payload that it sent, repeated ones too"),
        _int("acks", "acknowledgements without payload that it received"),
        _int("retransmitted_segments", "segments that it sent again"),
        _int("timeouts", "retransmission timeouts"),
        _int("late_acks", "acknowledgements that the delayed-ACK timer sent while it was held back"),
        _float("round_trip_us", "smoothed round trip at the end; NaN where none was measured"),
        _int("window_bytes", "congestion window at the end"),
        _float("longest_hold_us", "longest time that a congestion window held one message from src to dst"),
    ),
    "plan": (
        _text("table", "the embedding table"),
        _text("sharding", "table_wise, row_wise, column_wise, table_row_wise or data_parallel"),
        _int("rank", "who holds the shard"),
        _int("row_begin", "its first row"),
        _int("rows", "number of its rows"),
        _int("dim_begin", "its first column"),
        _int("dims", "number of its columns"),
        _text("tier", "hbm, the accelerator's memory, or host"),
    ),
    "plan_ranks": (
        _int("rank", "the rank"),
        _int("shards", "number of its shards"),
        _int("memory_bytes", "its tables and their optimiser's state"),
        _int("host_bytes", "of these, in its host's memory"),
        _int("looked_up_bytes", "rows that all ranks' samples look up there, in an iteration"),
        _int("index_out_bytes", "indices and lengths that it sends to others"),
        _int("index_in_bytes", "indices and lengths that it receives from others"),
        _int("forward_out_bytes", "vectors, and parts of sums, that it sends to others forward"),
        _int("forward_in_bytes", "vectors, and parts of sums, that it receives from others forward"),
        _int("backward_out_bytes", "gradients that it sends to others"),
        _int("backward_in_bytes", "gradients that it receives from others"),
        _int("replica_bytes", "gradients of data-parallel tables, all-reduced"),
    ),
}


def to_dataframe(table: str, columns: Mapping[str, NDArray[Any] | Sequence[Any]]) -> pd.DataFrame:
    """The DataFrame of ``table``: declared columns in declared order, with declared types.

    Raises
    ------
    KeyError : a declared column is missing.
    """
    import pandas as pd

    return pd.DataFrame({c.name: pd.Series(columns[c.name], dtype=c.dtype) for c in TABLES[table]})
