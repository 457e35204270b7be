// SPDX-License-Identifier: GPL-2.0-only
#include "fabric-device.h"

#include "fabric.h"

#include "ns3/channel.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FabricDevice");

NS_OBJECT_ENSURE_REGISTERED(FabricDevice);

namespace
{

/// Largest IP packet that a device announces: jumbo frames, as data-centre fabrics carry them.
constexpr uint16_t JUMBO_MTU = 9216;

} // namespace

TypeId
FabricDevice::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FabricDevice")
            .SetParent<NetDevice>()
            .SetGroupName("Fabric")
            .AddConstructor<FabricDevice>()
            .AddAttribute("Mtu",
                          "Largest packet that the device announces, in bytes.",
                          UintegerValue(JUMBO_MTU),
                          MakeUintegerAccessor(&FabricDevice::m_mtu),
                          MakeUintegerChecker<uint16_t>(64))
            .AddAttribute("DataRate",
                          "Rate of the link, in bit/s; set by the platform.",
                          TypeId::ATTR_GET,
                          UintegerValue(0),
                          MakeUintegerAccessor(&FabricDevice::GetDataRate),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("Delay",
                          "Propagation delay of the link; set by the platform.",
                          TypeId::ATTR_GET,
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&FabricDevice::GetDelay),
                          MakeTimeChecker())
            .AddAttribute("LossProbability",
                          "Probability of losing a frame on the link; set by the platform.",
                          TypeId::ATTR_GET,
                          DoubleValue(0.0),
                          MakeDoubleAccessor(&FabricDevice::GetLossProbability),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddTraceSource("Enqueue",
                            "A frame comes to the egress port.",
                            MakeTraceSourceAccessor(&FabricDevice::m_enqueueTrace),
                            "ns3::FabricDevice::FrameTracedCallback")
            .AddTraceSource("PhyTxBegin",
                            "A frame's first bit leaves.",
                            MakeTraceSourceAccessor(&FabricDevice::m_txBeginTrace),
                            "ns3::FabricDevice::FrameTracedCallback")
            .AddTraceSource("FrameSent",
                            "As PhyTxBegin, in plain numbers: kind (0 data, 1 ACK, 2 NAK, 3 CNP, "
                            "4 PAUSE), source and destination rank, PSN, bytes of payload. Of a "
                            "PAUSE, which has no ranks, PSN is its quanta.",
                            MakeTraceSourceAccessor(&FabricDevice::m_frameSentTrace),
                            "ns3::FabricDevice::NumbersTracedCallback")
            .AddTraceSource("PhyRxEnd",
                            "A frame's last byte is at the far end of the channel; where a switch "
                            "there has a buffer without limit, its forwarding latency has passed, "
                            "too.",
                            MakeTraceSourceAccessor(&FabricDevice::m_rxEndTrace),
                            "ns3::FabricDevice::FrameTracedCallback")
            .AddTraceSource("PhyTxDrop",
                            "A frame is lost on the link.",
                            MakeTraceSourceAccessor(&FabricDevice::m_dropTrace),
                            "ns3::FabricDevice::FrameTracedCallback")
            .AddTraceSource("EcnMark",
                            "A frame is marked at the egress port.",
                            MakeTraceSourceAccessor(&FabricDevice::m_markTrace),
                            "ns3::FabricDevice::FrameTracedCallback")
            .AddTraceSource("BufferDrop",
                            "The buffer at the far end of the channel has no room for a frame.",
                            MakeTraceSourceAccessor(&FabricDevice::m_bufferDropTrace),
                            "ns3::FabricDevice::FrameTracedCallback")
            .AddTraceSource("PfcPause",
                            "A priority of the egress port is paused.",
                            MakeTraceSourceAccessor(&FabricDevice::m_pauseTrace),
                            "ns3::FabricDevice::PriorityTracedCallback")
            .AddTraceSource("PfcResume",
                            "A priority of the egress port may send again.",
                            MakeTraceSourceAccessor(&FabricDevice::m_resumeTrace),
                            "ns3::FabricDevice::PriorityTracedCallback");
    return tid;
}

FabricDevice::FabricDevice()
    : m_address(Mac48Address::Allocate())
{
}

FabricDevice::~FabricDevice() = default;

void
FabricDevice::DoDispose()
{
    m_fabric = nullptr;
    m_node = nullptr;
    NetDevice::DoDispose();
}

void
FabricDevice::Attach(Ptr<Fabric> fabric, ChannelId port, double loss)
{
    m_fabric = fabric;
    m_port = port;
    m_loss = loss;
    fabric->SetDevice(port, *this);
}

bool
FabricDevice::IsTraced() const
{
    return !(m_enqueueTrace.IsEmpty() && m_txBeginTrace.IsEmpty() && m_frameSentTrace.IsEmpty() &&
             m_rxEndTrace.IsEmpty() && m_dropTrace.IsEmpty() && m_markTrace.IsEmpty() &&
             m_bufferDropTrace.IsEmpty() && m_pauseTrace.IsEmpty() && m_resumeTrace.IsEmpty());
}

uint64_t
FabricDevice::GetDataRate() const
{
    return m_fabric ? static_cast<uint64_t>(m_fabric->GetPort(m_port).rate) : 0;
}

Time
FabricDevice::GetDelay() const
{
    return m_fabric ? TimeStep(static_cast<uint64_t>(m_fabric->GetPort(m_port).delay)) : Time(0);
}

double
FabricDevice::GetLossProbability() const
{
    return m_loss;
}

void
FabricDevice::SetIfIndex(const uint32_t index)
{
    m_ifIndex = index;
}

uint32_t
FabricDevice::GetIfIndex() const
{
    return m_ifIndex;
}

Ptr<Channel>
FabricDevice::GetChannel() const
{
    return nullptr; // The wire belongs to the port; there is no shared medium.
}

void
FabricDevice::SetAddress(Address address)
{
    m_address = Mac48Address::ConvertFrom(address);
}

Address
FabricDevice::GetAddress() const
{
    return m_address;
}

bool
FabricDevice::SetMtu(const uint16_t mtu)
{
    m_mtu = mtu;
    return true;
}

uint16_t
FabricDevice::GetMtu() const
{
    return m_mtu;
}

bool
FabricDevice::IsLinkUp() const
{
    return m_fabric != nullptr;
}

void
FabricDevice::AddLinkChangeCallback(Callback<void>)
{
    // Links of the fabric neither fail nor come back, so there is never a change to tell of.
}

bool
FabricDevice::IsBroadcast() const
{
    return false;
}

Address
FabricDevice::GetBroadcast() const
{
    return Mac48Address::GetBroadcast();
}

bool
FabricDevice::IsMulticast() const
{
    return false;
}

Address
FabricDevice::GetMulticast(Ipv4Address multicastGroup) const
{
    return Mac48Address::GetMulticast(multicastGroup);
}

Address
FabricDevice::GetMulticast(Ipv6Address addr) const
{
    return Mac48Address::GetMulticast(addr);
}

bool
FabricDevice::IsBridge() const
{
    return false;
}

bool
FabricDevice::IsPointToPoint() const
{
    return true;
}

bool
FabricDevice::Send(Ptr<Packet>, const Address&, uint16_t)
{
    NS_LOG_WARN("a FabricDevice carries frames of the fabric only; the packet is refused");
    return false;
}

bool
FabricDevice::SendFrom(Ptr<Packet> packet, const Address&, const Address& dest, uint16_t protocol)
{
    return Send(packet, dest, protocol);
}

Ptr<Node>
FabricDevice::GetNode() const
{
    return m_node;
}

void
FabricDevice::SetNode(Ptr<Node> node)
{
    m_node = node;
}

bool
FabricDevice::NeedsArp() const
{
    return false;
}

void
FabricDevice::SetReceiveCallback(ReceiveCallback)
{
    // Node::AddDevice sets one for every device; no ns3::Packet ever comes up from this one.
}

void
FabricDevice::SetPromiscReceiveCallback(PromiscReceiveCallback)
{
    // As above.
}

bool
FabricDevice::SupportsSendFrom() const
{
    return false;
}

} // namespace ns3
