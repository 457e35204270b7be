// SPDX-License-Identifier: GPL-2.0-only
// What ranks and machines have for TCP, and what was counted there.
#include "../core/errors.h"
#include "../core/set-attribute.h"
#include "fabric-ipv4-routing.h"
#include "fabric-tcp-protocol.h"
#include "tcp-addresses.h"
#include "tcp-transport.h"

#include "ns3/arp-l3-protocol.h"
#include "ns3/boolean.h"
#include "ns3/enum.h"
#include "ns3/inet-socket-address.h"
#include "ns3/integer.h"
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

} // namespace

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
            (buffer < 2 * static_cast<int64_t>(m_segmentBytes) || buffer > LARGEST_TCP_BUFFER))
        {
            refuse("send_buffer and receive_buffer: have to be 2 segments to 1,073,741,823 bytes");
        }
    }
    if (m_figures.initialWindow < 1 || m_figures.delayedAckSegments < 1)
    {
        refuse("initial_window and delayed_ack_segments: have to be at least 1");
    }
    if (m_platform.Ranks() > MAX_TCP_RANKS)
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
    // Linux begins to probe a closed window after a retransmission timeout (tcp_probe0_base).
    SetAttribute(m_prototype, "PersistTimeout", TimeOf(m_figures.minRto));
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
TcpTransport::MakeMachines(const HostFigures& host, uint64_t seed)
{
    std::vector<uint32_t> ranks;
    for (const int32_t machine : m_platform.rankMachine)
    {
        const auto number = static_cast<size_t>(machine);
        ranks.resize(std::max(ranks.size(), number + 1), 0);
        ++ranks[number];
    }
    for (uint32_t machine = 0; machine < ranks.size(); ++machine)
    {
        const Ptr<HostStack> stack = CreateObject<HostStack>();
        SetAttribute(stack, "Cores", UintegerValue(host.cores));
        SetAttribute(stack, "Rss", EnumValue(host.rss));
        SetAttribute(stack, "PerMessage", TimeOf(host.perMessage));
        SetAttribute(stack, "PerSegment", TimeOf(host.perSegment));
        SetAttribute(stack, "PerPacket", TimeOf(host.perPacket));
        SetAttribute(stack, "PerMergedPacket", TimeOf(host.perMergedPacket));
        SetAttribute(stack, "CopyRate", UintegerValue(static_cast<uint64_t>(host.copyRate)));
        SetAttribute(stack, "Tso", BooleanValue(host.hasTso));
        SetAttribute(stack, "Gro", BooleanValue(host.hasGro));
        SetAttribute(stack, "RxDelay", TimeOf(host.rxDelay));
        SetAttribute(stack, "RxFrames", UintegerValue(host.rxFrames));
        SetAttribute(stack, "Staging", EnumValue(host.staging));
        SetAttribute(stack, "StagingRate", UintegerValue(static_cast<uint64_t>(host.stagingRate)));
        SetAttribute(stack, "StagingChunk", IntegerValue(host.stagingChunk));
        stack->Install(m_fabric.Loop(), machine, ranks[machine], seed);
        stack->SetReceiver(m_segments);
        m_machines.push_back(stack);
    }
}

void
TcpTransport::AddRank(Ptr<Node> node, RoceNic& nic)
{
    const auto rank = static_cast<RankId>(m_hosts.size());
    const int32_t machine = m_platform.rankMachine[rank];
    const auto first = m_platform.rankMachine.begin();
    TcpHost& host = m_hosts.emplace_back();
    host.node = node;
    host.nic = &nic;
    host.stack = m_machines[static_cast<size_t>(machine)];
    host.localRank = static_cast<uint32_t>(std::count(first, first + rank, machine));
    if (host.localRank == 0)
    {
        node->AggregateObject(host.stack); // Where ns-3's Config finds it.
    }
    InstallStack(host, rank);
    if (m_figures.connect == TcpConnect::TIMED)
    {
        host.listener = m_prototype->CopyFor(*this, nullptr, node);
        host.listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), TCP_SERVICE_PORT));
        host.listener->Listen();
    }
    m_fabric.SetSink(rank, m_segments);
}

void
TcpTransport::InstallStack(TcpHost& host, RankId rank)
{
    const Ptr<Node>& node = host.node;
    host.device = CreateObject<FabricTcpDevice>();
    host.device->Attach(m_segments, rank);
    host.device->SetMtu(static_cast<uint16_t>(m_figures.mtu));
    node->AddDevice(host.device);
    node->AggregateObject(CreateObject<TrafficControlLayer>());
    node->AggregateObject(CreateObject<ArpL3Protocol>());
    const Ptr<Ipv4L3Protocol> ipv4 = CreateObject<Ipv4L3Protocol>();
    node->AggregateObject(ipv4);
    const Ptr<FabricIpv4Routing> routing = CreateObject<FabricIpv4Routing>();
    routing->SetDevice(host.device, TcpAddressOf(rank));
    ipv4->SetRoutingProtocol(routing);
    const Ptr<FabricTcpProtocol> tcp = CreateObject<FabricTcpProtocol>();
    tcp->SetSegments(m_segments);
    node->AggregateObject(tcp);
    const uint32_t interface = ipv4->AddInterface(host.device);
    ipv4->AddAddress(interface, Ipv4InterfaceAddress(TcpAddressOf(rank), Ipv4Mask("/8")));
    ipv4->SetUp(interface);
}

NicCounters
TcpTransport::TotalCounters() const
{
    NicCounters total;
    for (const TcpHost& host : m_hosts)
    {
        total.Add(host.counters);
    }
    return total;
}

uint64_t
TcpTransport::HostEvents() const
{
    uint64_t events = 0;
    for (const Ptr<HostStack>& stack : m_machines)
    {
        events += stack->PendingEvents();
    }
    return events;
}

CoreColumns
TcpTransport::Cores() const
{
    CoreColumns columns;
    for (const Ptr<HostStack>& stack : m_machines)
    {
        stack->AddCores(columns);
    }
    return columns;
}

StagingColumns
TcpTransport::Stagings() const
{
    StagingColumns columns;
    for (RankId rank = 0; rank < m_hosts.size(); ++rank)
    {
        const TcpHost& host = m_hosts[rank];
        const StagingEngine& staging = host.stack->Staging(host.localRank);
        if (staging.OutAccount().pieces == 0 && staging.InAccount().pieces == 0)
        {
            continue;
        }
        columns.rank.push_back(static_cast<int32_t>(rank));
        columns.outBusy.push_back(staging.OutAccount().time);
        columns.inBusy.push_back(staging.InAccount().time);
        columns.outBytes.push_back(static_cast<int64_t>(staging.OutAccount().amount));
        columns.inBytes.push_back(static_cast<int64_t>(staging.InAccount().amount));
    }
    return columns;
}

SocketColumns
TcpTransport::Sockets() const
{
    SocketColumns columns;
    for (const TcpConnection& connection : m_connections)
    {
        const TcpEnd& end = connection.sender;
        columns.src.push_back(static_cast<int32_t>(end.rank));
        columns.dst.push_back(static_cast<int32_t>(end.peer));
        columns.priority.push_back(connection.priority);
        columns.index.push_back(static_cast<int32_t>(connection.number));
        columns.segments.push_back(connection.segments);
        columns.acks.push_back(connection.acks);
        columns.retransmittedSegments.push_back(connection.repeatedSegments);
        columns.timeouts.push_back(connection.timeouts);
        columns.lateAcks.push_back(connection.lateAcks);
        columns.bytes.push_back(connection.sentBytes);
        columns.smoothedRoundTrip.push_back(end.socket->SmoothedRoundTrip());
        columns.congestionWindow.push_back(end.socket->CongestionWindow());
    }
    return columns;
}

} // namespace ns3
