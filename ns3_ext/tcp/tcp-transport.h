// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_TCP_TRANSPORT_H
#define ASTRA_TCP_TRANSPORT_H

#include "../core/fabric-simulator-impl.h"
#include "../core/member-handler.h"
#include "../core/message-network.h"
#include "../core/slab.h"
#include "../fabric/fabric.h"
#include "../fabric/path-store.h"
#include "../roce/roce-transport.h"
#include "fabric-tcp-device.h"
#include "segment-bytes.h"
#include "tcp-connection.h"
#include "tcp-figures.h"

#include "ns3/ipv4-address.h"
#include "ns3/node.h"
#include "ns3/object-factory.h"
#include "ns3/packet.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace ns3
{

/**
 * The network of ns-3's TCP on the fabric, and its face to the executor: messages are bytes of
 * streams.
 *
 * What goes over scale-up links only has no TCP and is a RoceTransport's, which tells the same
 * listener. The sources are by concern: tcp-transport (who is connected to whom),
 * tcp-transport-streams (messages and their moments), tcp-transport-segments (packets and frames).
 */
class TcpTransport : public MessageNetwork, public SegmentOwner
{
  public:
    /// What the transport is built of; all outlives it.
    struct Surroundings
    {
        const PlatformDescription& platform;
        Fabric& fabric;
        FabricSimulatorImpl& simulator;
        RoceTransport& scaleUp;
        TimePs sendLatency;
        TimePs receiveLatency;
    };

    /**
     * @throws ConfigError when a figure is none that ns-3's TCP can have.
     */
    TcpTransport(const TcpFigures& figures, const Surroundings& surroundings);
    ~TcpTransport() override;

    TcpTransport(const TcpTransport&) = delete;
    TcpTransport& operator=(const TcpTransport&) = delete;

    /// Give a rank's node IPv4 and TCP; for all ranks in order, after their RoCE NICs.
    void AddRank(Ptr<Node> node, RoceNic& nic);

    // MessageNetwork
    void SetListener(MessageListener& listener) override;
    void Post(const MessageRequest& request) override;
    void Expect(RankId src, RankId dst, uint8_t priority) override;

    // SegmentOwner
    void SegmentStarted(const Frame& frame, TimePs end) override;
    void SegmentIsOver(FrameNotes& notes) override;

    // From sockets and devices.
    /// An IPv4 packet of a rank leaves; false where it belongs to no connection.
    bool Send(RankId rank, const Ptr<Packet>& packet);

    /// The end that the packet now coming up is for; null outside of that.
    const TcpEnd* Arriving() const
    {
        return m_arriving;
    }

    /// A listener has taken the call that is now coming up.
    void Accepted(const Ptr<FabricTcpSocket>& socket);
    /// All bytes of a stream up to here are known to have arrived.
    void Acked(TcpConnection& connection, ByteCount bytes);
    /// A retransmission timer ran out.
    void TimedOut(const TcpEnd& end);

    static Ipv4Address AddressOf(RankId rank)
    {
        return Ipv4Address(FIRST_ADDRESS + rank);
    }

    const NicCounters& CountersOf(RankId rank) const
    {
        return m_hosts[rank].counters;
    }

    NicCounters TotalCounters() const;

    uint64_t ConnectionCount() const
    {
        return m_connections.size();
    }

    /// What happened to connections that carry no more: which, and why.
    const std::vector<std::string>& Failures() const
    {
        return m_failures;
    }

    /// The packet of a frame that is somewhere in the fabric, from its IPv4 header on.
    Ptr<const Packet> PacketOf(const Frame& frame) const
    {
        return m_packets[frame.notes->packet];
    }

  private:
    /// 10.0.0.1 is rank 0's.
    static constexpr uint32_t FIRST_ADDRESS = 0x0a000001;
    static constexpr RankId MAX_RANKS = (1U << 24) - 2;
    /// Where receivers listen; that of iperf, the field's tool for streams.
    static constexpr uint16_t SERVICE_PORT = 5001;
    /// First of the dynamic ports (RFC 6335, section 6).
    static constexpr uint16_t FIRST_DYNAMIC_PORT = 49152;

    /// What a rank has of TCP.
    struct Host : FrameSink
    {
        TcpTransport* transport{nullptr};
        RoceNic* nic{nullptr};
        Ptr<Node> node;
        Ptr<FabricTcpDevice> device;
        Ptr<FabricTcpSocket> listener;
        NicCounters counters;

        void ReceiveFrame(Frame& frame) override;
    };

    /// All from one rank to another at one priority.
    struct Peer
    {
        bool isScaleUp{false};
        std::vector<TcpConnection*> connections;
        uint32_t next{0};
    };

    /// A segment on its way out of the NIC, for the first time.
    struct Departure
    {
        Departure* next{nullptr};
        TcpConnection* connection{nullptr};
        ByteCount streamEnd{0};
    };

    // Connections.
    void CheckFigures() const;
    void MakePrototype();
    Ptr<FabricTcpSocket> Listen(Host& host);
    Peer& PeerOf(RankId src, RankId dst, uint8_t priority);
    TcpConnection* Connect(RankId src, RankId dst, uint8_t priority, uint32_t number);
    void SetEnd(TcpEnd& end, bool isSender, uint32_t number);
    static uint64_t PortsKeyOf(RankId rank, RankId peer, uint16_t dynamicPort, bool isSender);
    Ptr<FabricTcpSocket> NewSocket(TcpEnd& end);
    FabricTcpSocket::Place PlaceOf(const TcpConnection& connection, const TcpEnd& end) const;
    TimePs WayTime(const TcpEnd& end, uint32_t packetBytes, uint32_t payloadBytes) const;
    void SetCallbacks(TcpEnd& end);
    void Open(TcpConnection& connection);
    void Opened(Ptr<Socket> socket);
    void OpeningFailed(Ptr<Socket> socket);
    void Failed(Ptr<Socket> socket);
    void Fail(const TcpEnd& end, const std::string& why);
    ContextGuard ActAs(RankId rank);

    // Streams.
    void SendLatencyPassed(uint64_t unused);
    void Submit(const MessageRequest& request);
    void Append(TcpConnection& connection, MessageId id, ByteCount size, TcpStripes* whole);
    void Write(TcpConnection& connection);
    void DataCame(Ptr<Socket> socket);
    void TellDelivered(MessageId id, ByteCount bytes);
    void ReceiveLatencyPassed(uint64_t unused);
    void SegmentHasLeft(uint64_t departure);
    void Passed(TcpConnection& connection, TcpMessage* message);
    void TellSent(const TcpMessage& message);
    void TellRead(const TcpMessage& message);
    void TellAcked(const TcpMessage& message);

    // Segments.
    TcpEnd* FindEnd(RankId rank, const SegmentBytes& segment);
    void CountData(TcpConnection& connection, const SegmentBytes& segment, Frame& frame);
    static uint32_t FillersIn(const TcpConnection& connection, ByteCount begin, ByteCount end);
    void ComeUp(Host& host, Frame& frame);

    const TcpFigures m_figures;
    const PlatformDescription& m_platform;
    Fabric& m_fabric;
    FabricSimulatorImpl& m_simulator;
    RoceTransport& m_scaleUp;
    const TimePs m_sendLatency;
    const TimePs m_receiveLatency;
    const uint32_t m_segmentBytes;
    MessageListener* m_listener{nullptr};
    Ptr<FabricTcpSocket> m_prototype;
    ObjectFactory m_controls; ///< Of congestion.
    std::deque<Host> m_hosts; ///< By rank.
    std::deque<TcpConnection> m_connections;
    std::unordered_map<uint64_t, Peer> m_peers;
    std::unordered_map<uint64_t, TcpEnd*> m_endByPorts;
    PathStore m_paths;
    std::vector<ChannelId> m_scratchPath;
    Slab<TcpMessage> m_messages;
    Slab<TcpStripes> m_stripes;
    Slab<Departure> m_departures;
    std::vector<Ptr<Packet>> m_packets; ///< By handle.
    std::vector<uint32_t> m_freePackets;
    TcpEnd* m_arriving{nullptr};
    std::deque<MessageRequest> m_submitted;                ///< Wait for the send latency, in order.
    std::deque<std::pair<MessageId, ByteCount>> m_arrived; ///< Wait for the receive latency.
    std::vector<std::string> m_failures;

    MemberHandler<TcpTransport, &TcpTransport::SendLatencyPassed> m_sendLatencyHandler;
    MemberHandler<TcpTransport, &TcpTransport::ReceiveLatencyPassed> m_receiveLatencyHandler;
    MemberHandler<TcpTransport, &TcpTransport::SegmentHasLeft> m_leftHandler;
};

} // namespace ns3

#endif // ASTRA_TCP_TRANSPORT_H
