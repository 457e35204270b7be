// SPDX-License-Identifier: GPL-2.0-only
// Connections, and which of them messages take.
#include "tcp-transport.h"

#include "tcp-addresses.h"

#include "ns3/tcp-congestion-ops.h"

#include <algorithm>
#include <span>

namespace ns3
{

namespace
{

/// Buffers of "auto" are so many bandwidth-delay products.
constexpr int64_t BUFFER_PRODUCTS = 4;
/// Segments that a connection has under way however short its round trip is: with two to an
/// acknowledgement, two more keep the line busy; assumed.
constexpr int64_t LEAST_SEGMENTS = 4;
/// Segments that wait at the NIC where a socket hands it one by one: one on the wire, one behind.
constexpr uint32_t UNSENT_SEGMENTS = 2;

uint64_t
KeyOf(RankId src, RankId dst, uint8_t priority)
{
    return (static_cast<uint64_t>(src) << 32) | (static_cast<uint64_t>(dst) << 8) | priority;
}

TcpStreams::Figures
StreamFiguresOf(const TcpFigures& figures, bool hasTso, TimePs receiveLatency)
{
    TcpStreams::Figures streams{};
    streams.segmentBytes = SegmentPayload(figures);
    streams.receiveLatency = receiveLatency;
    // What a host hands down at a time it writes at a time, or there would be nothing to hand down.
    streams.writeUnit = hasTso ? LARGEST_OFFLOAD_UNIT / streams.segmentBytes * streams.segmentBytes
                               : streams.segmentBytes;
    streams.writeUnit = std::max<ByteCount>(streams.writeUnit, streams.segmentBytes);
    streams.unsentLimit = figures.unsentLimit;
    if (figures.unsentLimit < 0)
    {
        streams.unsentLimit =
            std::max<ByteCount>(streams.writeUnit, UNSENT_SEGMENTS * streams.segmentBytes);
    }
    return streams;
}

} // namespace

TcpTransport::TcpTransport(const TcpFigures& figures,
                           const HostFigures& host,
                           const Surroundings& surroundings)
    : m_figures(figures),
      m_platform(surroundings.platform),
      m_fabric(surroundings.fabric),
      m_simulator(surroundings.simulator),
      m_scaleUp(surroundings.scaleUp),
      m_sendLatency(surroundings.sendLatency),
      m_segmentBytes(SegmentPayload(figures)),
      m_segments(m_fabric, m_simulator, m_hosts),
      m_streams(StreamFiguresOf(figures, host.hasTso, surroundings.receiveLatency),
                m_simulator,
                m_hosts),
      m_sendLatencyHandler(*this)
{
    CheckFigures();
    MakePrototype();
    MakeMachines(host, surroundings.seed);
    m_segments.SetStreams(m_streams);
    m_fabric.SetSegmentOwner(m_segments);
}

TcpTransport::~TcpTransport() = default;

void
TcpTransport::SetListener(MessageListener& listener)
{
    m_streams.SetListener(listener);
    m_scaleUp.SetListener(listener);
}

// ---------------------------------------------------------------------------------------- messages

void
TcpTransport::Post(const MessageRequest& request)
{
    if (PeerOf(request.src, request.dst, request.priority).isScaleUp)
    {
        m_scaleUp.Post(request);
        return;
    }
    if (m_sendLatency == 0)
    {
        Submit(request);
        return;
    }
    EventLoop& loop = m_fabric.Loop();
    m_submitted.push_back(request);
    loop.ScheduleTimer(loop.Now() + m_sendLatency, m_sendLatencyHandler, 0);
}

void
TcpTransport::SendLatencyPassed(uint64_t)
{
    const MessageRequest request = m_submitted.front();
    m_submitted.pop_front();
    Submit(request);
}

void
TcpTransport::Submit(const MessageRequest& request)
{
    Expect(request.src, request.dst, request.priority);
    Peer& peer = PeerOf(request.src, request.dst, request.priority);
    const auto sockets = static_cast<uint32_t>(peer.connections.size());
    const ByteCount segments =
        std::max<ByteCount>((request.size + m_segmentBytes - 1) / m_segmentBytes, 1);
    const ByteCount parts = m_figures.socketPolicy == SocketPolicy::STRIPED
                                ? std::min<ByteCount>(sockets, segments)
                                : ByteCount{1};
    TcpStripes* whole = parts == 1 ? nullptr : m_streams.NewStripes(static_cast<uint32_t>(parts));
    ByteCount rest = request.size;
    for (ByteCount part = 0; part < parts; ++part)
    {
        const ByteCount count = segments / parts + (part < segments % parts ? 1 : 0);
        const ByteCount size = std::min<ByteCount>(count * m_segmentBytes, rest);
        rest -= size;
        TcpConnection& connection = *peer.connections[peer.next];
        peer.next = (peer.next + 1) % sockets;
        m_streams.Append(connection, request.id, size, whole);
        Open(connection);
    }
}

void
TcpTransport::Open(TcpConnection& connection)
{
    if (connection.opening == TcpOpening::CLOSED)
    {
        const ContextGuard guard(m_simulator, m_hosts[connection.sender.rank].node->GetId());
        connection.opening = TcpOpening::OPENING;
        connection.sender.socket->Call();
    }
}

// ------------------------------------------------------------------------------------- connections

TcpTransport::Peer&
TcpTransport::PeerOf(RankId src, RankId dst, uint8_t priority)
{
    const auto [found, isNew] = m_peers.try_emplace(KeyOf(src, dst, priority));
    if (isNew)
    {
        m_scaleUp.Routes().FindPath(FlowIdentity{src, dst, 0}, m_scratchPath);
        found->second.isScaleUp =
            std::all_of(m_scratchPath.begin(), m_scratchPath.end(), [this](ChannelId channel) {
                return m_platform.IsScaleUp(channel);
            });
    }
    return found->second;
}

void
TcpTransport::Expect(RankId src, RankId dst, uint8_t priority)
{
    Peer& peer = PeerOf(src, dst, priority);
    while (!peer.isScaleUp && peer.connections.size() < m_figures.socketsPerPeer)
    {
        const auto number = static_cast<uint32_t>(peer.connections.size());
        peer.connections.push_back(Connect(src, dst, priority, number));
    }
}

TcpConnection*
TcpTransport::Connect(RankId src, RankId dst, uint8_t priority, uint32_t number)
{
    TcpConnection& connection = m_connections.emplace_back();
    connection.number = number;
    connection.priority = priority;
    TcpEnd& sender = connection.sender;
    TcpEnd& receiver = connection.receiver;
    sender.connection = &connection;
    sender.isSender = true;
    sender.rank = src;
    sender.peer = dst;
    // No two connections of a pair of ranks have the same port.
    sender.port = static_cast<uint16_t>(FIRST_DYNAMIC_PORT + number * ACK_PRIORITY + priority);
    sender.peerPort = TCP_SERVICE_PORT;
    receiver.connection = &connection;
    receiver.rank = dst;
    receiver.peer = src;
    receiver.port = sender.peerPort;
    receiver.peerPort = sender.port;
    const uint64_t key = HostStack::ConnectionKey(src, dst, priority, number);
    SetEnd(sender, key, number);
    SetEnd(receiver, key, number);
    const Ptr<FabricTcpSocket> calling = NewSocket(sender);
    // Its own, and no copy of the prototype's: of TcpHybla's reference round trip, for one, copies
    // know nothing.
    calling->SetCongestionControlAlgorithm(m_controls.Create<TcpCongestionOps>());
    if (m_figures.connect == TcpConnect::BEFORE)
    {
        const Ptr<FabricTcpSocket> called = NewSocket(receiver);
        calling->OpenByHand(*called);
        called->OpenByHand(*calling);
        connection.opening = TcpOpening::OPEN;
    }
    return &connection;
}

void
TcpTransport::SetEnd(TcpEnd& end, uint64_t key, uint32_t number)
{
    const TcpHost& host = m_hosts[end.rank];
    m_scaleUp.Routes().FindPath(FlowIdentity{end.rank, end.peer, number}, m_scratchPath);
    end.path = m_paths.Store(m_scratchPath);
    end.hops = static_cast<uint16_t>(m_scratchPath.size());
    const RoutingKind kind = m_platform.routing.kind;
    end.isRoutedByHop = kind == RoutingKind::SPRAY || kind == RoutingKind::LEAST_LOADED;
    end.isStaged = host.stack->IsStaged(StartsOverHost(m_platform, m_scratchPath));
    end.core = host.stack->CoreOf(key, number);
    m_segments.AddEnd(end);
}

Ptr<FabricTcpSocket>
TcpTransport::NewSocket(TcpEnd& end)
{
    end.socket = m_prototype->CopyFor(*this, &end, m_hosts[end.rank].node);
    end.socket->SetPlace(PlaceOf(end));
    SetCallbacks(end);
    return end.socket;
}

void
TcpTransport::SetCallbacks(TcpEnd& end)
{
    FabricTcpSocket& socket = *end.socket;
    socket.SetConnectCallback(MakeCallback(&TcpTransport::Opened, this),
                              MakeCallback(&TcpTransport::Failed, this));
    socket.SetCloseCallbacks(MakeCallback(&TcpTransport::Failed, this),
                             MakeCallback(&TcpTransport::Failed, this));
    if (!end.isSender)
    {
        socket.SetRecvCallback(MakeCallback(&TcpStreams::DataCame, &m_streams));
    }
}

FabricTcpSocket::Place
TcpTransport::PlaceOf(const TcpEnd& end) const
{
    const TcpConnection& connection = *end.connection;
    const std::span<const ChannelId> way(connection.sender.path, connection.sender.hops);
    BitRate rate = m_platform.Rate(way.front());
    for (const ChannelId channel : way)
    {
        rate = std::min(rate, m_platform.Rate(channel));
    }
    const TimePs roundTrip = WayTime(connection.sender, m_figures.mtu, m_segmentBytes) +
                             WayTime(connection.receiver, m_figures.mtu - m_segmentBytes, 0) +
                             m_hosts[end.rank].stack->InterruptDelay() +
                             m_hosts[end.peer].stack->InterruptDelay();
    const auto product =
        static_cast<int64_t>(static_cast<Int128>(rate) * roundTrip / (BITS_PER_BYTE * PS_PER_S));
    const int64_t automatic =
        std::min(BUFFER_PRODUCTS * std::max(product, LEAST_SEGMENTS * m_segmentBytes),
                 LARGEST_TCP_BUFFER);
    const int64_t send = m_figures.sendBuffer < 0 ? automatic : m_figures.sendBuffer;
    const int64_t receive = m_figures.receiveBuffer < 0 ? send : m_figures.receiveBuffer;
    return {static_cast<uint32_t>(send),
            static_cast<uint32_t>(receive),
            m_platform.Rate(end.path[0]),
            roundTrip};
}

TimePs
TcpTransport::WayTime(const TcpEnd& end, uint32_t packetBytes, uint32_t payloadBytes) const
{
    Frame frame;
    frame.kind = FrameKind::SEGMENT;
    frame.lineBytes = PacketLineBytes(packetBytes);
    frame.payloadBytes = payloadBytes;
    TimePs time = 0;
    for (uint16_t hop = 0; hop < end.hops; ++hop)
    {
        const Port& port = m_fabric.GetPort(end.path[hop]);
        time += m_fabric.SerializationOn(end.path[hop], frame) + port.delay +
                (hop + 1 < end.hops ? port.peerLatency : 0);
    }
    return time;
}

void
TcpTransport::Accepted(const Ptr<FabricTcpSocket>& socket)
{
    TcpEnd& end = *m_segments.Arriving();
    socket->SetEnd(end);
    socket->SetPlace(PlaceOf(end));
    end.socket = socket;
    SetCallbacks(end);
}

void
TcpTransport::Opened(Ptr<Socket> socket)
{
    TcpConnection& connection = *DynamicCast<FabricTcpSocket>(socket)->End()->connection;
    connection.opening = TcpOpening::OPEN;
    m_streams.Write(connection);
}

void
TcpTransport::Failed(Ptr<Socket> socket)
{
    // Connections are never closed: it was called, or its segments sent again, often enough.
    DynamicCast<FabricTcpSocket>(socket)->End()->connection->opening = TcpOpening::FAILED;
}

std::vector<const TcpConnection*>
TcpTransport::Unfinished() const
{
    std::vector<const TcpConnection*> unfinished;
    for (const TcpConnection& connection : m_connections)
    {
        if (connection.posted > connection.read)
        {
            unfinished.push_back(&connection);
        }
    }
    std::stable_partition(
        unfinished.begin(),
        unfinished.end(),
        [](const TcpConnection* connection) { return connection->opening == TcpOpening::FAILED; });
    return unfinished;
}

void
TcpTransport::Acked(TcpEnd& end, ByteCount bytes)
{
    m_streams.Acked(*end.connection, bytes);
}

void
TcpTransport::TimedOut(TcpEnd& end)
{
    ++end.connection->timeouts;
    ++m_hosts[end.rank].counters.timeouts;
}

void
TcpTransport::AckedLate(TcpEnd& end)
{
    // At the end of a stream nobody waits for it.
    if (end.connection->hold != TcpHold::NOTHING)
    {
        ++end.connection->lateAcks;
    }
}

void
TcpTransport::Moved(TcpEnd& end)
{
    if (end.isSender)
    {
        m_streams.LookAtHold(*end.connection);
    }
}

} // namespace ns3
