# SPDX-License-Identifier: GPL-2.0-only
"""The one seam between what is to be run and what runs it.

An engine gets a Schedule, a Platform and flat, resolved figures, and returns raw columns. Everything a user sees is
built from those columns by :mod:`astra_py.results`; nothing else in the package talks to an engine's inside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.schedule import EdgeOn
from astra_py.engines.tcp_model import HostModel, TcpModel
from astra_py.engines.wire import ACK_LINE_BYTES, CNP_LINE_BYTES, DATA_HEADER, GAP, PADDING, RETH

if TYPE_CHECKING:
    from astra_py.collectives.schedule import Schedule
    from astra_py.engines.capture import Capture
    from astra_py.engines.watch import Watch, WatchLog
    from astra_py.platforms.platform import Platform

__all__ = [
    "AckPolicy",
    "Engine",
    "EngineColumns",
    "EngineOptions",
    "ExitReason",
    "HostModel",
    "Progress",
    "SwitchModel",
    "TcpModel",
    "TimeRounding",
    "TransportModel",
    "WindowPolicy",
]


class AckPolicy(IntEnum):
    """When a receiver acknowledges; the values are those of ``ns3::RoceNic::AckPolicy``."""

    PER_PACKET = 0
    EVERY = 1
    PER_MESSAGE = 2
    OUT_OF_BAND = 3


class WindowPolicy(IntEnum):
    """What limits a queue pair's unacknowledged bytes; the values are those of ``ns3::RoceNic::WindowPolicy``."""

    NONE = 0
    BDP = 1
    FIXED = 2


class TimeRounding(IntEnum):
    """How a serialisation time becomes an integer; the values are those of ``ns3::Fabric``'s ``TimeRounding``."""

    PS_CEIL = 0
    NS_NEAREST = 1


class ExitReason(StrEnum):
    """Why an engine stopped.

    STOPPED: somebody called ns-3's ``Simulator::Stop``; INTERRUPTED: the user did, by Ctrl-C; FAILED: an exception of
    the progress callback, or an invariant of the engine that broke. CHECK, of results alone: it ended, and is not what
    was declared.
    """

    COMPLETED = "completed"
    DEADLOCK = "deadlock"
    EVENT_LIMIT = "event_limit"
    TIME_LIMIT = "time_limit"
    STOPPED = "stopped"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    CHECK = "check"


@dataclass(frozen=True, kw_only=True)
class TransportModel:
    """A transport's figures as an engine needs them: integers in base units, every choice made.

    Attributes
    ----------
    payload_bytes : largest payload of a packet.
    header_bytes : line bytes beside the payload of every packet, or -1 for RoCEv2's own (82, and 98 on a first packet).
    ack_bytes : line bytes of an ACK, or -1 for RoCEv2's own (86).
    ack_policy, ack_every : when a receiver acknowledges; ``ack_every`` packets under ``EVERY``.
    is_ack_class_shared : whether switches queue ACKs with the data instead of in a class before it.
    window_policy, window_bytes : the limit of unacknowledged payload bytes per queue pair.
    qps_per_peer : queue pairs to each destination; 0 makes a new one for each message.
    timeout_ps : retransmission timeout, or -1 for the rule of ``transport.timeout = "auto"``.
    send_latency_ps, receive_latency_ps : endpoint latencies of a message, before its first and after its last byte.
    notify_on : the moment at which the receiver's side is told of a message.
    time_rounding : see :class:`TimeRounding`.
    congestion_control : ns-3's class of the congestion control, such as "ns3::Dcqcn"; "" for none.
    is_striped : whether each message is split over the queue pairs of its peer.
    telemetry_bytes : line bytes of telemetry in each data packet and ACK (HPCC's INT).
    tcp, host : where the transport is TCP, that and what it costs; the figures above are then of what goes over
        scale-up links only, but that ``payload_bytes`` is that of a full segment, ``header_bytes`` and ``ack_bytes``
        are its line bytes beside it and those of an ACK, and ``qps_per_peer`` and ``is_striped`` are the sockets'.
    """

    payload_bytes: int
    header_bytes: int
    ack_bytes: int
    ack_policy: AckPolicy
    ack_every: int
    is_ack_class_shared: bool
    window_policy: WindowPolicy
    window_bytes: int
    qps_per_peer: int
    timeout_ps: int
    send_latency_ps: int
    receive_latency_ps: int
    notify_on: EdgeOn
    time_rounding: TimeRounding
    congestion_control: str = ""
    is_striped: bool = False
    telemetry_bytes: int = 0
    tcp: TcpModel | None = None
    host: HostModel | None = None

    @property
    def largest_line_bytes(self) -> int:
        """Line bytes of the largest frame, a packet, an ACK or a CNP."""
        return max(self._packet_line_bytes, self.ack_line_bytes, CNP_LINE_BYTES if self.tcp is None else 0)

    @property
    def largest_frame_bytes(self) -> int:
        """Bytes of the largest data packet in a buffer: without preamble and gap where headers are its own."""
        return self._packet_line_bytes - (GAP if self.header_bytes < 0 or self.tcp is not None else 0)

    @property
    def _packet_line_bytes(self) -> int:
        if self.header_bytes < 0:
            packet = -(-self.payload_bytes // PADDING) * PADDING + DATA_HEADER + RETH
        else:
            packet = self.payload_bytes + self.header_bytes
        return packet + self.telemetry_bytes

    @property
    def ack_line_bytes(self) -> int:
        """Line bytes of an acknowledgement on an Ethernet link."""
        return (ACK_LINE_BYTES if self.ack_bytes < 0 else self.ack_bytes) + self.telemetry_bytes


@dataclass(frozen=True, kw_only=True)
class SwitchModel:
    """What the engine does not say of its switches and a result is held to.

    Attributes
    ----------
    buffer_bytes : packet buffer of a switch, 0 without limit, or -1 for the rule of ``switch.buffer = "auto"``.
    lossless : priorities that are paused and not dropped.
    reserve_bytes, headroom_bytes : kept for each ingress port and priority, or lossless priority, in use; -1 for the
        rules of "auto".
    response_quanta : quanta that a PAUSE takes to act.
    has_ecn : whether switches mark frames that are ECN capable.
    chooses_per_packet : whether they choose among equal ways for each packet, and not for each flow.
    cuts_through : whether a frame may leave before all of it has come.
    """

    buffer_bytes: int = 0
    lossless: tuple[int, ...] = ()
    reserve_bytes: int = -1
    headroom_bytes: int = -1
    response_quanta: int = 0
    has_ecn: bool = False
    chooses_per_packet: bool = False
    cuts_through: bool = False


#: Called now and then while an engine runs: simulated time in ps, events so far, finished operations, operations.
Progress = Callable[[int, int, int, int], None]


@dataclass(frozen=True, kw_only=True)
class EngineOptions:
    """What a run needs beside its subject.

    Attributes
    ----------
    seed : the run's seed; switches, losses and everything random derive theirs from it.
    endpoint_delay_ps : between a rank joining a collective and its first post, and after each notification.
    compute_slowdown : how many times as long a rank's compute and memory work takes while it has a collective under
        way, at least 1.
    max_events, max_time_ps : limits, or -1.
    progress : called about ten times a second, or None.
    attributes : those ns-3 attributes that parameters of the scenario set, full attribute name to ns-3's text form; the
        others have the parameters' defaults, which are ns-3's own.
    ns3_defaults : further ns-3 attribute defaults, in the same form, for which there is no parameter.
    capture : ports whose frames are written to files, or None.
    watch : what is written down beside the results, or None; it changes nothing of these.
    link_bins : most bins of time by which channels are counted, an even number; 0 for none.
    analytic_mode : which model of whole messages the analytic engine is: "loggp", "astra_sim", "astra_sim_congestion".
    fault : for tests of the checks: "", "drop_message", "double_message" or "swap_sizes".
    """

    seed: int = 1
    endpoint_delay_ps: int = 0
    compute_slowdown: Fraction = Fraction(1)
    max_events: int = -1
    max_time_ps: int = -1
    progress: Progress | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)
    ns3_defaults: Mapping[str, str] = field(default_factory=dict)
    capture: Capture | None = None
    watch: Watch | None = None
    link_bins: int = 0
    analytic_mode: str = "loggp"
    fault: str = ""


def _no_i64() -> NDArray[np.int64]:
    return np.zeros(0, dtype=np.int64)


def _no_i32() -> NDArray[np.int32]:
    return np.zeros(0, dtype=np.int32)


def _no_u8() -> NDArray[np.uint8]:
    return np.zeros(0, dtype=np.uint8)


@dataclass(frozen=True, kw_only=True, eq=False)
class EngineColumns:
    """What an engine measured, as plain columns; private to the package.

    Times are in ps and -1 where the moment never came. ``channel_*`` has one row per directed channel (see
    :class:`astra_py.platforms.Platform`), ``message_*`` one row per message in order of posting, ``rank_*`` one per
    rank, ``node_*`` one per node. The flow and analytic engines count no frames: their ``channel_frames`` and the
    like are zero, their byte columns computed.

    ``channel_marked_frames`` were ECN marked at the channel's egress port; ``channel_pfc_frames`` are the PAUSE and
    RESUME frames in its ``channel_frames``; ``channel_pauses`` and ``channel_paused_ps`` say how often and how long
    that port was held by the far end, summed over priorities. ``channel_dropped_frames`` were lost on the link,
    ``channel_buffer_drops`` found no room in the buffer at its far end. ``node_buffer_bytes`` is the size of a node's
    buffer (0: none, or one without limit), ``node_max_buffer_bytes`` the most that it held. ``pause_*`` has one row per
    episode, by start and then channel: the channel whose transmitter was held, the priority, and the time from the
    PAUSE's effect to the end by RESUME or expiry. An engine without switches may leave these out: columns without rows
    stand for zeros.

    ``control_*`` has one row per flow that its congestion control ever held back (RoCE): how often it was notified and
    decreased rate or window, both at the end and at their least (a window of 0: it has none), and the time below the
    line rate.

    ``bin_end_ps`` are the ends of bins of time, of which the first begins at 0; ``bin_line_bytes`` and
    ``bin_max_queue_bytes`` have a row of all channels for each bin, one after another: the bytes that were on the wire
    in it, and the most that waited or were being sent. Without sampling, and without ports, there are none.

    Where the transport is TCP: ``core_*`` has one row per networking core of each machine, its time by kind of work and
    the pieces of work; ``staging_*`` one per rank whose messages are copied between accelerator and host; ``socket_*``
    one per end of a connection that sent: its segments with payload (repeated ones included), the ACKs without payload
    that came to it, its payload bytes (each once), and round trip and window at the end. ``message_*_core`` are the
    cores that had a message (-1: it was not TCP's), ``message_*_core_ps`` their time for it, ``message_copy_ps`` that
    of its copies at both ends, and ``message_*_limited_ps`` how long, while it was the first unsent of its socket, the
    congestion window, the receiver's window or the send buffer held it.
    """

    op_start_ps: NDArray[np.int64]
    op_end_ps: NDArray[np.int64]
    message_instance: NDArray[np.int32]
    message_op: NDArray[np.int32]
    message_src: NDArray[np.int32]
    message_dst: NDArray[np.int32]
    message_size_bytes: NDArray[np.int64]
    message_posted_ps: NDArray[np.int64]
    message_sent_ps: NDArray[np.int64]
    message_delivered_ps: NDArray[np.int64]
    message_acked_ps: NDArray[np.int64]
    message_delivered_bytes: NDArray[np.int64]
    message_retransmitted_packets: NDArray[np.int64]
    channel_line_bytes: NDArray[np.int64]
    channel_frames: NDArray[np.int64]
    channel_data_frames: NDArray[np.int64]
    channel_payload_bytes: NDArray[np.int64]
    channel_delivered_payload_bytes: NDArray[np.int64]
    channel_dropped_frames: NDArray[np.int64]
    channel_busy_ps: NDArray[np.int64]
    channel_max_queue_bytes: NDArray[np.int64]
    rank_sent_payload_bytes: NDArray[np.int64]
    rank_received_payload_bytes: NDArray[np.int64]
    channel_marked_frames: NDArray[np.int64] = field(default_factory=_no_i64)
    channel_pauses: NDArray[np.int64] = field(default_factory=_no_i64)
    channel_paused_ps: NDArray[np.int64] = field(default_factory=_no_i64)
    channel_pfc_frames: NDArray[np.int64] = field(default_factory=_no_i64)
    channel_buffer_drops: NDArray[np.int64] = field(default_factory=_no_i64)
    node_buffer_bytes: NDArray[np.int64] = field(default_factory=_no_i64)
    node_max_buffer_bytes: NDArray[np.int64] = field(default_factory=_no_i64)
    pause_channel: NDArray[np.int32] = field(default_factory=_no_i32)
    pause_priority: NDArray[np.uint8] = field(default_factory=_no_u8)
    pause_start_ps: NDArray[np.int64] = field(default_factory=_no_i64)
    pause_end_ps: NDArray[np.int64] = field(default_factory=_no_i64)
    control_src: NDArray[np.int32] = field(default_factory=_no_i32)
    control_dst: NDArray[np.int32] = field(default_factory=_no_i32)
    control_priority: NDArray[np.uint8] = field(default_factory=_no_u8)
    control_queue_pair: NDArray[np.int64] = field(default_factory=_no_i64)
    control_notifications: NDArray[np.int64] = field(default_factory=_no_i64)
    control_decreases: NDArray[np.int64] = field(default_factory=_no_i64)
    control_line_rate_bps: NDArray[np.int64] = field(default_factory=_no_i64)
    control_rate_bps: NDArray[np.int64] = field(default_factory=_no_i64)
    control_least_rate_bps: NDArray[np.int64] = field(default_factory=_no_i64)
    control_window_bytes: NDArray[np.int64] = field(default_factory=_no_i64)
    control_least_window_bytes: NDArray[np.int64] = field(default_factory=_no_i64)
    control_slow_ps: NDArray[np.int64] = field(default_factory=_no_i64)
    bin_end_ps: NDArray[np.int64] = field(default_factory=_no_i64)
    bin_line_bytes: NDArray[np.int64] = field(default_factory=_no_i64)
    bin_max_queue_bytes: NDArray[np.int64] = field(default_factory=_no_i64)
    core_machine: NDArray[np.int32] = field(default_factory=_no_i32)
    core_core: NDArray[np.int32] = field(default_factory=_no_i32)
    core_busy_ps: NDArray[np.int64] = field(default_factory=_no_i64)
    core_message_ps: NDArray[np.int64] = field(default_factory=_no_i64)
    core_segment_ps: NDArray[np.int64] = field(default_factory=_no_i64)
    core_packet_ps: NDArray[np.int64] = field(default_factory=_no_i64)
    core_copy_ps: NDArray[np.int64] = field(default_factory=_no_i64)
    core_units: NDArray[np.int64] = field(default_factory=_no_i64)
    staging_rank: NDArray[np.int32] = field(default_factory=_no_i32)
    staging_out_busy_ps: NDArray[np.int64] = field(default_factory=_no_i64)
    staging_in_busy_ps: NDArray[np.int64] = field(default_factory=_no_i64)
    staging_out_bytes: NDArray[np.int64] = field(default_factory=_no_i64)
    staging_in_bytes: NDArray[np.int64] = field(default_factory=_no_i64)
    message_src_core: NDArray[np.int32] = field(default_factory=_no_i32)
    message_dst_core: NDArray[np.int32] = field(default_factory=_no_i32)
    message_src_core_ps: NDArray[np.int64] = field(default_factory=_no_i64)
    message_dst_core_ps: NDArray[np.int64] = field(default_factory=_no_i64)
    message_copy_ps: NDArray[np.int64] = field(default_factory=_no_i64)
    message_cwnd_limited_ps: NDArray[np.int64] = field(default_factory=_no_i64)
    message_rwnd_limited_ps: NDArray[np.int64] = field(default_factory=_no_i64)
    message_sndbuf_limited_ps: NDArray[np.int64] = field(default_factory=_no_i64)
    socket_src: NDArray[np.int32] = field(default_factory=_no_i32)
    socket_dst: NDArray[np.int32] = field(default_factory=_no_i32)
    socket_priority: NDArray[np.uint8] = field(default_factory=_no_u8)
    socket_index: NDArray[np.int32] = field(default_factory=_no_i32)
    socket_segments: NDArray[np.int64] = field(default_factory=_no_i64)
    socket_acks: NDArray[np.int64] = field(default_factory=_no_i64)
    socket_retransmitted_segments: NDArray[np.int64] = field(default_factory=_no_i64)
    socket_timeouts: NDArray[np.int64] = field(default_factory=_no_i64)
    socket_late_acks: NDArray[np.int64] = field(default_factory=_no_i64)
    socket_bytes: NDArray[np.int64] = field(default_factory=_no_i64)
    socket_srtt_ps: NDArray[np.int64] = field(default_factory=_no_i64)
    socket_cwnd_bytes: NDArray[np.int64] = field(default_factory=_no_i64)
    counters: Mapping[str, int]
    end_ps: int
    exit_reason: ExitReason
    choice_picks: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    """i32: number of the alternative picked, for each choice of each instance in order; -1 where it never came."""
    waiting: tuple[str, ...] = ()
    """Where the run did not complete: one line per thing that waits, and for what; of many, then who else."""
    clock_ps: int = 1
    """What the engine's clock counts in: a message's time may be cut by less than that."""
    deadlocked_channels: Sequence[int] = ()
    """Channels that wait for each other in a circle of pauses (PFC deadlock), in order of the circle."""
    log: WatchLog | None = None
    """What a watched run wrote down (:class:`EngineOptions`)."""


class Engine(Protocol):
    """Runs a Schedule on a Platform."""

    @property
    def name(self) -> str:
        """The engine's name in scenarios: ``packet``, ``flow``, ``analytic``."""
        ...

    def run(
        self,
        schedule: Schedule,
        platform: Platform,
        transport: TransportModel,
        options: EngineOptions,
    ) -> EngineColumns:
        """Run ``schedule`` to its end, or to the reason why there is none (``exit_reason``).

        Raises
        ------
        ConfigError : the engine cannot represent what it was given.
        SimulationError : the engine's own invariants broke.
        KeyboardInterrupt : the user interrupted the run.
            :func:`astra_py.engines.stopped.measured_before` gives what was measured before one of these two.
        """
        ...
