// SPDX-License-Identifier: GPL-2.0-only
#include "receive-merger.h"

#include "offload-unit.h"

#include "ns3/ipv4-header.h"
#include "ns3/tcp-header.h"

#include <array>

namespace ns3
{

namespace
{

/// Headers without options.
constexpr uint32_t IPV4_BYTES = 20;
constexpr uint32_t TCP_BYTES = 20;
/// What a segment may have that the ones before it in its unit have not.
constexpr uint8_t ENDS_UNIT = TcpHeader::FIN | TcpHeader::PSH;
constexpr uint8_t MAY_DIFFER = ENDS_UNIT | TcpHeader::CWR;

} // namespace

std::vector<ReceivedPacket>&
ReceiveMerger::Merge(const std::vector<ReceivedPacket>& batch)
{
    m_units.clear();
    for (const ReceivedPacket& received : batch)
    {
        const Segment segment = Read(*received.packet);
        auto open = m_open.find(received.flow);
        if (open != m_open.end() && Continues(segment, open->second))
        {
            open->second.bytes += segment.payloadBytes;
            open->second.first.flags |= segment.flags & ENDS_UNIT;
            ++open->second.segments;
        }
        else
        {
            if (open != m_open.end())
            {
                Close(open->second);
            }
            open = m_open
                       .insert_or_assign(received.flow,
                                         Unit{m_units.size(), segment, segment.payloadBytes, 1})
                       .first;
            m_units.push_back(received);
        }
    }
    for (const auto& [flow, unit] : m_open)
    {
        Close(unit);
    }
    m_open.clear();
    return m_units;
}

ReceiveMerger::Segment
ReceiveMerger::Read(const Packet& packet)
{
    std::array<uint8_t, IPV4_BYTES + TCP_BYTES> bytes{};
    packet.CopyData(bytes.data(), bytes.size());
    const auto word = [&bytes](size_t at) {
        return static_cast<uint32_t>(bytes[at]) << 24 | static_cast<uint32_t>(bytes[at + 1]) << 16 |
               static_cast<uint32_t>(bytes[at + 2]) << 8 | bytes[at + 3];
    };
    const uint32_t tcpHeader = 4U * (bytes[IPV4_BYTES + 12] >> 4);
    Segment segment;
    segment.ecn = bytes[1] & 3;
    segment.sequence = SequenceNumber32(word(IPV4_BYTES + 4));
    segment.flags = bytes[IPV4_BYTES + 13];
    segment.payloadBytes = packet.GetSize() - IPV4_BYTES - tcpHeader;
    return segment;
}

bool
ReceiveMerger::Continues(const Segment& segment, const Unit& unit)
{
    const Segment& first = unit.first;
    const bool isOver = unit.bytes != unit.segments * first.payloadBytes ||
                        (first.flags & ENDS_UNIT) != 0; // Its last one was shorter, or said so.
    const bool isAlike = segment.ecn == first.ecn && (segment.flags & TcpHeader::CWR) == 0 &&
                         ((segment.flags ^ first.flags) & ~MAY_DIFFER) == 0;
    return !isOver && isAlike && segment.payloadBytes > 0 &&
           segment.payloadBytes <= first.payloadBytes &&
           segment.sequence == first.sequence + unit.bytes &&
           unit.bytes + segment.payloadBytes <= LARGEST_OFFLOAD_UNIT;
}

void
ReceiveMerger::Close(const Unit& unit)
{
    if (unit.segments == 1)
    {
        return;
    }
    m_units[unit.index].packets = unit.segments;
    Ptr<Packet>& packet = m_units[unit.index].packet;
    Ipv4Header ip;
    TcpHeader tcp;
    const Ptr<Packet> first = packet->Copy();
    first->RemoveHeader(ip);
    first->RemoveHeader(tcp);
    tcp.SetFlags(unit.first.flags);
    ip.SetPayloadSize(static_cast<uint16_t>(tcp.GetSerializedSize() + unit.bytes));
    // The bytes of messages are zeros that nobody looks at, so there is nothing to be copied.
    packet = Create<Packet>(unit.bytes);
    packet->AddHeader(tcp);
    packet->AddHeader(ip);
}

} // namespace ns3
