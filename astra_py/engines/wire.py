# SPDX-License-Identifier: GPL-2.0-only
"""RoCEv2, TCP and PFC on Ethernet: line bytes, preamble and gap included where nothing else is said.

IEEE 802.3 (preamble and start delimiter 8, header 14, FCS 4, gap 12), RFC 791 (IPv4 20), RFC 768 (UDP 8), InfiniBand
Architecture 1.4, volume 1, chapter 9 and annex A17 (BTH 12, RETH 16, AETH 4, ICRC 4, payload padded to 4), RFC 9293
(TCP 20), RFC 7323, appendix A (timestamps and their padding 12).
"""

__all__ = [
    "ACK_LINE_BYTES",
    "CNP_LINE_BYTES",
    "DATA_HEADER",
    "ETHERNET_FRAMING",
    "GAP",
    "PADDING",
    "PFC_LINE_BYTES",
    "RETH",
    "SMALLEST_FRAME",
    "TCP_FRAME_HEADERS",
    "TCP_TIMESTAMPS",
]

#: Preamble and start delimiter, and inter-frame gap: what no buffer holds.
GAP = 8 + 12

#: Preamble and start delimiter, Ethernet header, IPv4, UDP, BTH, ICRC, FCS, inter-frame gap: beside every payload.
DATA_HEADER = 8 + 14 + 20 + 8 + 12 + 4 + 4 + 12
#: Of the first or only packet of an RDMA WRITE.
RETH = 16
#: Payloads are padded to a multiple of it.
PADDING = 4
#: An acknowledgement is the headers and an AETH.
ACK_LINE_BYTES = DATA_HEADER + 4
#: A congestion notification is the headers and 16 B that are reserved (annex A17).
CNP_LINE_BYTES = DATA_HEADER + 16
#: PAUSE and RESUME: a smallest frame, preamble and gap (IEEE 802.3, annex 31D).
PFC_LINE_BYTES = 64 + 20

#: Ethernet header and FCS, and the smallest frame with them; without preamble and gap.
ETHERNET_FRAMING, SMALLEST_FRAME = 14 + 4, 64
#: Ethernet framing, IPv4 and TCP headers without options.
TCP_FRAME_HEADERS = ETHERNET_FRAMING + 20 + 20
#: Timestamps in a TCP header.
TCP_TIMESTAMPS = 12
