# SPDX-License-Identifier: GPL-2.0-only
"""What a run was and what was measured, side by side: the ground that tables and checks stand on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.schedule import OuterKind
from astra_py.engines.buffers import ACK_PRIORITY, buffer_bytes
from astra_py.platforms.node_kind import NodeKind
from astra_py.platforms.routing import RoutingKind
from astra_py.results.intervals import IntervalSet
from astra_py.workloads.calls import MAX_PRIORITY

if TYPE_CHECKING:
    from astra_py.collectives.schedule import Schedule
    from astra_py.engines.base import Engine, EngineColumns, SwitchModel, TransportModel
    from astra_py.platforms.platform import Platform, PlatformArrays
    from astra_py.results.traffic import Traffic
    from astra_py.workloads.registry import JobTables
    from astra_py.workloads.trace import Trace

__all__ = ["RoutePaths", "RunRecord"]

#: ``(platform, seed, src_rank, dst_rank, queue_pair) -> (ptr, channels)``: each flow's way, as compressed rows.
RoutePaths = Callable[
    ["Platform", int, NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]],
    tuple[NDArray[np.int64], NDArray[np.int32]],
]


@dataclass(frozen=True, kw_only=True, eq=False)
class RunRecord:
    """A run's subject and its measurements.

    Attributes
    ----------
    trace, schedule, platform, transport : what was declared, what was run, on what, and how.
    switch : what is known of the platform's switches.
    declared_bytes : bytes that each rank has to send, and to receive, by the trace's collectives; both i64[ranks].
    seed, endpoint_delay_ps : as the engine got them.
    compute_slowdown : how many times as long local work takes beside a collective of its rank.
    max_active_collectives : how many collectives a rank may take part in at once, or None for no limit.
    engine : name of the engine.
    columns : what it measured.
    route_paths : where flows go; the same for the engine and for all that is recomputed here.
    analytic : the engine that each collective's analytic time comes from.
    job_tables : what makes further tables that the job has, by name.
    max_rows : most rows that a large table of its result keeps, or None for all.
    """

    trace: Trace
    schedule: Schedule
    platform: Platform
    transport: TransportModel
    switch: SwitchModel
    declared_bytes: tuple[NDArray[np.int64], NDArray[np.int64]]
    seed: int
    endpoint_delay_ps: int
    max_active_collectives: int | None
    engine: str
    columns: EngineColumns
    route_paths: RoutePaths
    analytic: Engine
    job_tables: JobTables = field(default_factory=dict)
    compute_slowdown: Fraction = Fraction(1)
    max_rows: int | None = None

    @cached_property
    def arrays(self) -> PlatformArrays:
        """The platform as arrays."""
        return self.platform.arrays()

    @cached_property
    def traffic(self) -> Traffic:
        """The run's messages, gathered into flows with their ways."""
        from astra_py.results.traffic import Traffic

        columns = self.columns
        return Traffic.on_routes(
            self.declared_message_bytes,
            columns.message_src,
            columns.message_dst,
            self.message_priority,
            self.transport.qps_per_peer,
            lambda src, dst, qp: self.route_paths(self.platform, self.seed, src, dst, qp),
            self.channel_efficiency,
            striped_payload=self.transport.payload_bytes if self.transport.is_striped else 0,
        )

    @cached_property
    def channel_efficiency(self) -> NDArray[np.float64]:
        """f64[channels]: share of a scale-up link's line that payload can have; 0 for Ethernet."""
        return np.repeat(self.arrays.link_efficiency, 2)

    @cached_property
    def end_ps(self) -> int:
        """When the last operation ended: the run's time."""
        return int(self.columns.op_end_ps.max(initial=0))

    @cached_property
    def watched_ps(self) -> int:
        """Until when hosts were at work: the last operation's end, or the last event after it, as of an ACK."""
        return max(self.end_ps, int(self.columns.end_ps))

    @cached_property
    def job_names(self) -> NDArray[np.object_]:
        """Names of the trace's jobs, and at the end the empty one of what is of no job."""
        return np.array([*(job.name for job in self.trace.jobs), ""], dtype=np.object_)

    @cached_property
    def job_of_instance(self) -> NDArray[np.int32]:
        """i32[instances]: index into :attr:`job_names`."""
        if not self.trace.jobs:
            return np.full(len(self.schedule.instance_call), -1, dtype=np.int32)
        return self.trace.job_of_call[self.schedule.instance_call]

    @cached_property
    def first_row(self) -> NDArray[np.int64]:
        """i64[instances + 1]: where each instance begins when the operations of all are written one after another."""
        lengths = np.array([len(template) for template in self.schedule.templates], dtype=np.int64)
        return np.concatenate([[0], np.cumsum(lengths[self.schedule.instance_template])]).astype(np.int64)

    @cached_property
    def is_picked(self) -> list[NDArray[np.bool_]]:
        """For each instance bool[m]: the operations of its template that were there, of every choice those picked."""
        templates = [self.schedule.templates[number] for number in self.schedule.instance_template]
        first = np.cumsum([0, *(template.choices for template in templates)])
        picks = self.columns.choice_picks
        return [
            template.is_picked(np.maximum(picks[first[i] : first[i + 1]], 0)) for i, template in enumerate(templates)
        ]

    @cached_property
    def declared_rank_bytes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Bytes that each rank had to send, and to receive: those declared, with the flags of the alternatives picked.

        All alternatives of a choice have as many bytes of data, but flags fill up lines message by message.
        """
        schedule = self.schedule
        sent, received = (column.copy() for column in self.declared_bytes)
        for instance, (number, is_picked) in enumerate(zip(schedule.instance_template, self.is_picked, strict=True)):
            template = schedule.templates[number]
            if template.choices and len(template.control_bytes):
                group = schedule.group(int(schedule.instance_group[instance]))
                more = template.control_bytes * (is_picked.astype(np.int64) - template.is_counted)
                np.add.at(sent, group[template.src], more)
                np.add.at(received, group[template.dst], more)
        return sent, received

    @cached_property
    def message_priority(self) -> NDArray[np.uint8]:
        """u8[messages]: that of its collective; of messages that carry no data, the highest."""
        is_control = self.of_message([template.is_control for template in self.schedule.templates])
        priority = self.schedule.instance_priority[self.columns.message_instance]
        return np.where(is_control, MAX_PRIORITY, priority).astype(np.uint8)

    @cached_property
    def message_row(self) -> NDArray[np.int64]:
        """i64[rows]: the message that each operation of each instance became; -1 for local or skipped ones."""
        columns = self.columns
        row = np.full(self.first_row[-1], -1, dtype=np.int64)
        row[self.first_row[columns.message_instance] + columns.message_op] = np.arange(len(columns.message_op))
        return row

    @cached_property
    def message_parts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """i64[messages] twice: the operations that are the sender's and the receiver's part in its collective."""
        schedule, columns = self.schedule, self.columns
        parts = np.flatnonzero(schedule.kind == OuterKind.COLLECTIVE)
        key = schedule.instance[parts].astype(np.int64) * schedule.ranks + schedule.rank[parts]
        order = np.argsort(key)
        parts, key = parts[order], key[order]
        instance = columns.message_instance.astype(np.int64) * schedule.ranks
        sender = parts[np.searchsorted(key, instance + columns.message_src)]
        return sender, parts[np.searchsorted(key, instance + columns.message_dst)]

    def of_message(self, columns: list[NDArray[Any]]) -> NDArray[Any]:
        """A column of the templates, one entry a message: ``columns[t]`` is template ``t``'s."""
        if not columns:
            return np.zeros(0, dtype=np.int64)
        first = np.cumsum([0, *(len(column) for column in columns)])
        template = self.schedule.instance_template[self.columns.message_instance]
        return np.concatenate(columns)[first[template] + self.columns.message_op]

    @cached_property
    def declared_message_bytes(self) -> NDArray[np.int64]:
        """i64[messages]: payload of each message, by its template."""
        return self.of_message([template.size_bytes for template in self.schedule.templates])

    def channel(self, name: str) -> NDArray[np.int64]:
        """i64[channels]: the column ``channel_`` ``name``; zeros where the engine has left it out."""
        column: NDArray[np.int64] = getattr(self.columns, f"channel_{name}")
        return column if len(column) else np.zeros(len(self.columns.channel_frames), dtype=np.int64)

    @cached_property
    def priorities(self) -> set[int]:
        """Priorities in use: those of messages, and that of acknowledgements."""
        return {ACK_PRIORITY, *self.schedule.priorities}

    @cached_property
    def buffer_bytes(self) -> NDArray[np.int64]:
        """i64[nodes]: size of each switch's buffer; 0 without limit."""
        if len(self.columns.node_buffer_bytes):
            return self.columns.node_buffer_bytes
        return buffer_bytes(self.switch, self.transport, self.arrays, self.priorities)

    @cached_property
    def max_buffer_bytes(self) -> NDArray[np.int64]:
        """i64[nodes]: most bytes that each node's buffer held; zeros where the engine has left it out."""
        column = self.columns.node_max_buffer_bytes
        return column if len(column) else np.zeros(len(self.arrays.node_kind), dtype=np.int64)

    @property
    def has_packet_ways(self) -> bool:
        """Whether switches choose among equal ways for each packet; :attr:`traffic` then has one of them."""
        return self.switch.chooses_per_packet

    @cached_property
    def channel_group(self) -> NDArray[np.int64]:
        """i64[channels]: those of one number share what goes over them as the run has it; only their sums are declared.

        A NIC spreads packets over its accelerator's scale-up switches: the channels to them are a group, those from
        them to an accelerator another one. Where switches choose for each packet, all links of one efficiency are.
        """
        if self.has_packet_ways:
            return np.unique(self.channel_efficiency, return_inverse=True)[1].astype(np.int64)
        arrays, (sender, receiver) = self.arrays, self.channel_ends
        nodes, channels = len(arrays.node_kind), len(sender)
        is_switch, is_rank = arrays.node_kind == NodeKind.SWITCH, arrays.node_rank >= 0
        is_scale_up = self.channel_efficiency > 0
        is_up = is_scale_up & is_rank[sender] & is_switch[receiver]
        group = np.arange(channels, dtype=np.int64)
        if arrays.routing.kind == RoutingKind.HOOK or not (np.bincount(sender[is_up], minlength=1) > 1).any():
            return group
        is_down = is_scale_up & is_switch[sender] & is_rank[receiver]
        group[is_up] = channels + sender[is_up]
        group[is_down] = channels + nodes + receiver[is_down]
        group[is_scale_up & is_switch[sender] & is_switch[receiver]] = channels + 2 * nodes
        return np.unique(group, return_inverse=True)[1].astype(np.int64)

    @cached_property
    def group_rate_bps(self) -> NDArray[np.int64]:
        """i64[groups]: rate of each group of channels together."""
        from astra_py.results.traffic import integer_sums

        return integer_sums(
            self.channel_group, np.repeat(self.arrays.link_rate_bps, 2), int(self.channel_group.max(initial=-1)) + 1
        )

    def group_name(self, group: int) -> str:
        """A group of channels as people read it: a channel alone, or what its channels have in common."""
        members = np.flatnonzero(self.channel_group == group)
        if self.has_packet_ways:
            efficiency = self.channel_efficiency[members[0]]
            return f"links of efficiency {efficiency:g}" if efficiency else "Ethernet links"
        if len(members) == 1:
            return self.channel_name(int(members[0]))
        names, (sender, receiver) = self.arrays.node_names, self.channel_ends
        if len(np.unique(sender[members])) == 1:
            return f"{names[sender[members[0]]]} -> its scale-up switches"
        if len(np.unique(receiver[members])) == 1:
            return f"scale-up switches -> {names[receiver[members[0]]]}"
        return "links between scale-up switches"

    @cached_property
    def has_ports(self) -> bool:
        """Whether ports counted what they carried; the other engines' columns of channels are computed."""
        return self.engine == "packet"

    @cached_property
    def has_repetitions(self) -> bool:
        """Whether frames were lost, or packets sent again: links then carry more than what was declared implies."""
        columns = self.columns
        lost = columns.channel_dropped_frames, columns.channel_buffer_drops, columns.message_retransmitted_packets
        return any(bool(column.any()) for column in lost)

    @cached_property
    def has_notices(self) -> bool:
        """Whether there are frames beside data and acknowledgements: CNPs of receivers, PAUSE and RESUME of ports."""
        return bool(self.columns.counters.get("cnps", 0) or self.columns.channel_pfc_frames.any())

    @cached_property
    def _ops_by_rank(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        order = np.argsort(self.schedule.rank, kind="stable")
        return order, np.searchsorted(self.schedule.rank[order], np.arange(self.schedule.ranks + 1))

    def busy(self, rank: int, kind: OuterKind) -> IntervalSet:
        """When ``rank`` has an operation of ``kind`` under way."""
        order, first = self._ops_by_rank
        mine = order[first[rank] : first[rank + 1]]
        mine = mine[self.schedule.kind[mine] == kind]
        return IntervalSet(self.columns.op_start_ps[mine], self.columns.op_end_ps[mine])

    @cached_property
    def channel_ends(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """i32[channels] twice: the node that sends on each channel, and the node that receives."""
        a, b = self.arrays.link_a, self.arrays.link_b
        return np.stack([a, b], axis=1).ravel(), np.stack([b, a], axis=1).ravel()

    def channel_name(self, channel: int) -> str:
        """The channel as people read it: ``from -> to``."""
        sender, receiver = self.channel_ends
        names = self.arrays.node_names
        return f"{names[sender[channel]]} -> {names[receiver[channel]]}"
