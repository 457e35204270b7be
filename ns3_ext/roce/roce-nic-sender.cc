// SPDX-License-Identifier: GPL-2.0-only
// The sending half of RoceNic: queue pairs, round robin, packets, windows, go-back-N.
#include "../fabric/fabric.h"
#include "psn.h"
#include "roce-nic.h"
#include "roce-transport.h"

#include "ns3/log.h"

#include <algorithm>
#include <limits>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RoceNicSender");

namespace
{

/// A timeout of `auto` is this many unloaded round trips, plus the time to drain the queues.
constexpr int TIMEOUT_ROUND_TRIPS = 4;
/// Doublings after which the timeout grows no further.
constexpr uint8_t MAX_BACKOFF = 16;

} // namespace

void
RoceNic::Post(const MessageRequest& request)
{
    if (m_sendLatency.IsZero())
    {
        Submit(request);
        return;
    }
    EventLoop& loop = m_fabric->Loop();
    m_submitted.push_back(request);
    loop.ScheduleTimer(loop.Now() + m_sendLatency.GetTimeStep(), m_sendLatencyHandler, 0);
}

void
RoceNic::SendLatencyPassed(uint64_t)
{
    const MessageRequest request = m_submitted.front();
    m_submitted.pop_front();
    Submit(request);
}

void
RoceNic::Submit(const MessageRequest& request)
{
    NS_LOG_LOGIC("message " << request.id << " of " << request.size << " B from rank "
                            << request.src << " to rank " << request.dst);
    m_postedTrace(request.id, request.src, request.dst);
    QueuePair* queuePair = SelectQueuePair(request);
    OutgoingMessage* message = m_transport->NewMessage();
    message->id = request.id;
    message->size = request.size;
    message->bytesBefore = queuePair->postedBytes;
    message->firstPsn = queuePair->postedPsn;
    message->packets =
        static_cast<uint64_t>(LineFormat::PacketsOf(request.size, queuePair->payload));
    queuePair->postedBytes += request.size;
    queuePair->postedPsn = message->EndPsn();
    if (queuePair->tail == nullptr)
    {
        queuePair->head = message;
    }
    else
    {
        queuePair->tail->next = message;
    }
    queuePair->tail = message;
    if (queuePair->sending == nullptr)
    {
        queuePair->sending = message;
    }
    if (queuePair->receiving == nullptr)
    {
        queuePair->receiving = message;
    }
    UpdateReady(queuePair);
}

QueuePair*
RoceNic::SelectQueuePair(const MessageRequest& request)
{
    const uint64_t key = (static_cast<uint64_t>(request.dst) << 8) | request.priority;
    Peer& peer = m_peers[key];
    if (m_qpsPerPeer == 0)
    {
        QueuePair* queuePair = Connect(request, peer.nextNumber++);
        // Frames of a connection that may repeat packets can come after its last ACK.
        queuePair->isTransient = !queuePair->isTimed;
        return queuePair;
    }
    const uint32_t number = peer.nextNumber++ % m_qpsPerPeer;
    if (number == peer.queuePairs.size())
    {
        peer.queuePairs.push_back(Connect(request, number));
    }
    return peer.queuePairs[number];
}

QueuePair*
RoceNic::Connect(const MessageRequest& request, uint32_t number)
{
    QueuePair* queuePair = m_transport->NewQueuePair(request.src, request.dst, number);
    queuePair->priority = request.priority;
    queuePair->nextPsn = m_initialPsn;
    queuePair->unackedPsn = m_initialPsn;
    queuePair->highestPsn = m_initialPsn;
    queuePair->postedPsn = m_initialPsn;
    queuePair->expectedPsn = m_initialPsn;
    bool isLossy = false;
    queuePair->isScaleUp = true;
    for (uint16_t hop = 0; hop < queuePair->hops; ++hop)
    {
        queuePair->isScaleUp &= m_fabric->GetPort(queuePair->path[hop]).efficiencyPpm != 0;
        isLossy |= m_fabric->GetPort(queuePair->path[hop]).lossThreshold != 0;
    }
    for (uint16_t hop = 0; hop < queuePair->ackHops; ++hop)
    {
        isLossy |= m_fabric->GetPort(queuePair->ackPath[hop]).lossThreshold != 0;
    }
    queuePair->payload = queuePair->isScaleUp ? SCALE_UP_PAYLOAD : m_payload;
    // Where no frame can be lost the timer could only ever find that nothing is missing.
    queuePair->isTimed = isLossy || (!m_timeout.IsNegative() && !queuePair->isScaleUp);
    queuePair->ackPathLatency = PathLatency(queuePair->ackPath, queuePair->ackHops);
    const TimePs roundTrip = UnloadedRoundTrip(*queuePair);
    queuePair->baseTimeout = TIMEOUT_ROUND_TRIPS * roundTrip;
    if (queuePair->isScaleUp)
    {
        return queuePair; // Credits keep the link's rate; there is no window to fill.
    }
    if (m_windowPolicy == WindowPolicy::FIXED)
    {
        queuePair->window = static_cast<ByteCount>(m_window);
    }
    else if (m_windowPolicy == WindowPolicy::BDP)
    {
        BitRate slowest = std::numeric_limits<BitRate>::max();
        for (uint16_t hop = 0; hop < queuePair->hops; ++hop)
        {
            slowest = std::min(slowest, m_fabric->GetPort(queuePair->path[hop]).rate);
        }
        const auto bits = static_cast<Int128>(slowest) * roundTrip / PS_PER_S;
        queuePair->window = std::max<ByteCount>(1, static_cast<ByteCount>(bits / BITS_PER_BYTE));
    }
    return queuePair;
}

TimePs
RoceNic::PathLatency(const ChannelId* path, uint16_t hops) const
{
    TimePs latency = 0;
    for (uint16_t hop = 0; hop < hops; ++hop)
    {
        const Port& port = m_fabric->GetPort(path[hop]);
        latency += port.delay + (hop + 1 < hops ? port.peerLatency : 0);
    }
    return latency;
}

TimePs
RoceNic::UnloadedRoundTrip(const QueuePair& queuePair) const
{
    TimePs time = PathLatency(queuePair.path, queuePair.hops) + queuePair.ackPathLatency;
    Frame frame;
    frame.payloadBytes = queuePair.payload;
    frame.lineBytes = m_format.DataLine(queuePair.payload, false);
    for (uint16_t hop = 0; hop < queuePair.hops; ++hop)
    {
        time += m_fabric->SerializationOn(queuePair.path[hop], frame);
    }
    if (m_ackPolicy != AckPolicy::OUT_OF_BAND)
    {
        frame.payloadBytes = 0;
        frame.lineBytes = m_format.AckLine();
        for (uint16_t hop = 0; hop < queuePair.ackHops; ++hop)
        {
            time += m_fabric->SerializationOn(queuePair.ackPath[hop], frame);
        }
    }
    return time;
}

bool
RoceNic::CanSend(const QueuePair& queuePair) const
{
    return queuePair.sending != nullptr && !IsWindowFull(queuePair);
}

bool
RoceNic::IsWindowFull(const QueuePair& queuePair) const
{
    return (queuePair.window != 0 &&
            queuePair.sentBytes - queuePair.ackedBytes >= queuePair.window) ||
           queuePair.nextPsn - queuePair.unackedPsn >= MAX_UNACKED_PACKETS;
}

void
RoceNic::UpdateReady(QueuePair* queuePair)
{
    const bool canSend = CanSend(*queuePair);
    if (canSend == queuePair->isReady)
    {
        return;
    }
    DataPort& port = *m_ports.at(queuePair->path[0]);
    if (canSend)
    {
        port.Insert(queuePair);
    }
    else
    {
        port.Remove(queuePair);
    }
}

uint32_t
RoceNic::DataPort::ReadyMask() const
{
    return m_ready;
}

void
RoceNic::DataPort::Insert(QueuePair* queuePair)
{
    queuePair->isReady = true;
    m_ring[queuePair->priority].Insert(queuePair);
    m_ready |= 1U << queuePair->priority;
    m_nic.m_fabric->Kick(m_port);
}

void
RoceNic::DataPort::Remove(QueuePair* queuePair)
{
    queuePair->isReady = false;
    ReadyRing& ring = m_ring[queuePair->priority];
    ring.Remove(queuePair);
    if (ring.IsEmpty())
    {
        m_ready &= ~(1U << queuePair->priority);
    }
}

Frame*
RoceNic::DataPort::NextFrame(uint8_t priority)
{
    ReadyRing& ring = m_ring[priority];
    QueuePair* queuePair = ring.Serve();
    m_lastStarted = queuePair->sending;
    m_lastDestination = queuePair->dst;
    Frame* frame = m_nic.BuildDataFrame(queuePair);
    if (!m_nic.CanSend(*queuePair))
    {
        queuePair->isReady = false;
        ring.RemoveServed();
        if (ring.IsEmpty())
        {
            m_ready &= ~(1U << priority);
        }
    }
    return frame;
}

void
RoceNic::DataPort::LastFrameStarted(TimePs end)
{
    if (!m_lastStarted->isSent)
    {
        m_lastStarted->isSent = true;
        m_nic.m_fabric->Loop().ScheduleTimer(end,
                                             m_nic.m_leftHandler,
                                             (static_cast<uint64_t>(m_lastStarted->id) << 32) |
                                                 m_lastDestination);
    }
}

void
RoceNic::MessageHasLeft(uint64_t idAndDestination)
{
    const auto id = static_cast<MessageId>(idAndDestination >> 32);
    m_sentTrace(id, m_rank, static_cast<uint32_t>(idAndDestination));
    m_transport->Listener().MessageSent(id);
}

Frame*
RoceNic::BuildDataFrame(QueuePair* queuePair)
{
    OutgoingMessage* message = queuePair->sending;
    const uint64_t offset = queuePair->nextPsn - message->firstPsn;
    const bool isLast = offset + 1 == message->packets;
    const auto payload = static_cast<uint32_t>(
        isLast ? message->size - static_cast<ByteCount>(offset) * queuePair->payload
               : queuePair->payload);
    Frame* frame = m_fabric->NewFrame();
    frame->path = queuePair->path;
    frame->hops = queuePair->hops;
    frame->flow = queuePair->index;
    frame->psn = static_cast<uint32_t>(queuePair->nextPsn & PSN_MASK);
    frame->payloadBytes = payload;
    frame->lineBytes = m_format.DataLine(payload, offset == 0);
    frame->src = queuePair->src;
    frame->dst = queuePair->dst;
    frame->kind = FrameKind::DATA;
    frame->priority = queuePair->priority;
    frame->transitPriority = queuePair->priority;
    frame->isLast = isLast;
    if (queuePair->nextPsn < queuePair->highestPsn)
    {
        frame->isRepetition = true;
        ++m_counters.repeatedPackets;
        m_transport->Listener().PacketRepeated(message->id);
    }
    else
    {
        m_counters.sentPayloadBytes += payload;
        queuePair->highestPsn = queuePair->nextPsn + 1;
    }
    ++m_counters.dataPackets;
    ++queuePair->nextPsn;
    queuePair->sentBytes += payload;
    if (isLast)
    {
        queuePair->sending = message->next;
    }
    // A full window opens by an ACK only, so the packet that fills it asks for one.
    frame->isAckRequested = isLast || IsWindowFull(*queuePair);
    const uint64_t outstanding = queuePair->nextPsn - queuePair->unackedPsn;
    if (queuePair->isTimed && (frame->isAckRequested || outstanding >= m_ackAfter))
    {
        // The time runs from the oldest packet that has an ACK due, not from the newest.
        if (queuePair->dueAckPsn <= queuePair->unackedPsn)
        {
            queuePair->lastProgress = m_fabric->Loop().Now();
        }
        queuePair->dueAckPsn = std::max(queuePair->dueAckPsn, queuePair->nextPsn);
        ArmTimer(queuePair);
    }
    return frame;
}

void
RoceNic::HandleAck(QueuePair* queuePair, uint32_t psn, bool isNak)
{
    const uint64_t expected = ExtendPsn(psn, queuePair->unackedPsn);
    if (expected < queuePair->unackedPsn || expected > queuePair->highestPsn)
    {
        return; // Older than what is known already.
    }
    OutgoingMessage* done = nullptr;
    if (expected > queuePair->unackedPsn)
    {
        done = AdvanceAcked(queuePair, expected);
    }
    if (isNak)
    {
        GoBack(queuePair);
    }
    UpdateReady(queuePair);
    const bool isOver = queuePair->isTransient && queuePair->head == nullptr;
    // Told last: whoever hears of it may post to this very queue pair.
    while (done != nullptr)
    {
        OutgoingMessage* message = done;
        done = message->next;
        const MessageId id = message->id;
        m_transport->Release(message);
        m_ackedTrace(id, queuePair->src, queuePair->dst);
        m_transport->Listener().MessageAcked(id);
    }
    if (isOver)
    {
        m_transport->Release(queuePair);
    }
}

OutgoingMessage*
RoceNic::AdvanceAcked(QueuePair* queuePair, uint64_t expected)
{
    queuePair->unackedPsn = expected;
    queuePair->lastProgress = m_fabric->Loop().Now();
    queuePair->backoff = 0;
    OutgoingMessage* const first = queuePair->head;
    OutgoingMessage* last = nullptr;
    while (queuePair->head != nullptr && queuePair->head->EndPsn() <= expected)
    {
        last = queuePair->head;
        queuePair->head = last->next;
    }
    const OutgoingMessage* head = queuePair->head;
    if (head == nullptr)
    {
        queuePair->tail = nullptr;
        queuePair->ackedBytes = queuePair->postedBytes;
    }
    else
    {
        const auto packets =
            static_cast<ByteCount>(expected > head->firstPsn ? expected - head->firstPsn : 0);
        queuePair->ackedBytes =
            head->bytesBefore + std::min(packets * queuePair->payload, head->size);
    }
    if (queuePair->nextPsn < expected)
    {
        // Was to be repeated from further back, and need not be.
        queuePair->nextPsn = expected;
        queuePair->sentBytes = queuePair->ackedBytes;
        queuePair->sending = queuePair->head;
    }
    if (last == nullptr)
    {
        return nullptr;
    }
    last->next = nullptr;
    return first;
}

void
RoceNic::GoBack(QueuePair* queuePair)
{
    NS_LOG_LOGIC("queue pair " << queuePair->index << " goes back from packet "
                               << queuePair->nextPsn << " to " << queuePair->unackedPsn);
    m_goBackTrace(queuePair->index, static_cast<uint32_t>(queuePair->unackedPsn & PSN_MASK));
    queuePair->nextPsn = queuePair->unackedPsn;
    queuePair->sentBytes = queuePair->ackedBytes;
    queuePair->sending = queuePair->head;
}

TimePs
RoceNic::Timeout(const QueuePair& queuePair) const
{
    TimePs timeout = m_timeout.GetTimeStep();
    if (m_timeout.IsNegative())
    {
        timeout = queuePair.baseTimeout;
        for (uint16_t hop = 0; hop < queuePair.hops; ++hop)
        {
            timeout += m_fabric->LargestBacklog(queuePair.path[hop]);
        }
        for (uint16_t hop = 0; hop < queuePair.ackHops; ++hop)
        {
            timeout += m_fabric->LargestBacklog(queuePair.ackPath[hop]);
        }
    }
    return std::min(timeout, MAX_TIME_PS >> queuePair.backoff) << queuePair.backoff;
}

void
RoceNic::ArmTimer(QueuePair* queuePair)
{
    if (!queuePair->isTimerPending)
    {
        queuePair->isTimerPending = true;
        m_transport->TimerArmed();
        m_fabric->Loop().ScheduleTimer(queuePair->lastProgress + Timeout(*queuePair),
                                       m_timerHandler,
                                       queuePair->index);
    }
}

void
RoceNic::TimerFired(uint64_t index)
{
    QueuePair* queuePair = m_transport->QueuePairAt(static_cast<uint32_t>(index));
    queuePair->isTimerPending = false;
    m_transport->TimerOver();
    if (queuePair->dueAckPsn <= queuePair->unackedPsn)
    {
        return; // No ACK is due.
    }
    if (m_fabric->Loop().Now() >= queuePair->lastProgress + Timeout(*queuePair))
    {
        ++m_counters.timeouts;
        m_timeoutTrace(queuePair->index, static_cast<uint32_t>(queuePair->unackedPsn & PSN_MASK));
        queuePair->backoff = std::min<uint8_t>(queuePair->backoff + 1, MAX_BACKOFF);
        queuePair->lastProgress = m_fabric->Loop().Now();
        GoBack(queuePair);
        UpdateReady(queuePair);
    }
    ArmTimer(queuePair);
}

void
RoceNic::AckCameBack(uint64_t argument)
{
    m_transport->AckCame();
    QueuePair* queuePair = m_transport->QueuePairAt(static_cast<uint32_t>(argument >> 32));
    HandleAck(queuePair, static_cast<uint32_t>(argument & PSN_MASK), false);
}

} // namespace ns3
