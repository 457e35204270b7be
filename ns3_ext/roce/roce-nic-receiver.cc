// SPDX-License-Identifier: GPL-2.0-only
// The receiving half of RoceNic: order, delivery, acknowledgements.
#include "../fabric/fabric.h"
#include "psn.h"
#include "roce-nic.h"
#include "roce-transport.h"

namespace ns3
{

void
RoceNic::ReceiveFrame(Frame& frame)
{
    QueuePair* queuePair = m_transport->QueuePairAt(frame.flow);
    if (frame.kind == FrameKind::DATA)
    {
        ReceiveData(queuePair, frame);
    }
    else
    {
        HandleAck(queuePair, frame.psn, frame.kind == FrameKind::NAK);
    }
}

void
RoceNic::ReceiveData(QueuePair* queuePair, const Frame& frame)
{
    const uint64_t psn = ExtendPsn(frame.psn, queuePair->expectedPsn);
    if (psn > queuePair->expectedPsn)
    {
        ++m_counters.outOfOrderPackets;
        if (!queuePair->isNakSent)
        {
            queuePair->isNakSent = true;
            Acknowledge(queuePair, FrameKind::NAK);
        }
        return;
    }
    if (psn < queuePair->expectedPsn)
    {
        ++m_counters.duplicatePackets;
        Acknowledge(queuePair, FrameKind::ACK);
        return;
    }
    ++queuePair->expectedPsn;
    queuePair->isNakSent = false;
    queuePair->receivedBytes += frame.payloadBytes;
    m_counters.receivedPayloadBytes += frame.payloadBytes;
    ++queuePair->packetsToAck;
    const AckPolicy policy = queuePair->isScaleUp ? AckPolicy::OUT_OF_BAND : m_ackPolicy;
    const bool isDue =
        frame.isAckRequested || policy == AckPolicy::PER_PACKET ||
        (policy == AckPolicy::OUT_OF_BAND && (queuePair->window != 0 || queuePair->isTimed)) ||
        (policy == AckPolicy::EVERY && queuePair->packetsToAck >= m_ackEvery) ||
        queuePair->packetsToAck >= MAX_PACKETS_TO_ACK;
    if (isDue)
    {
        Acknowledge(queuePair, FrameKind::ACK);
    }
    if (!frame.isLast)
    {
        return;
    }
    const OutgoingMessage* message = queuePair->receiving;
    const ByteCount bytes = queuePair->receivedBytes;
    queuePair->receiving = message->next;
    queuePair->receivedBytes = 0;
    m_deliveredTrace(message->id, queuePair->src, queuePair->dst);
    if (m_receiveLatency.IsZero())
    {
        m_transport->Listener().MessageDelivered(message->id, bytes);
        return;
    }
    EventLoop& loop = m_fabric->Loop();
    m_arrived.emplace_back(message->id, bytes);
    loop.ScheduleTimer(loop.Now() + m_receiveLatency.GetTimeStep(), m_receiveLatencyHandler, 0);
}

void
RoceNic::ReceiveLatencyPassed(uint64_t)
{
    const auto [id, bytes] = m_arrived.front();
    m_arrived.pop_front();
    m_transport->Listener().MessageDelivered(id, bytes);
}

void
RoceNic::Acknowledge(QueuePair* queuePair, FrameKind kind)
{
    queuePair->packetsToAck = 0;
    const auto psn = static_cast<uint32_t>(queuePair->expectedPsn & PSN_MASK);
    ++(kind == FrameKind::NAK ? m_counters.naksSent : m_counters.acksSent);
    const bool isFrameless = queuePair->isScaleUp || m_ackPolicy == AckPolicy::OUT_OF_BAND;
    if (isFrameless && kind == FrameKind::ACK)
    {
        EventLoop& loop = m_fabric->Loop();
        m_transport->AckOnItsWay();
        loop.ScheduleTimer(loop.Now() + queuePair->ackPathLatency,
                           m_transport->NicOf(queuePair->src).m_ackHandler,
                           (static_cast<uint64_t>(queuePair->index) << 32) | psn);
        return;
    }
    Frame* frame = m_fabric->NewFrame();
    frame->path = queuePair->ackPath;
    frame->hops = queuePair->ackHops;
    frame->flow = queuePair->index;
    frame->psn = psn;
    frame->lineBytes = m_format.AckLine();
    frame->src = queuePair->dst;
    frame->dst = queuePair->src;
    frame->kind = kind;
    frame->priority = ACK_PRIORITY;
    frame->transitPriority = m_isAckClassShared ? queuePair->priority : ACK_PRIORITY;
    m_fabric->Inject(frame);
}

} // namespace ns3
