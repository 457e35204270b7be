// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_TCP_TRANSPORT_H
#define ASTRA_TCP_TRANSPORT_H

#include "../core/fabric-simulator-impl.h"
#include "../core/member-handler.h"
#include "../core/message-network.h"
#include "../fabric/fabric.h"
#include "../fabric/path-store.h"
#include "../roce/roce-transport.h"
#include "host-figures.h"
#include "tcp-columns.h"
#include "tcp-connection.h"
#include "tcp-figures.h"
#include "tcp-host.h"
#include "tcp-segments.h"
#include "tcp-streams.h"

#include "ns3/node.h"
#include "ns3/object-factory.h"
#include "ns3/packet.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

namespace ns3
{

/**
 * The network of ns-3's TCP on the fabric, and its face to the executor: who is connected to whom,
 * and which connections a message takes.
 *
 * What goes over scale-up links only has no TCP and is a RoceTransport's, which tells the same
 * listener. A message's way down is Post -> TcpStreams -> FabricTcpSocket and ns-3's TCP and IPv4
 * -> FabricTcpDevice -> TcpSegments -> Fabric, and the same way up.
 */
class TcpTransport : public MessageNetwork, private TcpSocketOwner
{
  public:
    /// What the transport is built of; all outlives it.
    struct Surroundings
    {
        const PlatformDescription& platform;
        Fabric& fabric;
        FabricSimulatorImpl& simulator;
        RoceTransport& scaleUp;
        uint64_t seed;
        TimePs sendLatency;
        TimePs receiveLatency;
    };

    /**
     * @param figures Of TCP.
     * @param host What it costs.
     * @param surroundings Where it is.
     * @throws ConfigError when a figure is none that ns-3's TCP can have.
     */
    TcpTransport(const TcpFigures& figures,
                 const HostFigures& host,
                 const Surroundings& surroundings);
    ~TcpTransport() override;

    TcpTransport(const TcpTransport&) = delete;
    TcpTransport& operator=(const TcpTransport&) = delete;

    /// Give a rank's node IPv4 and TCP; for all ranks in order, after their RoCE NICs.
    void AddRank(Ptr<Node> node, RoceNic& nic);

    // MessageNetwork
    void SetListener(MessageListener& listener) override;
    void Post(const MessageRequest& request) override;
    void Expect(RankId src, RankId dst, uint8_t priority) override;

    const NicCounters& CountersOf(RankId rank) const
    {
        return m_hosts[rank].counters;
    }

    NicCounters TotalCounters() const;

    uint64_t ConnectionCount() const
    {
        return m_connections.size();
    }

    /// Events of hosts that are in the loop now.
    uint64_t HostEvents() const;

    /// Connections with bytes that have not been read, those that were given up first.
    std::vector<const TcpConnection*> Unfinished() const;

    /// The packet of a frame that is somewhere in the fabric, from its IPv4 header on.
    Ptr<const Packet> PacketOf(const Frame& frame) const
    {
        return m_segments.PacketOf(frame);
    }

    CoreColumns Cores() const;
    StagingColumns Stagings() const;
    SocketColumns Sockets() const;

    MessageHostColumns Messages(size_t count) const
    {
        return m_streams.MessageColumns(count);
    }

  private:
    /// All from one rank to another at one priority.
    struct Peer
    {
        bool isScaleUp{false};
        std::vector<TcpConnection*> connections;
        uint32_t next{0};
    };

    // Hosts.
    void CheckFigures() const;
    void MakePrototype();
    void MakeMachines(const HostFigures& host, uint64_t seed);
    void InstallStack(TcpHost& host, RankId rank);

    // Connections.
    Peer& PeerOf(RankId src, RankId dst, uint8_t priority);
    TcpConnection* Connect(RankId src, RankId dst, uint8_t priority, uint32_t number);
    void SetEnd(TcpEnd& end, uint64_t key, uint32_t number);
    Ptr<FabricTcpSocket> NewSocket(TcpEnd& end);
    void SetCallbacks(TcpEnd& end);
    FabricTcpSocket::Place PlaceOf(const TcpEnd& end) const;
    TimePs WayTime(const TcpEnd& end, uint32_t packetBytes, uint32_t payloadBytes) const;
    void Opened(Ptr<Socket> socket);
    void Failed(Ptr<Socket> socket);

    // Messages.
    void SendLatencyPassed(uint64_t unused);
    void Submit(const MessageRequest& request);
    void Open(TcpConnection& connection);

    // TcpSocketOwner
    void Accepted(const Ptr<FabricTcpSocket>& socket) override;
    void Acked(TcpEnd& end, ByteCount bytes) override;
    void TimedOut(TcpEnd& end) override;
    void AckedLate(TcpEnd& end) override;
    void Moved(TcpEnd& end) override;

    const TcpFigures m_figures;
    const PlatformDescription& m_platform;
    Fabric& m_fabric;
    FabricSimulatorImpl& m_simulator;
    RoceTransport& m_scaleUp;
    const TimePs m_sendLatency;
    const uint32_t m_segmentBytes;
    TcpHosts m_hosts;
    std::vector<Ptr<HostStack>> m_machines;
    TcpSegments m_segments;
    TcpStreams m_streams;
    Ptr<FabricTcpSocket> m_prototype;
    ObjectFactory m_controls; ///< Of congestion.
    std::deque<TcpConnection> m_connections;
    std::unordered_map<uint64_t, Peer> m_peers;
    PathStore m_paths;
    std::vector<ChannelId> m_scratchPath;
    std::deque<MessageRequest> m_submitted; ///< Wait for the send latency, in order.
    std::vector<std::string> m_failures;    ///< Of connections that carry no more.

    MemberHandler<TcpTransport, &TcpTransport::SendLatencyPassed> m_sendLatencyHandler;
};

} // namespace ns3

#endif // ASTRA_TCP_TRANSPORT_H
