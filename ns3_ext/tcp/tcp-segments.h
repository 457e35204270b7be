// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_TCP_SEGMENTS_H
#define ASTRA_TCP_SEGMENTS_H

#include "../core/fabric-simulator-impl.h"
#include "../core/member-handler.h"
#include "../core/message-network.h"
#include "../core/slab.h"
#include "../fabric/fabric.h"
#include "host-stack.h"
#include "segment-bytes.h"
#include "tcp-connection.h"
#include "tcp-host.h"

#include "ns3/packet.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ns3
{

class TcpStreams;

/**
 * Between IPv4 and the fabric: packets become frames on their way down, and frames packets on their
 * way up, each after the work of its host.
 *
 * A packet is kept here while its frame is in the fabric, which has a handle of it.
 */
class TcpSegments : public SegmentOwner, public FrameSink, public HostReceiver
{
  public:
    TcpSegments(Fabric& fabric, FabricSimulatorImpl& simulator, TcpHosts& hosts);

    TcpSegments(const TcpSegments&) = delete;
    TcpSegments& operator=(const TcpSegments&) = delete;

    /// Who writes what segments carry; before the first one.
    void SetStreams(TcpStreams& streams)
    {
        m_streams = &streams;
    }

    /// An end from which packets come from now on.
    void AddEnd(TcpEnd& end);

    /// An IPv4 packet of a rank leaves; false where it belongs to no connection.
    bool Send(RankId rank, const Ptr<Packet>& packet);

    /// The end that the packet now coming up is for; null outside of that.
    TcpEnd* Arriving() const
    {
        return m_arriving;
    }

    /// The packet of a frame that is somewhere in the fabric, from its IPv4 header on.
    Ptr<const Packet> PacketOf(const Frame& frame) const
    {
        return m_packets[frame.notes->packet];
    }

    // SegmentOwner
    void SegmentStarted(const Frame& frame, TimePs end) override;
    void SegmentIsOver(FrameNotes& notes) override;

    // FrameSink
    void ReceiveFrame(Frame& frame) override;

    // HostReceiver
    void PacketCameUp(uint32_t flow, Ptr<Packet> packet, TimePs work) override;

  private:
    /// A segment on its way out of the NIC, for the first time.
    struct Departure
    {
        Departure* next{nullptr};
        TcpConnection* connection{nullptr};
        ByteCount streamEnd{0};
    };

    TcpEnd* FindEnd(RankId rank, const SegmentBytes& segment);
    void PutAway(FrameNotes& notes, const Ptr<Packet>& packet);
    void MayLeave(uint64_t frame);
    void HasLeft(uint64_t departure);
    void ComeUp(TcpEnd& end, const Ptr<Packet>& packet);

    Fabric& m_fabric;
    FabricSimulatorImpl& m_simulator;
    TcpHosts& m_hosts;
    TcpStreams* m_streams{nullptr};
    std::vector<TcpEnd*> m_ends; ///< By index.
    std::unordered_map<uint64_t, TcpEnd*> m_endByPorts;
    std::vector<Ptr<Packet>> m_packets; ///< By handle.
    std::vector<uint32_t> m_freePackets;
    Slab<Departure> m_departures;
    TcpEnd* m_arriving{nullptr};

    MemberWorkDone<TcpSegments, &TcpSegments::MayLeave> m_leaves;
    MemberHandler<TcpSegments, &TcpSegments::HasLeft> m_departureHandler;
};

} // namespace ns3

#endif // ASTRA_TCP_SEGMENTS_H
