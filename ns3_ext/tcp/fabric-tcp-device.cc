// SPDX-License-Identifier: GPL-2.0-only
#include "fabric-tcp-device.h"

#include "tcp-segments.h"

#include "ns3/channel.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/uinteger.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FabricTcpDevice");

NS_OBJECT_ENSURE_REGISTERED(FabricTcpDevice);

TypeId
FabricTcpDevice::GetTypeId()
{
    static TypeId tid = TypeId("ns3::FabricTcpDevice")
                            .SetParent<NetDevice>()
                            .SetGroupName("Fabric")
                            .AddConstructor<FabricTcpDevice>()
                            .AddAttribute("Mtu",
                                          "Largest IPv4 packet, in bytes; set by the transport.",
                                          UintegerValue(9000),
                                          MakeUintegerAccessor(&FabricTcpDevice::m_mtu),
                                          MakeUintegerChecker<uint16_t>(576));
    return tid;
}

FabricTcpDevice::FabricTcpDevice()
    : m_address(Mac48Address::Allocate())
{
}

FabricTcpDevice::~FabricTcpDevice() = default;

void
FabricTcpDevice::DoDispose()
{
    m_segments = nullptr;
    m_node = nullptr;
    m_receive =
        MakeNullCallback<bool, Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address&>();
    NetDevice::DoDispose();
}

void
FabricTcpDevice::Attach(TcpSegments& segments, RankId rank)
{
    m_segments = &segments;
    m_rank = rank;
}

void
FabricTcpDevice::ComeUp(const Ptr<Packet>& packet, const Address& from)
{
    m_receive(this, packet, Ipv4L3Protocol::PROT_NUMBER, from);
}

bool
FabricTcpDevice::Send(Ptr<Packet> packet, const Address&, uint16_t protocolNumber)
{
    if (m_segments == nullptr || protocolNumber != Ipv4L3Protocol::PROT_NUMBER ||
        !m_segments->Send(m_rank, packet))
    {
        NS_LOG_WARN("a FabricTcpDevice carries TCP connections of the fabric only; the packet is "
                    "refused");
        return false;
    }
    return true;
}

bool
FabricTcpDevice::SendFrom(Ptr<Packet> packet,
                          const Address&,
                          const Address& dest,
                          uint16_t protocolNumber)
{
    return Send(packet, dest, protocolNumber);
}

void
FabricTcpDevice::SetIfIndex(const uint32_t index)
{
    m_ifIndex = index;
}

uint32_t
FabricTcpDevice::GetIfIndex() const
{
    return m_ifIndex;
}

Ptr<Channel>
FabricTcpDevice::GetChannel() const
{
    return nullptr; // The wires belong to the ports of the fabric.
}

void
FabricTcpDevice::SetAddress(Address address)
{
    m_address = Mac48Address::ConvertFrom(address);
}

Address
FabricTcpDevice::GetAddress() const
{
    return m_address;
}

bool
FabricTcpDevice::SetMtu(const uint16_t mtu)
{
    m_mtu = mtu;
    return true;
}

uint16_t
FabricTcpDevice::GetMtu() const
{
    return m_mtu;
}

bool
FabricTcpDevice::IsLinkUp() const
{
    return m_segments != nullptr;
}

void
FabricTcpDevice::AddLinkChangeCallback(Callback<void>)
{
    // Links of the fabric neither fail nor come back, so there is never a change to tell of.
}

bool
FabricTcpDevice::IsBroadcast() const
{
    return false;
}

Address
FabricTcpDevice::GetBroadcast() const
{
    return Mac48Address::GetBroadcast();
}

bool
FabricTcpDevice::IsMulticast() const
{
    return false;
}

Address
FabricTcpDevice::GetMulticast(Ipv4Address multicastGroup) const
{
    return Mac48Address::GetMulticast(multicastGroup);
}

Address
FabricTcpDevice::GetMulticast(Ipv6Address address) const
{
    return Mac48Address::GetMulticast(address);
}

bool
FabricTcpDevice::IsBridge() const
{
    return false;
}

bool
FabricTcpDevice::IsPointToPoint() const
{
    return false;
}

Ptr<Node>
FabricTcpDevice::GetNode() const
{
    return m_node;
}

void
FabricTcpDevice::SetNode(Ptr<Node> node)
{
    m_node = node;
}

bool
FabricTcpDevice::NeedsArp() const
{
    return false;
}

void
FabricTcpDevice::SetReceiveCallback(ReceiveCallback callback)
{
    m_receive = callback;
}

void
FabricTcpDevice::SetPromiscReceiveCallback(PromiscReceiveCallback)
{
    // A rank gets nothing that is not for it.
}

bool
FabricTcpDevice::SupportsSendFrom() const
{
    return false;
}

} // namespace ns3
