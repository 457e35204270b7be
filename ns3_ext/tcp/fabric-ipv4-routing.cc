// SPDX-License-Identifier: GPL-2.0-only
#include "fabric-ipv4-routing.h"

#include "ns3/ipv4-route.h"
#include "ns3/net-device.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(FabricIpv4Routing);

TypeId
FabricIpv4Routing::GetTypeId()
{
    static TypeId tid = TypeId("ns3::FabricIpv4Routing")
                            .SetParent<Ipv4RoutingProtocol>()
                            .SetGroupName("Fabric")
                            .AddConstructor<FabricIpv4Routing>();
    return tid;
}

FabricIpv4Routing::FabricIpv4Routing() = default;

FabricIpv4Routing::~FabricIpv4Routing() = default;

void
FabricIpv4Routing::DoDispose()
{
    m_ipv4 = nullptr;
    m_route = nullptr;
    Ipv4RoutingProtocol::DoDispose();
}

void
FabricIpv4Routing::SetDevice(Ptr<NetDevice> device, Ipv4Address own)
{
    m_route = Create<Ipv4Route>();
    m_route->SetOutputDevice(device);
    m_route->SetSource(own);
    m_route->SetGateway(Ipv4Address::GetZero());
}

Ptr<Ipv4Route>
FabricIpv4Routing::RouteOutput(Ptr<Packet>,
                               const Ipv4Header& header,
                               Ptr<NetDevice>,
                               Socket::SocketErrno& error)
{
    // Ipv4L3Protocol is done with a route before it asks for the next one.
    m_route->SetDestination(header.GetDestination());
    error = Socket::ERROR_NOTERROR;
    return m_route;
}

bool
FabricIpv4Routing::RouteInput(Ptr<const Packet> packet,
                              const Ipv4Header& header,
                              Ptr<const NetDevice> device,
                              const UnicastForwardCallback&,
                              const MulticastForwardCallback&,
                              const LocalDeliverCallback& deliver,
                              const ErrorCallback&)
{
    // The fabric brings to a rank only what is for it.
    deliver(packet, header, static_cast<uint32_t>(m_ipv4->GetInterfaceForDevice(device)));
    return true;
}

void
FabricIpv4Routing::NotifyInterfaceUp(uint32_t)
{
    // The one route does not depend on it: the device is never down.
}

void
FabricIpv4Routing::NotifyInterfaceDown(uint32_t)
{
    // As above.
}

void
FabricIpv4Routing::NotifyAddAddress(uint32_t, Ipv4InterfaceAddress)
{
    // The address came with SetDevice.
}

void
FabricIpv4Routing::NotifyRemoveAddress(uint32_t, Ipv4InterfaceAddress)
{
    // As above.
}

void
FabricIpv4Routing::SetIpv4(Ptr<Ipv4> ipv4)
{
    m_ipv4 = ipv4;
}

void
FabricIpv4Routing::PrintRoutingTable(Ptr<OutputStreamWrapper> stream, Time::Unit) const
{
    *stream->GetStream() << "10.0.0.0/8 dev " << m_route->GetOutputDevice()->GetIfIndex() << " src "
                         << m_route->GetSource() << "\n";
}

} // namespace ns3
