// SPDX-License-Identifier: GPL-2.0-only
#include "frame-encoder.h"

#include "../core/errors.h"
#include "../roce/psn.h"
#include "../roce/wire-format.h"
#include "../tcp/tcp-transport.h"
#include "checksums.h"
#include "message-book.h"

#include <algorithm>
#include <limits>
#include <string>

namespace ns3
{

namespace
{

/// Line bytes that a capture does not have: preamble and gap, which are of no frame, and the FCS.
constexpr uint32_t UNCAPTURED = wire::PREAMBLE + wire::FCS + wire::INTER_FRAME_GAP;

constexpr uint32_t ETHERTYPE_IPV4 = 0x0800;
constexpr uint32_t ETHERTYPE_MAC_CONTROL = 0x8808;
/// Priority-based flow control (IEEE 802.3, table 31A-1).
constexpr uint32_t PFC_OPCODE = 0x0101;
/// Smallest Ethernet frame, without its FCS.
constexpr size_t SMALLEST_FRAME = 60;

constexpr uint32_t VERSION_AND_LENGTH = 0x45; ///< IPv4, five words.
constexpr uint32_t DONT_FRAGMENT = 0x4000;
constexpr uint32_t PROTOCOL_UDP = 17;
/// Initial time to live (RFC 1700).
constexpr uint32_t TIME_TO_LIVE = 64;
/// Addresses of ranks are 10.0.0.1 and on.
constexpr uint32_t FIRST_ADDRESS = 0x0a000001;
/// ECN field (RFC 3168, section 5).
constexpr uint32_t ECN_CAPABLE = 2;
constexpr uint32_t ECN_CONGESTION_EXPERIENCED = 3;

constexpr uint32_t ROCE_PORT = 4791;
/// Dynamic ports (RFC 6335), of which a queue pair's is one.
constexpr uint32_t FIRST_SOURCE_PORT = 49152;
constexpr uint32_t SOURCE_PORT_MASK = 0x3fff;

/// BTH opcodes of reliable connections, and the one of CNPs.
constexpr uint32_t WRITE_FIRST = 0x06;
constexpr uint32_t WRITE_MIDDLE = 0x07;
constexpr uint32_t WRITE_LAST = 0x08;
constexpr uint32_t WRITE_ONLY = 0x0a;
constexpr uint32_t ACKNOWLEDGE = 0x11;
constexpr uint32_t CONGESTION_NOTIFICATION = 0x81;
constexpr uint32_t MIGRATED = 0x40; ///< The path is the one that the connection was made with.
constexpr uint32_t PADDING_SHIFT = 4;
constexpr uint32_t DEFAULT_PARTITION = 0xffff;
constexpr uint32_t BECN = 0x40;
constexpr uint32_t ACK_REQUEST = 0x80;
/// Queue pairs 0 and 1 are those of management.
constexpr uint32_t FIRST_QUEUE_PAIR = 2;
constexpr uint32_t LARGEST_24 = 0xffffff;

/// AETH syndromes: an ACK that grants no credits, and a NAK for a gap in the sequence.
constexpr uint32_t ACK_WITHOUT_CREDITS = 0x1f;
constexpr uint32_t NAK_SEQUENCE_ERROR = 0x60;
constexpr uint32_t CNP_RESERVED = 16;

/// Telemetry of HPCC (SIGCOMM 2019, section 4.1): 4 bits of hops and 12 of a path, then for each
/// hop 4 of its rate, 24 of time, 20 of bytes sent and 16 of its queue; the units are assumed.
constexpr uint32_t TELEMETRY_HEADER = 2;
constexpr uint32_t TELEMETRY_HOP = 8;
constexpr int64_t TELEMETRY_RATE_UNIT = 50'000'000'000;
constexpr int64_t TELEMETRY_BYTE_UNIT = 128;
constexpr int64_t TELEMETRY_QUEUE_UNIT = 80;

uint32_t
PaddingOf(uint32_t payload)
{
    return (wire::PADDING - payload % wire::PADDING) % wire::PADDING;
}

uint32_t
QueuePairNumber(const Frame& frame)
{
    if (frame.flow > LARGEST_24 - FIRST_QUEUE_PAIR)
    {
        throw InvariantError("a capture has numbers for 2^24 - 2 queue pairs, and there are more");
    }
    return frame.flow + FIRST_QUEUE_PAIR;
}

uint32_t
WriteOpcode(const PacketPlace& place)
{
    if (place.isFirst)
    {
        return place.isLast ? WRITE_ONLY : WRITE_FIRST;
    }
    return place.isLast ? WRITE_LAST : WRITE_MIDDLE;
}

uint64_t
LowerBits(int64_t value, uint32_t count)
{
    return static_cast<uint64_t>(value) & ((1ULL << count) - 1);
}

/// A value, or the largest one that so many bits hold.
uint64_t
AtMost(int64_t value, uint32_t count)
{
    return static_cast<uint64_t>(std::min<int64_t>(value, (1LL << count) - 1));
}

} // namespace

FrameEncoder::FrameEncoder(const MessageBook& book,
                           uint32_t telemetryBytes,
                           const TcpTransport* tcp)
    : m_book(book),
      m_telemetryBytes(telemetryBytes),
      m_tcp(tcp)
{
}

std::span<const uint8_t>
FrameEncoder::Encode(const Frame& frame, const LinkAddresses& addresses)
{
    m_bytes.Clear();
    if (frame.kind == FrameKind::PAUSE)
    {
        PutPause(frame, addresses);
    }
    else if (frame.kind == FrameKind::SEGMENT)
    {
        PutSegment(frame, addresses);
    }
    else
    {
        PutEthernet(addresses, ETHERTYPE_IPV4);
        PutIpv4(frame);
        PutUdp(frame);
        switch (frame.kind)
        {
        case FrameKind::DATA:
            PutData(frame, m_book.Find(frame));
            break;
        case FrameKind::CNP:
            PutNotification(frame);
            break;
        default:
            PutAnswer(frame);
        }
        SetLengths();
        m_bytes.Put32LowestFirst(InvariantCrc(m_bytes.From(wire::ETHERNET)));
        if (frame.lineBytes != m_bytes.Size() + UNCAPTURED)
        {
            PutTelemetry(frame.notes);
        }
    }
    if (m_bytes.Size() + UNCAPTURED != frame.lineBytes)
    {
        throw InvariantError("a frame of " + std::to_string(frame.lineBytes) +
                             " line bytes is captured as one of " +
                             std::to_string(m_bytes.Size() + UNCAPTURED));
    }
    return m_bytes.From(0);
}

void
FrameEncoder::PutEthernet(const LinkAddresses& addresses, uint32_t type)
{
    for (const Mac48Address& address : {addresses.receiver, addresses.transmitter})
    {
        uint8_t octets[6];
        address.CopyTo(octets);
        for (const uint8_t octet : octets)
        {
            m_bytes.Put8(octet);
        }
    }
    m_bytes.Put16(type);
}

void
FrameEncoder::PutPause(const Frame& frame, const LinkAddresses& addresses)
{
    static const Mac48Address pauseAddress("01:80:c2:00:00:01");
    PutEthernet({addresses.transmitter, pauseAddress}, ETHERTYPE_MAC_CONTROL);
    m_bytes.Put16(PFC_OPCODE);
    m_bytes.Put16(1U << frame.flow);
    for (uint32_t priority = 0; priority < PRIORITIES; ++priority)
    {
        m_bytes.Put16(priority == frame.flow ? frame.psn : 0);
    }
    m_bytes.PutZeros(SMALLEST_FRAME - m_bytes.Size());
}

void
FrameEncoder::PutSegment(const Frame& frame, const LinkAddresses& addresses)
{
    constexpr size_t typeOfService = 1;
    constexpr size_t timeToLive = 8;
    constexpr size_t checksum = 10;
    constexpr size_t tcpChecksum = wire::IPV4 + 16;
    PutEthernet(addresses, ETHERTYPE_IPV4);
    const Ptr<const Packet> packet = m_tcp->PacketOf(frame);
    const std::span<uint8_t> bytes = m_bytes.PutRoom(packet->GetSize());
    packet->CopyData(bytes.data(), packet->GetSize());
    // What switches change on the way is in the frame; the packet stays as it was sent.
    bytes[timeToLive] = static_cast<uint8_t>(std::max(bytes[timeToLive] - frame.hop, 1));
    if (frame.isMarked)
    {
        bytes[typeOfService] |= ECN_CONGESTION_EXPERIENCED;
    }
    m_bytes.Set16(wire::ETHERNET + checksum, 0);
    m_bytes.Set16(wire::ETHERNET + checksum, InternetChecksum(bytes.first(wire::IPV4)));
    m_bytes.Set16(wire::ETHERNET + tcpChecksum, 0);
    m_bytes.Set16(wire::ETHERNET + tcpChecksum,
                  InternetChecksum(bytes.subspan(wire::IPV4), PseudoHeaderSum(bytes)));
    if (m_bytes.Size() < SMALLEST_FRAME)
    {
        m_bytes.PutZeros(SMALLEST_FRAME - m_bytes.Size());
    }
}

void
FrameEncoder::PutIpv4(const Frame& frame)
{
    uint32_t ecn = 0;
    if (frame.isEcnCapable)
    {
        ecn = frame.isMarked ? ECN_CONGESTION_EXPERIENCED : ECN_CAPABLE;
    }
    m_bytes.Put8(VERSION_AND_LENGTH);
    // The class selector of the priority (RFC 2474), above the ECN field.
    m_bytes.Put8(static_cast<uint32_t>(frame.transitPriority) << 5 | ecn);
    m_bytes.Put16(0);         // The length comes later.
    m_bytes.Put16(frame.psn); // Its lower half: any number will do where nothing is fragmented.
    m_bytes.Put16(DONT_FRAGMENT);
    m_bytes.Put8(TIME_TO_LIVE - std::min<uint32_t>(frame.hop, TIME_TO_LIVE - 1));
    m_bytes.Put8(PROTOCOL_UDP);
    m_bytes.Put16(0); // So does the checksum.
    m_bytes.Put32(FIRST_ADDRESS + frame.src);
    m_bytes.Put32(FIRST_ADDRESS + frame.dst);
}

void
FrameEncoder::PutUdp(const Frame& frame)
{
    m_bytes.Put16(FIRST_SOURCE_PORT + (m_book.ConnectionHash(frame) & SOURCE_PORT_MASK));
    m_bytes.Put16(ROCE_PORT);
    m_bytes.Put16(0); // The length comes later.
    m_bytes.Put16(0); // None: the ICRC is the better one.
}

void
FrameEncoder::SetLengths()
{
    constexpr size_t ipv4Length = wire::ETHERNET + 2;
    constexpr size_t ipv4Checksum = wire::ETHERNET + 10;
    constexpr size_t udpLength = wire::ETHERNET + wire::IPV4 + 4;
    const auto length = static_cast<uint32_t>(m_bytes.Size() - wire::ETHERNET) + wire::ICRC;
    m_bytes.Set16(ipv4Length, length);
    m_bytes.Set16(udpLength, length - wire::IPV4);
    m_bytes.Set16(ipv4Checksum, InternetChecksum(m_bytes.From(wire::ETHERNET).first(wire::IPV4)));
}

void
FrameEncoder::PutBth(const Frame& frame, uint32_t opcode, uint32_t padding, uint32_t psn)
{
    const bool isNotifying =
        frame.kind == FrameKind::CNP || (frame.kind != FrameKind::DATA && frame.isMarked);
    m_bytes.Put8(opcode);
    m_bytes.Put8((frame.kind == FrameKind::CNP ? 0 : MIGRATED) | padding << PADDING_SHIFT);
    m_bytes.Put16(DEFAULT_PARTITION);
    m_bytes.Put8(isNotifying ? BECN : 0);
    m_bytes.Put24(QueuePairNumber(frame));
    m_bytes.Put8(frame.isAckRequested ? ACK_REQUEST : 0);
    m_bytes.Put24(psn);
}

void
FrameEncoder::PutData(const Frame& frame, const PacketPlace& place)
{
    const uint32_t padding = PaddingOf(frame.payloadBytes);
    PutBth(frame, WriteOpcode(place), padding, frame.psn);
    if (place.isFirst)
    {
        if (place.message.size > std::numeric_limits<uint32_t>::max())
        {
            throw InvariantError("a message of " + std::to_string(place.message.size) +
                                 " B has no RETH: its length has 32 bits");
        }
        m_bytes.Put64(static_cast<uint64_t>(place.message.bytesBefore));
        m_bytes.Put32(QueuePairNumber(frame));
        m_bytes.Put32(static_cast<uint32_t>(place.message.size));
    }
    m_bytes.PutZeros(frame.payloadBytes + padding);
}

void
FrameEncoder::PutAnswer(const Frame& frame)
{
    // An ACK has the number of the last packet that it acknowledges, a NAK that of the missing one.
    const bool isNak = frame.kind == FrameKind::NAK;
    PutBth(frame, ACKNOWLEDGE, 0, isNak ? frame.psn : (frame.psn - 1) & PSN_MASK);
    const bool isNaming = frame.notes != nullptr && m_book.NamesPackets(frame);
    m_bytes.Put8(isNak ? NAK_SEQUENCE_ERROR : ACK_WITHOUT_CREDITS);
    m_bytes.Put24(isNaming ? frame.notes->receivedPsn : m_book.CompleteBefore(frame));
}

void
FrameEncoder::PutNotification(const Frame& frame)
{
    PutBth(frame, CONGESTION_NOTIFICATION, 0, 0);
    m_bytes.PutZeros(CNP_RESERVED);
}

void
FrameEncoder::PutTelemetry(const FrameNotes* notes)
{
    const size_t end = m_bytes.Size() + m_telemetryBytes;
    if (notes != nullptr && m_telemetryBytes >= TELEMETRY_HEADER)
    {
        const uint32_t room = (m_telemetryBytes - TELEMETRY_HEADER) / TELEMETRY_HOP;
        const uint32_t hops = std::min<uint32_t>(notes->hops, room);
        m_bytes.Put16(hops << 12);
        for (uint32_t hop = 0; hop < hops; ++hop)
        {
            const TelemetryHop& stamp = notes->telemetry[hop];
            m_bytes.Put64(AtMost(stamp.rate / TELEMETRY_RATE_UNIT, 4) << 60 |
                          LowerBits(stamp.time / PS_PER_NS, 24) << 36 |
                          LowerBits(stamp.sentBytes / TELEMETRY_BYTE_UNIT, 20) << 16 |
                          AtMost(stamp.queueBytes / TELEMETRY_QUEUE_UNIT, 16));
        }
    }
    m_bytes.PutZeros(end - m_bytes.Size());
}

} // namespace ns3
