// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_FABRIC_IPV4_ROUTING_H
#define ASTRA_FABRIC_IPV4_ROUTING_H

#include "ns3/ipv4-routing-protocol.h"
#include "ns3/ipv4.h"

namespace ns3
{

class Ipv4Route;

/**
 * The routes of a rank's node: all of 10.0.0.0/8 is behind its one device.
 *
 * Which port and which way a packet takes there is the fabric's to say, as it is for RoCE.
 */
class FabricIpv4Routing : public Ipv4RoutingProtocol
{
  public:
    static TypeId GetTypeId();

    FabricIpv4Routing();
    ~FabricIpv4Routing() override;

    /// @param device Where everything is; its interface has the node's address.
    void SetDevice(Ptr<NetDevice> device, Ipv4Address own);

    // Ipv4RoutingProtocol
    Ptr<Ipv4Route> RouteOutput(Ptr<Packet> packet,
                               const Ipv4Header& header,
                               Ptr<NetDevice> device,
                               Socket::SocketErrno& error) override;
    bool RouteInput(Ptr<const Packet> packet,
                    const Ipv4Header& header,
                    Ptr<const NetDevice> device,
                    const UnicastForwardCallback& forward,
                    const MulticastForwardCallback& multicast,
                    const LocalDeliverCallback& deliver,
                    const ErrorCallback& error) override;
    void NotifyInterfaceUp(uint32_t interface) override;
    void NotifyInterfaceDown(uint32_t interface) override;
    void NotifyAddAddress(uint32_t interface, Ipv4InterfaceAddress address) override;
    void NotifyRemoveAddress(uint32_t interface, Ipv4InterfaceAddress address) override;
    void SetIpv4(Ptr<Ipv4> ipv4) override;
    void PrintRoutingTable(Ptr<OutputStreamWrapper> stream, Time::Unit unit) const override;

  private:
    void DoDispose() override;

    Ptr<Ipv4> m_ipv4;
    Ptr<Ipv4Route> m_route;
};

} // namespace ns3

#endif // ASTRA_FABRIC_IPV4_ROUTING_H
