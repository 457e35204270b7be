# SPDX-License-Identifier: GPL-2.0-only
"""Checks of TCP and its hosts: sockets against messages and ports, line bytes, cores and copies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.engines.tcp_model import TcpConnect
from astra_py.engines.wire import PFC_LINE_BYTES
from astra_py.results.check import Check, compare
from astra_py.results.traffic import SCALE_UP_FLIT, integer_sums

if TYPE_CHECKING:
    from astra_py.engines.tcp_model import TcpModel
    from astra_py.results.record import RunRecord

__all__ = ["check_hosts", "check_sockets", "tcp_line_bytes"]

#: Most that a TCP header's options take (RFC 9293, 3.1), and timestamps and their padding of these (RFC 7323).
_OPTIONS, _TIMESTAMPS = 40, 12
#: Acknowledgements, sent and received, that a core may still have when all messages are acknowledged. Assumed.
_ACKS_AT_END = 2


def tcp_line_bytes(record: RunRecord, tcp: TcpModel) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Least and most line bytes of each channel that its payload and frames imply; i64[channels] twice.

    Where one ends and the other begins is the stream's affair, so that the ports' own count of frames is taken. Both
    are equal on Ethernet where no frame has further options: none is selectively acknowledged or opens a connection.
    """
    columns, efficiency = record.columns, record.channel_efficiency
    payload, data = columns.channel_payload_bytes, columns.channel_data_frames
    pfc = record.channel("pfc_frames")
    others = columns.channel_frames - data - pfc
    least = payload + data * tcp.header_line_bytes + others * tcp.ack_line_bytes + pfc * PFC_LINE_BYTES
    options = _OPTIONS - (_TIMESTAMPS if tcp.has_timestamps else 0)
    is_plain = tcp.has_timestamps and tcp.connect == TcpConnect.BEFORE and not record.has_packet_ways
    if is_plain and not record.has_repetitions and bool((record.declared_message_bytes > 0).all()):
        options = 0
    most = least + (data + others) * options
    # on a scale-up link each frame takes its payload, or a flit, rounded up
    with np.errstate(divide="ignore"):
        share = np.where(efficiency > 0, 1 / efficiency, 0.0)
    frames = columns.channel_frames
    is_scale_up = efficiency > 0
    least = np.where(is_scale_up, np.floor(payload * share), least)
    most = np.where(is_scale_up, np.ceil((payload + SCALE_UP_FLIT * frames) * share) + frames, most)
    return least.astype(np.int64), most.astype(np.int64)


def check_sockets(record: RunRecord) -> list[Check]:
    """What sockets sent is what messages had, and the frames that they sent are those that ports carried."""
    columns, ranks = record.columns, record.schedule.ranks
    if not len(columns.socket_src):
        return []
    traffic = record.traffic
    is_tcp = ~traffic.is_message_scale_up
    whole = traffic.whole[is_tcp]
    pair = columns.message_src[whole].astype(np.int64) * ranks + columns.message_dst[whole]
    of_socket = columns.socket_src.astype(np.int64) * ranks + columns.socket_dst
    pairs = np.union1d(pair, of_socket)
    checks = [
        compare(
            "socket_bytes",
            "payload of each pair's sockets, each byte once: messages",
            integer_sums(np.searchsorted(pairs, pair), traffic.size_bytes[is_tcp], len(pairs)),
            integer_sums(np.searchsorted(pairs, of_socket), columns.socket_bytes, len(pairs)),
            lambda i: f"rank {pairs[i] // ranks} to rank {pairs[i] % ranks}",
        ),
        compare(
            "socket_repeats",
            "segments sent again, and packets of messages in them",
            np.array([columns.socket_retransmitted_segments.sum()], dtype=np.int64),
            np.array([columns.message_retransmitted_packets.sum()], dtype=np.int64),
            lambda _: "the run",
            is_exact=False,
        ),
    ]
    own, sent = _frames_of_ranks(record)
    segments = integer_sums(columns.socket_src, columns.socket_segments, ranks)
    return [
        *checks,
        compare(
            "socket_segments",
            "segments with payload per rank: sockets, and ports",
            segments[own],
            sent[own],
            lambda i: f"rank {np.flatnonzero(own)[i]}",
        ),
    ]


def _frames_of_ranks(record: RunRecord) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Ranks whose ports carry TCP's own frames alone, and data frames that left them; both of length ``ranks``."""
    arrays, ranks = record.arrays, record.schedule.ranks
    sender, _ = record.channel_ends
    rank = arrays.node_rank[sender]
    is_own = np.zeros(ranks, dtype=bool)
    is_own[arrays.node_rank[(arrays.node_rank >= 0) & (arrays.node_forwards == 0)]] = True
    has_others = (rank >= 0) & (record.channel_efficiency > 0)
    is_own[rank[has_others]] = False
    # a filler, which stands for a message of no bytes, is a segment with payload to TCP and none to its port
    is_own[record.columns.message_src[record.declared_message_bytes == 0]] = False
    mine = rank >= 0
    return is_own, integer_sums(rank[mine], record.columns.channel_data_frames[mine], ranks)


def check_hosts(record: RunRecord) -> list[Check]:
    """Cores work no longer than there is time, by kinds of work that add up, and copies are of the messages' bytes."""
    columns, host = record.columns, record.transport.host
    if host is None:
        return []
    machines = int(record.arrays.rank_machine.max(initial=-1)) + 1
    # what is acknowledged after the last operation is work, too, and so is the last acknowledgement beside it
    latest = max(columns.end_ps, int(columns.message_acked_ps.max(initial=0)))
    latest += _ACKS_AT_END * (host.per_segment_ps + host.per_packet_ps)
    kinds = columns.core_message_ps + columns.core_segment_ps + columns.core_packet_ps + columns.core_copy_ps

    def core(i: int) -> str:
        return f"core {columns.core_core[i]} of machine {columns.core_machine[i]}"

    checks = []
    if len(columns.core_machine):
        number = columns.core_machine.astype(np.int64) * host.cores + columns.core_core
        checks = [
            compare(
                "cores",
                "cores of each machine",
                np.ones(machines * host.cores, dtype=np.int64),
                np.bincount(number, minlength=machines * host.cores).astype(np.int64),
                lambda i: f"core {i % host.cores} of machine {i // host.cores}",
            ),
            compare("core_kinds", "ps of work per core: by kinds of work", kinds, columns.core_busy_ps, core),
            compare(
                "core_busy",
                "ps of work per core: no more than the run took",
                np.clip(columns.core_busy_ps, 0, latest),
                columns.core_busy_ps,
                core,
            ),
        ]
    return checks + _check_staging(record)


def _check_staging(record: RunRecord) -> list[Check]:
    columns, ranks = record.columns, record.schedule.ranks
    if not len(columns.staging_rank):
        return []
    traffic, staged = record.traffic, columns.staging_rank
    whole = traffic.whole[~traffic.is_message_scale_up]
    size = traffic.size_bytes[~traffic.is_message_scale_up]
    return [
        compare(
            f"staged_{way}",
            f"bytes copied {meaning} per rank: its messages",
            integer_sums(rank[whole], size, ranks)[staged],
            measured,
            lambda i: f"rank {staged[i]}",
        )
        for way, meaning, rank, measured in (
            ("out", "to the host", columns.message_src, columns.staging_out_bytes),
            ("in", "to the accelerator", columns.message_dst, columns.staging_in_bytes),
        )
    ]
