// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_FABRIC_TCP_PROTOCOL_H
#define ASTRA_FABRIC_TCP_PROTOCOL_H

#include "ns3/tcp-l4-protocol.h"

namespace ns3
{

class TcpSegments;

/**
 * ns-3's TCP of a node that finds the connection of a packet by its frame.
 *
 * TcpL4Protocol walks all its connections for each packet, and a rank of a large all-to-all has
 * hundreds. What is found is the same: the frame names the end that sent it, and ends have one
 * peer.
 */
class FabricTcpProtocol : public TcpL4Protocol
{
  public:
    static TypeId GetTypeId();
    TypeId GetInstanceTypeId() const override;

    void SetSegments(TcpSegments& segments)
    {
        m_segments = &segments;
    }

    // TcpL4Protocol
    RxStatus Receive(Ptr<Packet> packet,
                     const Ipv4Header& header,
                     Ptr<Ipv4Interface> interface) override;
    using TcpL4Protocol::Receive;

  private:
    void DoDispose() override;

    TcpSegments* m_segments{nullptr};
};

} // namespace ns3

#endif // ASTRA_FABRIC_TCP_PROTOCOL_H
