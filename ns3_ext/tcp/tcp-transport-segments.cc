// SPDX-License-Identifier: GPL-2.0-only
// Between IPv4 packets and frames of the fabric.
#include "tcp-transport.h"

#include "ns3/ipv4-header.h"
#include "ns3/tcp-header.h"

#include <algorithm>

namespace ns3
{

bool
TcpTransport::Send(RankId rank, const Ptr<Packet>& packet)
{
    const SegmentBytes segment = SegmentBytes::Of(*packet);
    TcpEnd* end = segment.isTcp ? FindEnd(rank, segment) : nullptr;
    if (end == nullptr)
    {
        return false;
    }
    Frame* frame = m_fabric.NewFrame();
    frame->notes = m_fabric.NewNotes();
    if (m_freePackets.empty())
    {
        frame->notes->packet = static_cast<uint32_t>(m_packets.size());
        m_packets.push_back(packet);
    }
    else
    {
        frame->notes->packet = m_freePackets.back();
        m_freePackets.pop_back();
        m_packets[frame->notes->packet] = packet;
    }
    if (end->isRoutedByHop)
    {
        frame->channel = end->path[0];
    }
    else
    {
        frame->path = end->path;
        frame->hops = end->hops;
    }
    frame->flow = end->index;
    frame->psn = end->frames++;
    frame->lineBytes = PacketLineBytes(packet->GetSize());
    frame->src = end->rank;
    frame->dst = end->peer;
    frame->kind = FrameKind::SEGMENT;
    frame->priority = end->connection->priority;
    frame->transitPriority = frame->priority;
    frame->isEcnCapable = segment.isEcnCapable;
    if (segment.payloadBytes > 0)
    {
        CountData(*end->connection, segment, *frame);
    }
    else if ((segment.flags & (TcpHeader::SYN | TcpHeader::RST | TcpHeader::FIN)) == 0)
    {
        ++m_hosts[rank].counters.acksSent;
    }
    m_fabric.Inject(frame);
    return true;
}

TcpEnd*
TcpTransport::FindEnd(RankId rank, const SegmentBytes& segment)
{
    const bool isSender = segment.destinationPort == SERVICE_PORT;
    const uint16_t dynamicPort = isSender ? segment.sourcePort : segment.destinationPort;
    const auto found = m_endByPorts.find(
        PortsKeyOf(rank, segment.destination - FIRST_ADDRESS, dynamicPort, isSender));
    return found == m_endByPorts.end() ? nullptr : found->second;
}

void
TcpTransport::CountData(TcpConnection& connection, const SegmentBytes& segment, Frame& frame)
{
    // Sequence numbers have 32 bits and start at 1, where the stream's bytes start at 0.
    const auto emitted = static_cast<uint32_t>(connection.emitted + 1);
    const ByteCount begin = connection.emitted + static_cast<int32_t>(segment.sequence - emitted);
    const ByteCount end = begin + segment.payloadBytes;
    const uint32_t fillers = connection.fillers == 0 ? 0 : FillersIn(connection, begin, end);
    frame.payloadBytes = segment.payloadBytes - fillers;
    frame.notes->streamEnd = end;
    NicCounters& counters = m_hosts[connection.sender.rank].counters;
    if (begin < connection.emitted)
    {
        frame.isRepetition = true;
        ++counters.repeatedPackets;
        for (const TcpMessage* message = connection.acking;
             message != nullptr && message->begin < std::min(end, connection.emitted);
             message = message->next)
        {
            if (message->end > begin)
            {
                m_listener->PacketRepeated(message->id);
            }
        }
    }
    else
    {
        ++counters.dataPackets;
    }
    if (end > connection.emitted)
    {
        const ByteCount from = std::max(begin, connection.emitted);
        const uint32_t empty = fillers == 0 ? 0 : FillersIn(connection, from, end);
        counters.sentPayloadBytes += end - from - empty;
        connection.emitted = end;
    }
}

uint32_t
TcpTransport::FillersIn(const TcpConnection& connection, ByteCount begin, ByteCount end)
{
    uint32_t count = 0;
    for (const TcpMessage* message = connection.acking; message != nullptr && message->begin < end;
         message = message->next)
    {
        count += message->size == 0 && message->begin >= begin ? 1 : 0;
    }
    return count;
}

void
TcpTransport::SegmentStarted(const Frame& frame, TimePs end)
{
    const ByteCount streamEnd = frame.notes->streamEnd;
    TcpConnection& connection = m_connections[frame.flow / 2];
    if (streamEnd <= connection.left)
    {
        return; // No data, or data that has left before.
    }
    Departure* departure = m_departures.Take();
    departure->connection = &connection;
    departure->streamEnd = streamEnd;
    m_fabric.Loop().ScheduleTimer(end, m_leftHandler, reinterpret_cast<uint64_t>(departure));
}

void
TcpTransport::SegmentIsOver(FrameNotes& notes)
{
    m_packets[notes.packet] = nullptr;
    m_freePackets.push_back(notes.packet);
}

void
TcpTransport::Host::ReceiveFrame(Frame& frame)
{
    if (frame.kind == FrameKind::SEGMENT)
    {
        transport->ComeUp(*this, frame);
    }
    else
    {
        nic->ReceiveFrame(frame);
    }
}

void
TcpTransport::ComeUp(Host& host, Frame& frame)
{
    TcpConnection& connection = m_connections[frame.flow / 2];
    const bool isFromSender = frame.flow % 2 == 0;
    Ptr<Packet> packet = m_packets[frame.notes->packet];
    if (frame.isMarked)
    {
        ++host.counters.markedPackets;
        Ipv4Header header;
        packet->RemoveHeader(header);
        header.SetEcn(Ipv4Header::ECN_CE);
        packet->AddHeader(header);
    }
    const ContextGuard guard(m_simulator, host.node->GetId());
    m_arriving = isFromSender ? &connection.receiver : &connection.sender;
    host.device->ComeUp(packet, m_hosts[frame.src].device->GetAddress());
    m_arriving = nullptr;
}

void
TcpTransport::TimedOut(const TcpEnd& end)
{
    ++m_hosts[end.rank].counters.timeouts;
}

} // namespace ns3
