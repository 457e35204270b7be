// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_WIRE_FORMAT_H
#define ASTRA_WIRE_FORMAT_H

#include "../core/units.h"

#include <cstdint>

namespace ns3
{

/**
 * RoCEv2 on Ethernet: sizes in bytes.
 *
 * IEEE 802.3 (preamble and start delimiter 8, header 14, FCS 4, gap 12), RFC 791 (IPv4 20),
 * RFC 768 (UDP 8), InfiniBand Architecture 1.4 volume 1, chapter 9 and annex A17 (BTH 12, RETH 16,
 * AETH 4, ICRC 4, payload padded to 4).
 */
namespace wire
{
constexpr uint32_t PREAMBLE = 8;
constexpr uint32_t INTER_FRAME_GAP = 12;
constexpr uint32_t ETHERNET = 14;
constexpr uint32_t FCS = 4;
constexpr uint32_t IPV4 = 20;
constexpr uint32_t UDP = 8;
constexpr uint32_t BTH = 12;
constexpr uint32_t RETH = 16;
constexpr uint32_t AETH = 4;
constexpr uint32_t ICRC = 4;
constexpr uint32_t PADDING = 4;

/// All that a data packet other than a message's first puts on the line beside its payload.
constexpr uint32_t DATA_OVERHEAD =
    PREAMBLE + ETHERNET + IPV4 + UDP + BTH + ICRC + FCS + INTER_FRAME_GAP;
/// An acknowledgement, positive or negative.
constexpr uint32_t ACK_LINE = DATA_OVERHEAD + AETH;

/// A congestion notification packet: 16 bytes, all reserved, behind the BTH.
constexpr uint32_t CNP_LINE = DATA_OVERHEAD + 16;

static_assert(DATA_OVERHEAD == 82);
static_assert(ACK_LINE == 86);
static_assert(CNP_LINE == 98);
} // namespace wire

/// Line bytes of a transport's packets: RoCEv2's own, or fixed ones instead.
struct LineFormat
{
    int64_t headerBytes{-1}; ///< Beside the payload of any packet; -1 for RoCEv2's own.
    int64_t ackBytes{-1};    ///< Of an ACK; -1 for RoCEv2's own.

    uint32_t DataLine(uint32_t payload, bool isFirst) const
    {
        if (headerBytes >= 0)
        {
            return payload + static_cast<uint32_t>(headerBytes);
        }
        const uint32_t padded = (payload + wire::PADDING - 1) / wire::PADDING * wire::PADDING;
        return padded + wire::DATA_OVERHEAD + (isFirst ? wire::RETH : 0);
    }

    uint32_t AckLine() const
    {
        return ackBytes >= 0 ? static_cast<uint32_t>(ackBytes) : wire::ACK_LINE;
    }

    /// Line bytes of a whole message.
    ByteCount MessageLine(ByteCount size, uint32_t payload) const
    {
        const ByteCount packets = PacketsOf(size, payload);
        const auto last = static_cast<uint32_t>(size - (packets - 1) * payload);
        if (packets == 1)
        {
            return DataLine(last, true);
        }
        return DataLine(payload, true) + (packets - 2) * DataLine(payload, false) +
               DataLine(last, false);
    }

    /// Packets of a message; an empty one still takes one.
    static ByteCount PacketsOf(ByteCount size, uint32_t payload)
    {
        return size == 0 ? 1 : (size + payload - 1) / payload;
    }
};

} // namespace ns3

#endif // ASTRA_WIRE_FORMAT_H
