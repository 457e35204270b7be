// SPDX-License-Identifier: GPL-2.0-only
#include "fabric-tcp-protocol.h"

#include "tcp-connection.h"
#include "tcp-segments.h"

#include "ns3/ipv4-end-point.h"
#include "ns3/ipv4-interface.h"
#include "ns3/node.h"
#include "ns3/tcp-header.h"

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
    m_segments = nullptr;
    TcpL4Protocol::DoDispose();
}

IpL4Protocol::RxStatus
FabricTcpProtocol::Receive(Ptr<Packet> packet,
                           const Ipv4Header& header,
                           Ptr<Ipv4Interface> interface)
{
    const TcpEnd* end = m_segments == nullptr ? nullptr : m_segments->Arriving();
    Ipv4EndPoint* endPoint = end == nullptr || !end->socket ? nullptr : end->socket->GetEndPoint();
    if (endPoint == nullptr)
    {
        return TcpL4Protocol::Receive(packet, header, interface); // A call; a listener takes it.
    }
    TcpHeader tcpHeader;
    if (Node::ChecksumEnabled() &&
        PacketReceived(packet, tcpHeader, header.GetSource(), header.GetDestination()) != RX_OK)
    {
        return RX_CSUM_FAILED;
    }
    endPoint->ForwardUp(packet, header, end->peerPort, interface);
    return RX_OK;
}

} // namespace ns3
