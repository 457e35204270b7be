// SPDX-License-Identifier: GPL-2.0-only
#include "fabric-tcp-protocol.h"

#include "tcp-connection.h"
#include "tcp-transport.h"

#include "ns3/ipv4-end-point.h"
#include "ns3/ipv4-interface.h"
#include "ns3/node.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(FabricTcpProtocol);

TypeId
FabricTcpProtocol::GetTypeId()
{
    static TypeId tid = TypeId("ns3::FabricTcpProtocol")
                            .SetParent<TcpL4Protocol>()
                            .SetGroupName("Fabric")
                            .AddConstructor<FabricTcpProtocol>();
    return tid;
}

TypeId
FabricTcpProtocol::GetInstanceTypeId() const
{
    return GetTypeId();
}

void
FabricTcpProtocol::DoDispose()
{
    m_transport = nullptr;
    TcpL4Protocol::DoDispose();
}

IpL4Protocol::RxStatus
FabricTcpProtocol::Receive(Ptr<Packet> packet,
                           const Ipv4Header& header,
                           Ptr<Ipv4Interface> interface)
{
    const TcpEnd* end = m_transport == nullptr ? nullptr : m_transport->Arriving();
    Ipv4EndPoint* endPoint = end == nullptr || !end->socket ? nullptr : end->socket->GetEndPoint();
    // A call has no connection yet, and checksums are TcpL4Protocol's to look at.
    if (endPoint == nullptr || Node::ChecksumEnabled())
    {
        return TcpL4Protocol::Receive(packet, header, interface);
    }
    endPoint->ForwardUp(packet, header, end->peerPort, interface);
    return RX_OK;
}

} // namespace ns3
