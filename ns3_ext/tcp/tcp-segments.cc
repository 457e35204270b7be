// SPDX-License-Identifier: GPL-2.0-only
#include "tcp-segments.h"

#include "tcp-addresses.h"
#include "tcp-streams.h"

#include "ns3/ipv4-header.h"
#include "ns3/tcp-header.h"

namespace ns3
{

namespace
{

/// Ranks have 24 bits, ports 14 beyond the first dynamic one.
uint64_t
PortsKeyOf(RankId rank, RankId peer, uint16_t dynamicPort, bool isSender)
{
    constexpr uint16_t DYNAMIC_PORTS = 0x3fff;
    return (static_cast<uint64_t>(rank) << 40) | (static_cast<uint64_t>(peer) << 16) |
           (static_cast<uint64_t>(dynamicPort & DYNAMIC_PORTS) << 1) | (isSender ? 1 : 0);
}

} // namespace

TcpSegments::TcpSegments(Fabric& fabric, FabricSimulatorImpl& simulator, TcpHosts& hosts)
    : m_fabric(fabric),
      m_simulator(simulator),
      m_hosts(hosts),
      m_packets(1), // Handle 0 is none.
      m_leaves(*this),
      m_departureHandler(*this)
{
}

void
TcpSegments::AddEnd(TcpEnd& end)
{
    end.index = static_cast<uint32_t>(m_ends.size());
    m_ends.push_back(&end);
    const uint16_t dynamicPort = end.isSender ? end.port : end.peerPort;
    m_endByPorts.emplace(PortsKeyOf(end.rank, end.peer, dynamicPort, end.isSender), &end);
}

TcpEnd*
TcpSegments::FindEnd(RankId rank, const SegmentBytes& segment)
{
    const bool isSender = segment.destinationPort == TCP_SERVICE_PORT;
    const uint16_t dynamicPort = isSender ? segment.sourcePort : segment.destinationPort;
    const auto found = m_endByPorts.find(
        PortsKeyOf(rank, segment.destination - FIRST_TCP_ADDRESS, dynamicPort, isSender));
    return found == m_endByPorts.end() ? nullptr : found->second;
}

void
TcpSegments::PutAway(FrameNotes& notes, const Ptr<Packet>& packet)
{
    if (m_freePackets.empty())
    {
        notes.packet = static_cast<uint32_t>(m_packets.size());
        m_packets.push_back(packet);
        return;
    }
    notes.packet = m_freePackets.back();
    m_freePackets.pop_back();
    m_packets[notes.packet] = packet;
}

bool
TcpSegments::Send(RankId rank, const Ptr<Packet>& packet)
{
    const SegmentBytes segment = SegmentBytes::Of(*packet);
    TcpEnd* end = segment.isTcp ? FindEnd(rank, segment) : nullptr;
    if (end == nullptr)
    {
        return false;
    }
    Frame* frame = m_fabric.NewFrame();
    frame->notes = m_fabric.NewNotes();
    PutAway(*frame->notes, packet);
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
    const auto argument = reinterpret_cast<uint64_t>(frame);
    if (segment.payloadBytes == 0)
    {
        if ((segment.flags & (TcpHeader::SYN | TcpHeader::RST | TcpHeader::FIN)) == 0)
        {
            ++m_hosts[rank].counters.acksSent;
        }
        MayLeave(argument);
        return true;
    }
    TcpMessage* message = m_streams->Emitted(*end->connection, segment, *frame);
    const TimePs work = m_hosts[rank].stack->SendSegment(end->core,
                                                         end->index,
                                                         segment.payloadBytes,
                                                         m_leaves,
                                                         argument);
    m_streams->AddWork(*end, message, work);
    return true;
}

void
TcpSegments::MayLeave(uint64_t frame)
{
    m_fabric.Inject(reinterpret_cast<Frame*>(frame));
}

void
TcpSegments::SegmentStarted(const Frame& frame, TimePs end)
{
    const ByteCount streamEnd = frame.notes->streamEnd;
    TcpConnection& connection = *m_ends[frame.flow]->connection;
    if (streamEnd <= connection.left)
    {
        return; // No data, or data that has left before.
    }
    Departure* departure = m_departures.Take();
    departure->connection = &connection;
    departure->streamEnd = streamEnd;
    m_fabric.Loop().ScheduleTimer(end, m_departureHandler, reinterpret_cast<uint64_t>(departure));
}

void
TcpSegments::HasLeft(uint64_t argument)
{
    auto* departure = reinterpret_cast<Departure*>(argument);
    TcpConnection& connection = *departure->connection;
    const ByteCount streamEnd = departure->streamEnd;
    m_departures.Give(departure);
    m_streams->HasLeft(connection, streamEnd);
}

void
TcpSegments::SegmentIsOver(FrameNotes& notes)
{
    m_packets[notes.packet] = nullptr;
    m_freePackets.push_back(notes.packet);
}

void
TcpSegments::ReceiveFrame(Frame& frame)
{
    TcpHost& host = m_hosts[frame.dst];
    if (frame.kind != FrameKind::SEGMENT)
    {
        host.nic->ReceiveFrame(frame);
        return;
    }
    const Ptr<Packet> packet = m_packets[frame.notes->packet];
    if (frame.isMarked)
    {
        ++host.counters.markedPackets;
        Ipv4Header header;
        packet->RemoveHeader(header);
        header.SetEcn(Ipv4Header::ECN_CE);
        packet->AddHeader(header);
    }
    TcpEnd& end = *m_ends[frame.flow ^ 1U];
    if (end.isSender && end.connection->opening == TcpOpening::OPEN)
    {
        ++end.connection->acks;
    }
    if (!host.stack->HoldFrame(frame.channel, end.core, frame.flow, packet))
    {
        ComeUp(end, packet);
    }
}

void
TcpSegments::PacketCameUp(uint32_t flow, Ptr<Packet> packet, TimePs work)
{
    TcpEnd& end = *m_ends[flow ^ 1U];
    const TcpConnection& connection = *end.connection;
    m_streams->AddWork(end, end.isSender ? connection.acking : connection.arriving, work);
    ComeUp(end, packet);
}

void
TcpSegments::ComeUp(TcpEnd& end, const Ptr<Packet>& packet)
{
    TcpHost& host = m_hosts[end.rank];
    const ContextGuard guard(m_simulator, host.node->GetId());
    m_arriving = &end;
    host.device->ComeUp(packet, m_hosts[end.peer].device->GetAddress());
    m_arriving = nullptr;
}

} // namespace ns3
