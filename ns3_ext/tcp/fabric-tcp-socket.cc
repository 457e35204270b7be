// SPDX-License-Identifier: GPL-2.0-only
#include "fabric-tcp-socket.h"

#include "tcp-addresses.h"
#include "tcp-connection.h"

#include "ns3/data-rate.h"
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

namespace
{

/// Bytes that comparisons of sequence numbers, which have 32 bits, may safely lie behind.
constexpr int32_t COMPARABLE_BYTES = 1 << 30;

/// Bring a sequence number of old so near to a new one that it stays the smaller of the two.
void
KeepComparable(TracedValue<SequenceNumber32>& old, SequenceNumber32 now)
{
    if (now - old.Get() > COMPARABLE_BYTES)
    {
        old = now - SequenceNumber32(COMPARABLE_BYTES);
    }
}

} // namespace

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

FabricTcpSocket::FabricTcpSocket(const FabricTcpSocket& other)
    : TcpSocketBase(other),
      m_owner(other.m_owner),
      m_end(other.m_end)
{
}

FabricTcpSocket::~FabricTcpSocket()
{
    if (m_ownEndPoint)
    {
        m_endPoint = nullptr; // It is not the protocol's to delete.
    }
}

Ptr<FabricTcpSocket>
FabricTcpSocket::CopyFor(TcpSocketOwner& owner, TcpEnd* end, Ptr<Node> node) const
{
    const Ptr<FabricTcpSocket> copy = CopyObject<FabricTcpSocket>(this);
    copy->SetNode(node);
    copy->SetTcp(node->GetObject<TcpL4Protocol>());
    copy->m_owner = &owner;
    copy->m_end = end;
    return copy;
}

void
FabricTcpSocket::SetPlace(const Place& place)
{
    SetSndBufSize(place.sendBuffer);
    SetRcvBufSize(place.receiveBuffer);
    m_tcb->m_maxPacingRate = DataRate(static_cast<uint64_t>(place.rate));
    m_tcb->m_pacingRate = m_tcb->m_maxPacingRate;
    m_roundTrip = place.roundTrip;
}

void
FabricTcpSocket::BindToConnection()
{
    m_ownEndPoint = std::make_unique<Ipv4EndPoint>(TcpAddressOf(m_end->rank), m_end->port);
    m_endPoint = m_ownEndPoint.get();
    m_endPoint->SetPeer(TcpAddressOf(m_end->peer), m_end->peerPort);
    // By a plain pointer: the socket outlives what it owns.
    m_endPoint->SetRxCallback(MakeCallback(&FabricTcpSocket::ForwardUp, this));
    m_tcp->AddSocket(this);
}

void
FabricTcpSocket::Call()
{
    BindToConnection();
    Connect(InetSocketAddress(TcpAddressOf(m_end->peer), m_end->peerPort));
}

void
FabricTcpSocket::OpenByHand(const FabricTcpSocket& peer)
{
    BindToConnection();
    // What Connect, the SYN and the SYN-ACK set, and in the same order (RFC 9293, section 3.5).
    m_rtt->Reset();
    const Time roundTrip = TimeStep(static_cast<uint64_t>(m_roundTrip));
    if (roundTrip > m_rtt->GetEstimate())
    {
        m_rtt->Measurement(roundTrip); // The handshake's.
    }
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
    m_toldEdge = first + SequenceNumber32(GetRcvBufSize());
    // The window of a SYN is never scaled (RFC 7323, section 2.2), and the sender has no other yet.
    m_rWnd = std::min<uint32_t>(peer.GetRcvBufSize(), m_maxWinSize);
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

TcpHold
FabricTcpSocket::HoldOf(ByteCount bytes) const
{
    if (bytes <= 0 || AvailableWindow() >= std::min<ByteCount>(bytes, GetSegSize()))
    {
        return TcpHold::NOTHING;
    }
    return m_rWnd.Get() < m_tcb->m_cWnd.Get() ? TcpHold::RECEIVE_WINDOW
                                              : TcpHold::CONGESTION_WINDOW;
}

uint32_t
FabricTcpSocket::Readable() const
{
    return m_tcb->m_rxBuffer->Available();
}

void
FabricTcpSocket::TellWindow()
{
    // ns-3 tells of its window when it acknowledges only. As Linux does (tcp_cleanup_rbuf), when
    // the other end may send at least twice as much as it knows (RFC 9293, section 3.8.6.2.2).
    const SequenceNumber32 next = m_tcb->m_rxBuffer->NextRxSequence();
    const int32_t told = m_toldEdge - next;
    const int32_t window = m_tcb->m_rxBuffer->MaxRxSequence() - next;
    if (m_state == ESTABLISHED && window >= static_cast<int32_t>(GetSegSize()) &&
        window >= 2 * told)
    {
        const bool isEchoing = m_tcb->m_ecnState == TcpSocketState::ECN_CE_RCVD ||
                               m_tcb->m_ecnState == TcpSocketState::ECN_SENDING_ECE;
        SendEmptyPacket(isEchoing ? TcpHeader::ACK | TcpHeader::ECE : TcpHeader::ACK);
    }
}

uint32_t
FabricTcpSocket::CongestionWindow() const
{
    return m_tcb->m_cWnd;
}

TimePs
FabricTcpSocket::SmoothedRoundTrip() const
{
    return m_tcb->m_srtt.Get().GetTimeStep();
}

Ptr<TcpSocketBase>
FabricTcpSocket::Fork()
{
    const Ptr<FabricTcpSocket> accepted = CopyObject<FabricTcpSocket>(this);
    m_owner->Accepted(accepted);
    return accepted;
}

int
FabricTcpSocket::Send(Ptr<Packet> packet, uint32_t flags)
{
    const int sent = TcpSocketBase::Send(packet, flags);
    if (m_rWnd.Get() < GetSegSize())
    {
        KeepTimer(); // It may wait for a larger window, and nobody might tell of one.
    }
    return sent;
}

void
FabricTcpSocket::DoForwardUp(Ptr<Packet> packet, const Address& from, const Address& to)
{
    m_windowBefore = m_rWnd;
    TcpSocketBase::DoForwardUp(packet, from, to);
    KeepTimer();
}

bool
FabricTcpSocket::IsNoDuplicate(const Packet& packet, const TcpHeader& header) const
{
    const SequenceNumber32 head = m_txBuffer->HeadSequence();
    const int32_t underWay = m_tcb->m_highTxMark - head;
    if (m_sackEnabled || packet.GetSize() > 0 || header.GetAckNumber() != head || underWay <= 0)
    {
        return false;
    }
    // It tells of a window (RFC 5681, section 2, e), or a segment has come twice: there is none
    // behind the first that could have come before it, and ns-3's list of these asserts that.
    return m_rWnd.Get() != m_windowBefore || underWay <= static_cast<int32_t>(GetSegSize());
}

void
FabricTcpSocket::ReceivedAck(Ptr<Packet> packet, const TcpHeader& header)
{
    KeepComparable(m_ecnEchoSeq, header.GetAckNumber());
    KeepComparable(m_ecnCWRSeq, header.GetAckNumber());
    if (!m_sackEnabled && m_txBuffer->GetSacked() > 0 &&
        m_tcb->m_highTxMark - header.GetAckNumber() <= static_cast<int32_t>(GetSegSize()))
    {
        // ns-3 would move its guess that a segment has arrived from the first to one behind it,
        // asserting that there is one.
        m_txBuffer->ResetRenoSack();
    }
    // Nagle's algorithm is for data that were never sent (RFC 1122, section 4.2.3.4).
    const bool hasNoDelay = m_noDelay;
    m_noDelay = hasNoDelay || m_tcb->m_congState == TcpSocketState::CA_RECOVERY ||
                m_tcb->m_congState == TcpSocketState::CA_LOSS;
    if (IsNoDuplicate(*packet, header))
    {
        SendPendingData(m_connected);
    }
    else
    {
        TcpSocketBase::ReceivedAck(packet, header);
    }
    m_noDelay = hasNoDelay;
    if (m_end == nullptr || !m_end->isSender)
    {
        return;
    }
    const SequenceNumber32 head = m_txBuffer->HeadSequence();
    if (head > m_head)
    {
        m_acked += head - m_head;
        m_head = head;
        m_owner->Acked(*m_end, m_acked);
    }
    m_owner->Moved(*m_end);
}

void
FabricTcpSocket::ReceivedData(Ptr<Packet> packet, const TcpHeader& header)
{
    if (packet->GetSize() > GetSegSize())
    {
        // Several segments that the host has merged: acknowledged at once, as by Linux
        // (__tcp_ack_snd_check).
        m_delAckCount = m_delAckMaxCount;
    }
    const bool isEchoing = m_tcb->m_ecnState == TcpSocketState::ECN_CE_RCVD ||
                           m_tcb->m_ecnState == TcpSocketState::ECN_SENDING_ECE;
    if (isEchoing != m_isEchoing)
    {
        // The sender's window may be small now, and has to know (RFC 8257, section 3.2; as Linux,
        // dctcp_ece_ack_update and tcp_ecn_accept_cwr).
        m_delAckCount = m_delAckMaxCount;
        m_isEchoing = isEchoing;
    }
    TcpSocketBase::ReceivedData(packet, header);
    KeepComparable(m_ecnCESeq, m_tcb->m_rxBuffer->NextRxSequence());
}

uint32_t
FabricTcpSocket::SendDataPacket(SequenceNumber32 sequence, uint32_t maxSize, bool withAck)
{
    const uint32_t bytes = TcpSocketBase::SendDataPacket(sequence, maxSize, withAck);
    if (m_end != nullptr)
    {
        m_owner->Moved(*m_end);
    }
    return bytes;
}

void
FabricTcpSocket::SendEmptyPacket(uint8_t flags)
{
    TcpSocketBase::SendEmptyPacket(flags);
    if ((flags & TcpHeader::ACK) != 0)
    {
        m_toldEdge = m_tcb->m_rxBuffer->MaxRxSequence();
    }
}

void
FabricTcpSocket::ReTxTimeout()
{
    const bool isDue = m_txBuffer->Size() > 0 && m_state != CLOSED && m_state != TIME_WAIT;
    if (isDue && m_end != nullptr)
    {
        m_owner->TimedOut(*m_end);
    }
    TcpSocketBase::ReTxTimeout();
    Probe(); // Nagle's algorithm, or a window below a segment, may have kept ns-3's from sending.
}

void
FabricTcpSocket::PersistTimeout()
{
    // ns-3's sends a byte even where there is none that was not sent.
    Probe();
    KeepTimer();
}

void
FabricTcpSocket::Probe()
{
    if (m_state != ESTABLISHED || m_endPoint == nullptr || m_txBuffer->Size() == 0 ||
        BytesInFlight() > 0)
    {
        return;
    }
    // As much as the window has room for, and a byte where it has none (RFC 9293, 3.8.6.1).
    if (m_rWnd.Get() == 0 && m_txBuffer->HeadSequence() >= m_tcb->m_highTxMark)
    {
        m_tcb->m_nextTxSequence = m_txBuffer->HeadSequence();
        TcpSocketBase::PersistTimeout(); // It alone may send new data beyond the window.
        return;
    }
    const uint32_t most = std::clamp<uint32_t>(m_rWnd.Get(), 1, GetSegSize());
    m_tcb->m_nextTxSequence = m_txBuffer->HeadSequence();
    m_tcb->m_nextTxSequence += SendDataPacket(m_tcb->m_nextTxSequence, most, m_connected);
}

void
FabricTcpSocket::KeepTimer()
{
    if (m_state == ESTABLISHED && m_endPoint != nullptr && m_txBuffer->Size() > 0 &&
        !m_retxEvent.IsPending() && !m_persistEvent.IsPending() && !m_pacingTimer.IsRunning())
    {
        m_retxEvent = Simulator::Schedule(m_rto, &FabricTcpSocket::ReTxTimeout, this);
    }
}

void
FabricTcpSocket::DelAckTimeout()
{
    if (m_end != nullptr && m_state == ESTABLISHED)
    {
        m_owner->AckedLate(*m_end);
    }
    TcpSocketBase::DelAckTimeout();
}

Time
FabricTcpSocket::CalculateRttSample(const TcpHeader& header, const RttHistory& history)
{
    // Of what was sent once only (RFC 6298, section 3).
    const SequenceNumber32 end = history.seq + SequenceNumber32(history.count);
    const bool isAcked = header.GetAckNumber() >= end;
    return isAcked && !history.retx ? Simulator::Now() - history.time : Time(0);
}

} // namespace ns3
