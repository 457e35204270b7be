# SPDX-License-Identifier: GPL-2.0-only
"""``[transport.tcp]``: sockets of TCP/IP, as ns-3 has them."""

from __future__ import annotations

from typing import Annotated, ClassVar

from astra_py.config.condition import Condition, OfTransport, Requirement
from astra_py.config.rules import Choice, Count, Flag, QuantityRule
from astra_py.config.table import FieldError, Ns3Attribute, Table, parameter
from astra_py.units import SIZE, TIME, format_size, parse_time

__all__ = ["TCP_RECOVERIES", "TCP_VARIANTS", "TcpConfig"]

#: Class of each of ns-3's congestion controls: its own, and of its DCTCP one of ours, with a least window.
TCP_VARIANTS = {
    "bbr": "ns3::TcpBbr",
    "bic": "ns3::TcpBic",
    "cubic": "ns3::TcpCubic",
    "dctcp": "ns3::FabricTcpDctcp",
    "high_speed": "ns3::TcpHighSpeed",
    "htcp": "ns3::TcpHtcp",
    "hybla": "ns3::TcpHybla",
    "illinois": "ns3::TcpIllinois",
    "ledbat": "ns3::TcpLedbat",
    "linux_reno": "ns3::TcpLinuxReno",
    "lp": "ns3::TcpLp",
    "newreno": "ns3::TcpNewReno",
    "scalable": "ns3::TcpScalable",
    "vegas": "ns3::TcpVegas",
    "veno": "ns3::TcpVeno",
    "westwood_plus": "ns3::TcpWestwoodPlus",
    "yeah": "ns3::TcpYeah",
}
#: ns-3's class of each of its loss recoveries.
TCP_RECOVERIES = {"classic": "ns3::TcpClassicRecovery", "prr": "ns3::TcpPrrRecovery"}

#: IPv4 and TCP headers (RFC 791, RFC 9293), and timestamps with their padding (RFC 7323, appendix A).
_HEADERS, _TIMESTAMPS = 20 + 20, 12
#: Largest window without scaling (RFC 7323, 2.1).
_LARGEST_UNSCALED = 65_535
#: Largest window that scaling can tell (RFC 7323, 2.3).
_LARGEST_SCALED = _LARGEST_UNSCALED * 2**14
_LONGEST_TIME = parse_time("100s")
_MOST_SOCKETS = 1024

_UNISON = "UNISON, EuroSys 2024: its evaluation's DCTCP"
_BUFFER = QuantityRule(SIZE, least=1, most=_LARGEST_SCALED, words={"auto": None})


def _figure(name: str, suffix: str | None = "") -> Ns3Attribute:
    return Ns3Attribute((f"ns3::{name}",), suffix, is_figure=True)


class TcpConfig(Table):
    """Sockets and the TCP that they run; its congestion control is ``transport.congestion_control``."""

    key: ClassVar[str] = "transport.tcp"
    only: ClassVar[Requirement | None] = OfTransport("tcp")

    mtu: Annotated[int, QuantityRule(SIZE, least=576, most=65_535)] = parameter(
        "9000B",
        "Largest IP packet, at least what RFC 791 asks of everyone. A segment has 40 B less of payload, and 12 B less "
        "again with timestamps.",
        source="jumbo frames of data centres",
        ns3=_figure("TcpSocket::SegmentSize", None),
    )
    sockets_per_peer: Annotated[int, Count(least=1, most=_MOST_SOCKETS)] = parameter(
        1, "Connections from a rank to each other rank, and each priority.", source="assumed"
    )
    socket_policy: Annotated[str, Choice("round_robin", "striped")] = parameter(
        "round_robin",
        "How messages take the sockets of a peer: one each in turn, or every message split over all of them.",
        only=Condition("sockets_per_peer", "transport.tcp.sockets_per_peer above 1", lambda count: count > 1),
    )
    send_buffer: Annotated[int | None, _BUFFER] = parameter(
        "auto",
        "Bytes that a socket takes from its application and keeps until they are acknowledged. 'auto': four times rate "
        "x unloaded round trip of the pair, with what interrupts wait (host.rx_usecs).",
        source="assumed: room for the window, a full queue, and what is being acknowledged",
        ns3=_figure("TcpSocket::SndBufSize", "B"),
    )
    receive_buffer: Annotated[int | None, _BUFFER] = parameter(
        "auto",
        "Bytes that a socket keeps for its application, and so the largest window that it tells the sender. 'auto': as "
        "send_buffer's.",
        source="assumed: as send_buffer's",
        ns3=_figure("TcpSocket::RcvBufSize", "B"),
    )
    initial_window: Annotated[int, Count(least=1, most=65_535)] = parameter(
        10,
        "Segments of a new connection's congestion window.",
        source="RFC 6928",
        ns3=_figure("TcpSocket::InitialCwnd"),
    )
    min_rto: Annotated[int, QuantityRule(TIME, least=parse_time("1us"), most=_LONGEST_TIME)] = parameter(
        "5ms",
        "Shortest retransmission timeout, and what a sender waits for before it probes a closed window. Linux has "
        "200 ms, RFC 6298 1 s.",
        source=_UNISON,
        ns3=_figure("TcpSocketBase::MinRto"),
    )
    initial_rtt: Annotated[int, QuantityRule(TIME, least=parse_time("1ns"), most=_LONGEST_TIME)] = parameter(
        "200us",
        "Round trip that a connection assumes until it has measured one; one that is open before time 0 assumes no "
        "less than its unloaded round trip. RFC 6298 begins with a timeout of 1 s.",
        source=_UNISON,
        ns3=_figure("RttEstimator::InitialEstimation"),
    )
    delayed_ack: Annotated[int, Count(least=1, most=255)] = parameter(
        2,
        "Segments that an acknowledgement is delayed for; 1: none is delayed.",
        source="RFC 1122, 4.2.3.2",
        ns3=_figure("TcpSocket::DelAckCount"),
    )
    delayed_ack_timeout: Annotated[int, QuantityRule(TIME, least=parse_time("1us"), most=_LONGEST_TIME)] = parameter(
        "40ms",
        "Time after which a delayed acknowledgement is sent all the same; at most half of min_rto, so that it comes "
        "before that (Linux's tcp_delack_max).",
        source="Linux, include/net/tcp.h: TCP_DELACK_MIN",
        only=Condition("delayed_ack", "transport.tcp.delayed_ack above 1", lambda count: count > 1),
        ns3=_figure("TcpSocket::DelAckTimeout"),
    )
    timestamps: Annotated[bool, Flag()] = parameter(
        True,
        "Whether segments have the timestamp option, 12 B of each; round trips are measured by the clock either way.",
        source="RFC 7323",
        ns3=_figure("TcpSocketBase::Timestamp"),
    )
    sack: Annotated[bool, Flag()] = parameter(
        True,
        "Whether receivers tell which segments they have (selective acknowledgement).",
        source="RFC 2018",
        ns3=_figure("TcpSocketBase::Sack"),
    )
    window_scale: Annotated[bool, Flag()] = parameter(
        True,
        "Whether windows may be above 65,535 B.",
        source="RFC 7323",
        ns3=_figure("TcpSocketBase::WindowScaling"),
    )
    nagle: Annotated[bool, Flag()] = parameter(
        False,
        "Whether a short segment waits for what is unacknowledged (Nagle's algorithm).",
        source="off, as communication libraries set TCP_NODELAY",
        ns3=_figure("TcpSocket::TcpNoDelay", None),
    )
    ecn: Annotated[bool, Flag()] = parameter(
        True,
        "Whether segments are ECN capable and their marks are told of.",
        source="RFC 3168, RFC 8257",
        ns3=_figure("TcpSocketBase::UseEcn", None),
    )
    recovery: Annotated[str, Choice(*TCP_RECOVERIES)] = parameter(
        "prr",
        "How the window falls while losses are repaired: proportionally, or at once.",
        source="RFC 6937, as Linux",
        ns3=_figure("TcpL4Protocol::RecoveryType", None),
    )
    unsent_limit: Annotated[int | None, QuantityRule(SIZE, least=1, most=_LARGEST_SCALED, words={"auto": None})] = (
        parameter(
            "auto",
            "Bytes of a socket that wait in the host to leave the NIC; more are not taken from its send buffer. "
            "'auto': 64 KiB with segmentation offload (host.tso), and two segments without.",
            source="TCP small queues of Linux, net/ipv4/tcp_output.c: at least two segments",
        )
    )
    connect: Annotated[str, Choice("before", "timed")] = parameter(
        "before",
        "When connections are established: before time 0 and without a frame, or by a handshake on the network when "
        "the first message needs one.",
        source="communication libraries connect at start-up",
    )
    data_retries: Annotated[int, Count(least=1, most=10_000)] = parameter(
        15,
        "Times that one segment is sent again before its connection is given up, which fails the run.",
        source="Linux, tcp_retries2",
        ns3=_figure("TcpSocket::DataRetries"),
    )

    @property
    def segment_bytes(self) -> int:
        """Payload of a full segment (MSS)."""
        return self.mtu - _HEADERS - (_TIMESTAMPS if self.timestamps else 0)

    def check(self) -> None:  # noqa: D102  (as the base)
        for name, segments in (("send_buffer", 2), ("receive_buffer", 2), ("unsent_limit", 1)):
            size, least = getattr(self, name), segments * self.segment_bytes
            if size is not None and size < least:
                raise FieldError(
                    name,
                    f"{self.text(name)!r} does not hold {segments} full segment{'s' * (segments > 1)} of "
                    f"transport.tcp.mtu = {self.text('mtu')!r}",
                    f"'auto' or at least {format_size(least)}",
                )
        if self.receive_buffer is not None and self.receive_buffer > _LARGEST_UNSCALED and not self.window_scale:
            raise FieldError(
                "receive_buffer",
                f"{self.text('receive_buffer')!r} is more than a window tells with transport.tcp.window_scale = false",
                f"'auto' or at most {_LARGEST_UNSCALED} B, or transport.tcp.window_scale = true",
            )
        if self.segment_bytes > _LARGEST_UNSCALED // 2 and not self.window_scale:
            raise FieldError(
                "mtu",
                f"{self.text('mtu')!r}: a window has no room for two segments with transport.tcp.window_scale = false",
                f"at most {_LARGEST_UNSCALED // 2} B, or transport.tcp.window_scale = true",
            )
