// SPDX-License-Identifier: GPL-2.0-only
// Who is connected to whom, by which sockets, and how connections open.
#include "tcp-transport.h"

#include "../core/errors.h"
#include "fabric-ipv4-routing.h"
#include "fabric-tcp-protocol.h"

#include "ns3/arp-l3-protocol.h"
#include "ns3/boolean.h"
#include "ns3/enum.h"
#include "ns3/inet-socket-address.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/rtt-estimator.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-recovery-ops.h"
#include "ns3/traffic-control-layer.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

namespace
{

/// Buffers of "auto" are so many bandwidth-delay products.
constexpr int64_t BUFFER_PRODUCTS = 4;
/// Segments that a connection has under way however short its round trip is: with two to an
/// acknowledgement, two more keep the line busy; assumed.
constexpr int64_t LEAST_SEGMENTS = 4;
/// Largest buffer that a scaled window can tell of (RFC 7323, section 2.3).
constexpr int64_t LARGEST_BUFFER = (1 << 30) - 1;
/// Segments that wait at the NIC where a socket hands it one by one: one on the wire, one behind.
constexpr uint32_t UNSENT_SEGMENTS = 2;

void
SetAttribute(const Ptr<Object>& object, const std::string& name, const AttributeValue& value)
{
    if (!object->SetAttributeFailSafe(name, value))
    {
        throw ConfigError(object->GetInstanceTypeId().GetName() + "::" + name +
                          " refuses its value");
    }
}

/// What makes objects of a class named by the scenario.
template <typename T>
ObjectFactory
FactoryOf(const std::string& name, const std::string& what)
{
    TypeId type;
    if (!TypeId::LookupByNameFailSafe(name, &type) || !type.IsChildOf(T::GetTypeId()) ||
        !type.HasConstructor())
    {
        throw ConfigError("transport." + what + ": ns-3 has no " + T::GetTypeId().GetName() +
                          " called \"" + name + "\"");
    }
    ObjectFactory factory;
    factory.SetTypeId(type);
    return factory;
}

TimeValue
TimeOf(TimePs time)
{
    return TimeValue(TimeStep(static_cast<uint64_t>(time)));
}

uint64_t
KeyOf(RankId src, RankId dst, uint8_t priority)
{
    return (static_cast<uint64_t>(src) << 32) | (static_cast<uint64_t>(dst) << 8) | priority;
}

} // namespace

TcpTransport::TcpTransport(const TcpFigures& figures, const Surroundings& surroundings)
    : m_figures(figures),
      m_platform(surroundings.platform),
      m_fabric(surroundings.fabric),
      m_simulator(surroundings.simulator),
      m_scaleUp(surroundings.scaleUp),
      m_sendLatency(surroundings.sendLatency),
      m_receiveLatency(surroundings.receiveLatency),
      m_segmentBytes(figures.mtu - IPV4_HEADER_BYTES - TCP_HEADER_BYTES -
                     (figures.hasTimestamps ? TIMESTAMPS_BYTES : 0)),
      m_packets(1), // Handle 0 is none.
      m_sendLatencyHandler(*this),
      m_receiveLatencyHandler(*this),
      m_leftHandler(*this)
{
    CheckFigures();
    MakePrototype();
    m_fabric.SetSegmentOwner(*this);
}

TcpTransport::~TcpTransport() = default;

void
TcpTransport::CheckFigures() const
{
    // The checks of astra_py.config.tcp once more: what ns-3 cannot have would end the process.
    constexpr uint32_t LEAST_MTU = 576; // RFC 791.
    constexpr uint32_t LARGEST_MTU = 65535;
    constexpr uint32_t MOST_SOCKETS = 1024;
    const auto refuse = [](const std::string& what) { throw ConfigError("transport." + what); };
    if (m_figures.mtu < LEAST_MTU || m_figures.mtu > LARGEST_MTU)
    {
        refuse("mtu: has to be 576 to 65,535 bytes");
    }
    if (m_figures.socketsPerPeer < 1 || m_figures.socketsPerPeer > MOST_SOCKETS)
    {
        refuse("sockets_per_peer: has to be 1 to 1,024");
    }
    for (const int64_t buffer : {m_figures.sendBuffer, m_figures.receiveBuffer})
    {
        if (buffer >= 0 &&
            (buffer < 2 * static_cast<int64_t>(m_segmentBytes) || buffer > LARGEST_BUFFER))
        {
            refuse("send_buffer and receive_buffer: have to be 2 segments to 1,073,741,823 bytes");
        }
    }
    if (m_figures.initialWindow < 1 || m_figures.delayedAckSegments < 1)
    {
        refuse("initial_window and delayed_ack_segments: have to be at least 1");
    }
    if (m_platform.Ranks() > MAX_RANKS)
    {
        refuse("kind: tcp has addresses for 16,777,214 ranks");
    }
}

void
TcpTransport::MakePrototype()
{
    const Ptr<RttMeanDeviation> roundTrip = CreateObject<RttMeanDeviation>();
    SetAttribute(roundTrip, "InitialEstimation", TimeOf(m_figures.initialRtt));
    roundTrip->Reset();
    m_prototype = CreateObject<FabricTcpSocket>();
    SetAttribute(m_prototype, "Timestamp", BooleanValue(m_figures.hasTimestamps));
    SetAttribute(m_prototype, "Sack", BooleanValue(m_figures.hasSack));
    SetAttribute(m_prototype, "WindowScaling", BooleanValue(m_figures.hasWindowScaling));
    SetAttribute(m_prototype,
                 "UseEcn",
                 EnumValue(m_figures.hasEcn ? TcpSocketState::On : TcpSocketState::Off));
    SetAttribute(m_prototype, "TcpNoDelay", BooleanValue(!m_figures.hasNagle));
    SetAttribute(m_prototype, "SegmentSize", UintegerValue(m_segmentBytes));
    SetAttribute(m_prototype, "InitialCwnd", UintegerValue(m_figures.initialWindow));
    SetAttribute(m_prototype, "MinRto", TimeOf(m_figures.minRto));
    SetAttribute(m_prototype, "DelAckCount", UintegerValue(m_figures.delayedAckSegments));
    // What is acknowledged later than it is sent again has timeouts where nothing is lost; Linux
    // keeps the delay below the least timeout, too (tcp_delack_max, since 6.7).
    SetAttribute(m_prototype,
                 "DelAckTimeout",
                 TimeOf(std::min(m_figures.delayedAckTimeout, m_figures.minRto / 2)));
    SetAttribute(m_prototype, "DataRetries", UintegerValue(m_figures.dataRetries));
    m_prototype->SetRtt(roundTrip);
    m_controls = FactoryOf<TcpCongestionOps>(m_figures.variant, "congestion_control");
    m_prototype->SetCongestionControlAlgorithm(m_controls.Create<TcpCongestionOps>());
    m_prototype->SetRecoveryAlgorithm(
        FactoryOf<TcpRecoveryOps>(m_figures.recovery, "tcp.recovery").Create<TcpRecoveryOps>());
}

void
TcpTransport::AddRank(Ptr<Node> node, RoceNic& nic)
{
    const auto rank = static_cast<RankId>(m_hosts.size());
    Host& host = m_hosts.emplace_back();
    host.transport = this;
    host.nic = &nic;
    host.node = node;
    host.device = CreateObject<FabricTcpDevice>();
    host.device->Attach(*this, rank);
    host.device->SetMtu(static_cast<uint16_t>(m_figures.mtu));
    node->AddDevice(host.device);

    node->AggregateObject(CreateObject<TrafficControlLayer>());
    node->AggregateObject(CreateObject<ArpL3Protocol>());
    const Ptr<Ipv4L3Protocol> ipv4 = CreateObject<Ipv4L3Protocol>();
    node->AggregateObject(ipv4);
    const Ptr<FabricIpv4Routing> routing = CreateObject<FabricIpv4Routing>();
    routing->SetDevice(host.device, AddressOf(rank));
    ipv4->SetRoutingProtocol(routing);
    const Ptr<FabricTcpProtocol> tcp = CreateObject<FabricTcpProtocol>();
    tcp->SetTransport(*this);
    node->AggregateObject(tcp);
    const uint32_t interface = ipv4->AddInterface(host.device);
    ipv4->AddAddress(interface, Ipv4InterfaceAddress(AddressOf(rank), Ipv4Mask("/8")));
    ipv4->SetUp(interface);
    if (m_figures.connect == TcpConnect::TIMED)
    {
        host.listener = Listen(host);
    }
    m_fabric.SetSink(rank, host);
}

Ptr<FabricTcpSocket>
TcpTransport::Listen(Host& host)
{
    const Ptr<FabricTcpSocket> listener = CopyObject<FabricTcpSocket>(m_prototype);
    listener->SetNode(host.node);
    listener->SetTcp(host.node->GetObject<TcpL4Protocol>());
    listener->SetEnd(*this, nullptr);
    listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), SERVICE_PORT));
    listener->Listen();
    return listener;
}

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
    connection.index = static_cast<uint32_t>(m_connections.size() - 1);
    connection.number = number;
    connection.priority = priority;
    connection.unsentLimit = m_figures.unsentLimit < 0
                                 ? UNSENT_SEGMENTS * m_segmentBytes
                                 : static_cast<uint32_t>(m_figures.unsentLimit);
    // No two connections of a pair of ranks have the same port.
    const auto port = static_cast<uint16_t>(FIRST_DYNAMIC_PORT + number * ACK_PRIORITY + priority);
    connection.sender.connection = &connection;
    connection.sender.rank = src;
    connection.sender.peer = dst;
    connection.sender.port = port;
    connection.sender.peerPort = SERVICE_PORT;
    connection.receiver.connection = &connection;
    connection.receiver.rank = dst;
    connection.receiver.peer = src;
    connection.receiver.port = SERVICE_PORT;
    connection.receiver.peerPort = port;
    SetEnd(connection.sender, true, number);
    SetEnd(connection.receiver, false, number);
    connection.sender.socket = NewSocket(connection.sender);
    if (m_figures.connect == TcpConnect::BEFORE)
    {
        connection.receiver.socket = NewSocket(connection.receiver);
        connection.sender.socket->OpenByHand(*connection.receiver.socket);
        connection.receiver.socket->OpenByHand(*connection.sender.socket);
        connection.opening = TcpOpening::OPEN;
    }
    return &connection;
}

uint64_t
TcpTransport::PortsKeyOf(RankId rank, RankId peer, uint16_t dynamicPort, bool isSender)
{
    // Ranks have 24 bits, ports 14 beyond the first dynamic one.
    return (static_cast<uint64_t>(rank) << 40) | (static_cast<uint64_t>(peer) << 16) |
           (static_cast<uint64_t>(dynamicPort & 0x3fff) << 1) | (isSender ? 1 : 0);
}

void
TcpTransport::SetEnd(TcpEnd& end, bool isSender, uint32_t number)
{
    end.isSender = isSender;
    end.index = 2 * end.connection->index + (isSender ? 0 : 1);
    m_scaleUp.Routes().FindPath(FlowIdentity{end.rank, end.peer, number}, m_scratchPath);
    end.path = m_paths.Store(m_scratchPath);
    end.hops = static_cast<uint16_t>(m_scratchPath.size());
    const RoutingKind kind = m_platform.routing.kind;
    end.isRoutedByHop = kind == RoutingKind::SPRAY || kind == RoutingKind::LEAST_LOADED;
    const uint16_t dynamicPort = isSender ? end.port : end.peerPort;
    m_endByPorts.emplace(PortsKeyOf(end.rank, end.peer, dynamicPort, isSender), &end);
}

Ptr<FabricTcpSocket>
TcpTransport::NewSocket(TcpEnd& end)
{
    const Ptr<FabricTcpSocket> socket = m_prototype->CopyFor(*this, end, m_hosts[end.rank].node);
    if (end.isSender)
    {
        // Not a copy of the prototype's: of TcpHybla's reference round trip, for one, copies know
        // nothing.
        socket->SetCongestionControlAlgorithm(m_controls.Create<TcpCongestionOps>());
    }
    socket->SetPlace(PlaceOf(*end.connection, end));
    end.socket = socket;
    SetCallbacks(end);
    return socket;
}

FabricTcpSocket::Place
TcpTransport::PlaceOf(const TcpConnection& connection, const TcpEnd& end) const
{
    BitRate rate = m_platform.Rate(connection.sender.path[0]);
    for (uint16_t hop = 1; hop < connection.sender.hops; ++hop)
    {
        rate = std::min(rate, m_platform.Rate(connection.sender.path[hop]));
    }
    const uint32_t ack = m_figures.mtu - m_segmentBytes;
    const TimePs roundTrip = WayTime(connection.sender, m_figures.mtu, m_segmentBytes) +
                             WayTime(connection.receiver, ack, 0);
    const auto product =
        static_cast<int64_t>(static_cast<Int128>(rate) * roundTrip / (BITS_PER_BYTE * PS_PER_S));
    const int64_t automatic =
        std::min(BUFFER_PRODUCTS * std::max(product, LEAST_SEGMENTS * m_segmentBytes),
                 LARGEST_BUFFER);
    const int64_t send = m_figures.sendBuffer < 0 ? automatic : m_figures.sendBuffer;
    const int64_t receive = m_figures.receiveBuffer < 0 ? send : m_figures.receiveBuffer;
    return {static_cast<uint32_t>(send),
            static_cast<uint32_t>(receive),
            m_platform.Rate(end.path[0])};
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
TcpTransport::SetCallbacks(TcpEnd& end)
{
    FabricTcpSocket& socket = *end.socket;
    socket.SetConnectCallback(MakeCallback(&TcpTransport::Opened, this),
                              MakeCallback(&TcpTransport::OpeningFailed, this));
    socket.SetCloseCallbacks(MakeCallback(&TcpTransport::Failed, this),
                             MakeCallback(&TcpTransport::Failed, this));
    if (!end.isSender)
    {
        socket.SetRecvCallback(MakeCallback(&TcpTransport::DataCame, this));
    }
}

ContextGuard
TcpTransport::ActAs(RankId rank)
{
    return ContextGuard(m_simulator, m_hosts[rank].node->GetId());
}

void
TcpTransport::Open(TcpConnection& connection)
{
    connection.opening = TcpOpening::OPENING;
    connection.sender.socket->Call();
}

void
TcpTransport::Accepted(const Ptr<FabricTcpSocket>& socket)
{
    TcpEnd& end = *m_arriving;
    socket->SetEnd(*this, &end);
    socket->SetPlace(PlaceOf(*end.connection, end));
    end.socket = socket;
    SetCallbacks(end);
}

void
TcpTransport::Opened(Ptr<Socket> socket)
{
    TcpConnection& connection = *DynamicCast<FabricTcpSocket>(socket)->End()->connection;
    connection.opening = TcpOpening::OPEN;
    Write(connection);
}

void
TcpTransport::OpeningFailed(Ptr<Socket> socket)
{
    Fail(*DynamicCast<FabricTcpSocket>(socket)->End(), "was not answered");
}

void
TcpTransport::Failed(Ptr<Socket> socket)
{
    Fail(*DynamicCast<FabricTcpSocket>(socket)->End(),
         "was given up after " + std::to_string(m_figures.dataRetries) +
             " retransmissions of one segment");
}

void
TcpTransport::Fail(const TcpEnd& end, const std::string& why)
{
    TcpConnection& connection = *end.connection;
    if (connection.opening == TcpOpening::FAILED)
    {
        return;
    }
    connection.opening = TcpOpening::FAILED;
    m_failures.push_back("connection " + std::to_string(connection.number) + " from rank " +
                         std::to_string(connection.sender.rank) + " to rank " +
                         std::to_string(connection.sender.peer) + ", priority " +
                         std::to_string(connection.priority) + ", " + why);
}

NicCounters
TcpTransport::TotalCounters() const
{
    NicCounters total;
    for (const Host& host : m_hosts)
    {
        total.Add(host.counters);
    }
    return total;
}

} // namespace ns3
