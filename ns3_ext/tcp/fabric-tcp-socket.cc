// SPDX-License-Identifier: GPL-2.0-only
#include "fabric-tcp-socket.h"

#include "tcp-connection.h"
#include "tcp-transport.h"

#include "ns3/inet-socket-address.h"
#include "ns3/ipv4-end-point.h"
#include "ns3/node.h"
#include "ns3/rtt-estimator.h"
#include "ns3/simulator.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/tcp-rx-buffer.h"
#include "ns3/tcp-tx-buffer.h"

#include <algorithm>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(FabricTcpSocket);

TypeId
FabricTcpSocket::GetTypeId()
{
    static TypeId tid = TypeId("ns3::FabricTcpSocket")
                            .SetParent<TcpSocketBase>()
                            .SetGroupName("Fabric")
                            .AddConstructor<FabricTcpSocket>();
    return tid;
}

TypeId
FabricTcpSocket::GetInstanceTypeId() const
{
    return GetTypeId();
}

FabricTcpSocket::FabricTcpSocket() = default;

FabricTcpSocket::FabricTcpSocket(const FabricTcpSocket& other) = default;

FabricTcpSocket::~FabricTcpSocket() = default;

Ptr<FabricTcpSocket>
FabricTcpSocket::CopyFor(TcpTransport& transport, TcpEnd& end, Ptr<Node> node)
{
    const Ptr<FabricTcpSocket> copy = CopyObject<FabricTcpSocket>(this);
    copy->SetNode(node);
    copy->SetTcp(node->GetObject<TcpL4Protocol>());
    copy->SetEnd(transport, &end);
    return copy;
}

void
FabricTcpSocket::SetPlace(const Place& place)
{
    SetSndBufSize(place.sendBuffer);
    SetRcvBufSize(place.receiveBuffer);
    m_tcb->m_maxPacingRate = DataRate(static_cast<uint64_t>(place.rate));
    m_tcb->m_pacingRate = m_tcb->m_maxPacingRate;
}

void
FabricTcpSocket::BindToConnection()
{
    m_endPoint = m_tcp->Allocate(nullptr,
                                 m_transport->AddressOf(m_end->rank),
                                 m_end->port,
                                 m_transport->AddressOf(m_end->peer),
                                 m_end->peerPort);
    SetupCallback();
    m_tcp->AddSocket(this);
}

void
FabricTcpSocket::Call()
{
    BindToConnection();
    Connect(InetSocketAddress(m_transport->AddressOf(m_end->peer), m_end->peerPort));
}

void
FabricTcpSocket::OpenByHand(const FabricTcpSocket& peer)
{
    BindToConnection();
    // What Connect, the SYN and the SYN-ACK set, and in the same order (RFC 9293, section 3.5).
    m_rtt->Reset();
    m_synCount = m_synRetries;
    m_dataRetrCount = m_dataRetries;
    if (m_winScalingEnabled)
    {
        m_rcvWindShift = CalculateWScale();
        m_sndWindShift = peer.CalculateWScale();
    }
    const SequenceNumber32 first(1); // A SYN is number 0.
    m_tcb->m_rxBuffer->SetNextRxSequence(first);
    m_tcb->m_nextTxSequence = first;
    m_tcb->m_highTxMark = first;
    m_txBuffer->SetHeadSequence(first);
    m_highTxAck = first;
    m_highRxAckMark = first;
    // The window of a SYN is never scaled (RFC 7323, section 2.2), and the sender has no other yet.
    m_rWnd = std::min<uint32_t>(peer.m_tcb->m_rxBuffer->MaxBufferSize(), m_maxWinSize);
    m_tcb->m_cWnd = GetInitialCwnd() * GetSegSize();
    m_tcb->m_cWndInfl = m_tcb->m_cWnd;
    m_tcb->m_ssThresh = GetInitialSSThresh();
    m_tcb->m_ecnState = m_tcb->m_useEcn == TcpSocketState::Off ? TcpSocketState::ECN_DISABLED
                                                               : TcpSocketState::ECN_IDLE;
    m_congestionControl->CongestionStateSet(m_tcb, TcpSocketState::CA_OPEN);
    m_tcb->m_congState = TcpSocketState::CA_OPEN;
    m_rto =
        Max(m_rtt->GetEstimate() + Max(m_clockGranularity, m_rtt->GetVariation() * 4), m_minRto);
    m_delAckCount = m_delAckMaxCount; // The first segment is acknowledged at once.
    m_state = ESTABLISHED;
    m_connected = true;
}

Ptr<TcpSocketBase>
FabricTcpSocket::Fork()
{
    const Ptr<FabricTcpSocket> accepted = CopyObject<FabricTcpSocket>(this);
    m_transport->Accepted(accepted);
    return accepted;
}

void
FabricTcpSocket::ReceivedAck(Ptr<Packet> packet, const TcpHeader& header)
{
    TcpSocketBase::ReceivedAck(packet, header);
    const SequenceNumber32 head = m_txBuffer->HeadSequence();
    if (m_end != nullptr && head > m_head)
    {
        m_acked += head - m_head;
        m_head = head;
        m_transport->Acked(*m_end->connection, m_acked);
    }
}

void
FabricTcpSocket::ReTxTimeout()
{
    const bool isDue = m_txBuffer->Size() > 0 && m_state != CLOSED && m_state != TIME_WAIT;
    if (isDue && m_end != nullptr)
    {
        m_transport->TimedOut(*m_end);
    }
    TcpSocketBase::ReTxTimeout();
}

Time
FabricTcpSocket::CalculateRttSample(const TcpHeader& header, const RttHistory& history)
{
    // Of what was sent once only (RFC 6298, section 3).
    const bool isAcked = header.GetAckNumber() >=
                         history.seq + SequenceNumber32(static_cast<uint32_t>(history.count));
    return isAcked && !history.retx ? Simulator::Now() - history.time : Time(0);
}

} // namespace ns3
