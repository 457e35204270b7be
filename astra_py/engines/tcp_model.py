# SPDX-License-Identifier: GPL-2.0-only
"""TCP and the hosts that run it, as an engine needs them: integers in base units, every choice made."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from astra_py.engines.wire import ETHERNET_FRAMING, GAP, SMALLEST_FRAME, TCP_FRAME_HEADERS, TCP_TIMESTAMPS

__all__ = ["HostModel", "Rss", "SocketPolicy", "Staging", "TcpConnect", "TcpModel"]


class TcpConnect(IntEnum):
    """When connections are established; the values are those of ``ns3::TcpConnect``."""

    BEFORE = 0
    TIMED = 1


class SocketPolicy(IntEnum):
    """How messages take the sockets of a peer; the values are those of ``ns3::SocketPolicy``."""

    ROUND_ROBIN = 0
    STRIPED = 1


class Rss(IntEnum):
    """How a connection finds its core; the values are those of ``ns3::ReceiveSideScaling``."""

    HASH = 0
    SOCKET_INDEX = 1


class Staging(IntEnum):
    """Where messages are copied between accelerator and host; the values are those of ``ns3::HostStaging``."""

    AUTO = 0
    NONE = 1
    ALWAYS = 2


@dataclass(frozen=True, kw_only=True)
class TcpModel:
    """TCP's figures.

    Attributes
    ----------
    mtu_bytes : largest IP packet.
    has_timestamps, has_sack, has_window_scaling, has_ecn, has_nagle : TCP's options.
    variant, recovery : ns-3's classes of the congestion control and of the recovery from losses.
    send_buffer_bytes, receive_buffer_bytes : of each socket; -1 for four bandwidth-delay products of the pair.
    initial_window_segments : congestion window of a new connection.
    min_rto_ps, initial_rtt_ps : shortest retransmission timeout, and the round trip assumed before one is measured.
    delayed_ack_segments, delayed_ack_timeout_ps : what an ACK waits for; 1 segment: for nothing.
    data_retries : of one segment, before the connection is given up.
    sockets_per_peer, socket_policy : connections to each destination, and how messages take them.
    unsent_limit_bytes : of a socket, waiting in the host to leave the NIC; -1 for the rule of "auto".
    connect : see :class:`TcpConnect`.
    """

    mtu_bytes: int
    has_timestamps: bool
    has_sack: bool
    has_window_scaling: bool
    has_ecn: bool
    has_nagle: bool
    variant: str
    recovery: str
    send_buffer_bytes: int
    receive_buffer_bytes: int
    initial_window_segments: int
    min_rto_ps: int
    initial_rtt_ps: int
    delayed_ack_segments: int
    delayed_ack_timeout_ps: int
    data_retries: int
    sockets_per_peer: int
    socket_policy: SocketPolicy
    unsent_limit_bytes: int
    connect: TcpConnect

    @property
    def header_line_bytes(self) -> int:
        """Line bytes of a segment beside its payload, where it is no smallest frame."""
        return TCP_FRAME_HEADERS + (TCP_TIMESTAMPS if self.has_timestamps else 0) + GAP

    @property
    def segment_bytes(self) -> int:
        """Payload of a full segment (MSS)."""
        return self.largest_line_bytes - self.header_line_bytes

    @property
    def largest_line_bytes(self) -> int:
        """Line bytes of a full segment."""
        return self.mtu_bytes + ETHERNET_FRAMING + GAP

    @property
    def ack_line_bytes(self) -> int:
        """Line bytes of a segment without payload and selective acknowledgements."""
        return max(self.header_line_bytes, SMALLEST_FRAME + GAP)


@dataclass(frozen=True, kw_only=True)
class HostModel:
    """What TCP costs a machine; see :class:`astra_py.config.host.HostConfig`.

    Attributes
    ----------
    cores : of each machine, each with one queue.
    rss : which core a connection is on.
    per_message_ps, per_segment_ps, per_packet_ps : core time of each.
    per_merged_packet_ps : core time of each further packet of a merged unit, no more than of a packet.
    copy_rate_bps : of a core; 0 where copies take no time.
    has_tso, has_gro : the NIC's offloads.
    rx_delay_ps, rx_frames : time, and packets, that an interrupt waits for; no frames: 0.
    staging : where messages are staged.
    staging_rate_bps, staging_chunk_bytes : rate of an accelerator's copies in each direction, and their grain.
    """

    cores: int
    rss: Rss
    per_message_ps: int
    per_segment_ps: int
    per_packet_ps: int
    per_merged_packet_ps: int
    copy_rate_bps: int
    has_tso: bool
    has_gro: bool
    rx_delay_ps: int
    rx_frames: int
    staging: Staging
    staging_rate_bps: int
    staging_chunk_bytes: int

    @property
    def is_ideal(self) -> bool:
        """Whether no work takes any time of a core."""
        return not (self.per_message_ps or self.per_segment_ps or self.per_packet_ps or self.copy_rate_bps)
