// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_SEGMENT_BYTES_H
#define ASTRA_SEGMENT_BYTES_H

#include "tcp-figures.h"

#include "ns3/packet.h"

#include <array>
#include <cstdint>

namespace ns3
{

/// IPv4 header without options, as Ipv4L3Protocol sends it (RFC 791).
constexpr uint32_t IPV4_HEADER_BYTES = 20;
/// TCP header without options (RFC 9293).
constexpr uint32_t TCP_HEADER_BYTES = 20;
/// Timestamps option, padded to whole words (RFC 7323, appendix A).
constexpr uint32_t TIMESTAMPS_BYTES = 12;
/// Ethernet header and frame check sequence; and the least frame (IEEE 802.3, clause 3).
constexpr uint32_t ETHERNET_HEADER_BYTES = 14;
constexpr uint32_t ETHERNET_FCS_BYTES = 4;
constexpr uint32_t LEAST_FRAME_BYTES = 64;
/// Preamble, start of frame and gap between packets.
constexpr uint32_t ETHERNET_GAP_BYTES = 20;

/// Line bytes of the frame that carries an IPv4 packet.
constexpr uint32_t
PacketLineBytes(uint32_t packetBytes)
{
    const uint32_t frame = ETHERNET_HEADER_BYTES + packetBytes + ETHERNET_FCS_BYTES;
    return ETHERNET_GAP_BYTES + (frame < LEAST_FRAME_BYTES ? LEAST_FRAME_BYTES : frame);
}

/// Payload of a full segment (MSS less its options, RFC 9293, section 3.7.1).
constexpr uint32_t
SegmentPayload(const TcpFigures& figures)
{
    return figures.mtu - IPV4_HEADER_BYTES - TCP_HEADER_BYTES -
           (figures.hasTimestamps ? TIMESTAMPS_BYTES : 0);
}

/// What the fabric has to know of a segment, read from its first bytes.
struct SegmentBytes
{
    uint32_t destination{0}; ///< IPv4 address.
    uint16_t sourcePort{0};
    uint16_t destinationPort{0};
    uint32_t sequence{0};
    uint32_t payloadBytes{0};
    uint8_t flags{0}; ///< Of TcpHeader::Flags_t.
    bool isEcnCapable{false};
    bool isTcp{false};

    /// @param packet From its IPv4 header on.
    static SegmentBytes Of(const Packet& packet)
    {
        std::array<uint8_t, IPV4_HEADER_BYTES + TCP_HEADER_BYTES> bytes{};
        SegmentBytes segment;
        const uint32_t copied = packet.CopyData(bytes.data(), bytes.size());
        // Version 4, five words of header, and TCP.
        if (copied < bytes.size() || bytes[0] != 0x45 || bytes[9] != 6)
        {
            return segment;
        }
        const auto word = [&bytes](size_t at) {
            return static_cast<uint32_t>(bytes[at] << 24 | bytes[at + 1] << 16 |
                                         bytes[at + 2] << 8 | bytes[at + 3]);
        };
        const auto half = [&bytes](size_t at) {
            return static_cast<uint16_t>(bytes[at] << 8 | bytes[at + 1]);
        };
        segment.isTcp = true;
        segment.isEcnCapable = (bytes[1] & 3) != 0;
        segment.destination = word(16);
        segment.sourcePort = half(20);
        segment.destinationPort = half(22);
        segment.sequence = word(24);
        segment.flags = bytes[33];
        const uint32_t tcpHeader = 4U * (bytes[32] >> 4);
        segment.payloadBytes = packet.GetSize() - IPV4_HEADER_BYTES - tcpHeader;
        return segment;
    }
};

} // namespace ns3

#endif // ASTRA_SEGMENT_BYTES_H
