// SPDX-License-Identifier: GPL-2.0-only
// The receiving half of RoceNic: order, delivery, acknowledgements, notifications.
#include "../fabric/fabric.h"
#include "psn.h"
#include "roce-nic.h"
#include "roce-transport.h"

#include <algorithm>

namespace ns3
{

void
RoceNic::ReceiveFrame(Frame& frame)
{
    QueuePair* queuePair = m_transport->QueuePairAt(frame.flow);
    if (frame.kind == FrameKind::DATA)
    {
        ReceiveData(queuePair, frame);
        return;
    }
    if (frame.kind == FrameKind::CNP)
    {
        ReceiveCnp(queuePair);
        return;
    }
    Acknowledgement ack;
    ack.psn = frame.psn;
    ack.isNak = frame.kind == FrameKind::NAK;
    ack.isMarked = frame.isMarked;
    ack.notes = frame.notes;
    HandleAck(queuePair, ack);
}

void
RoceNic::Foresee(const Frame& frame) const
{
    const QueuePair* queuePair = m_transport->QueuePairAt(frame.flow);
    __builtin_prefetch(queuePair);
    if (frame.kind == FrameKind::DATA)
    {
        __builtin_prefetch(&queuePair->receiving);
    }
    else
    {
        __builtin_prefetch(&queuePair->sending);
        __builtin_prefetch(&queuePair->head);
    }
}

void
RoceNic::ReceiveData(QueuePair* queuePair, Frame& frame)
{
    if (frame.isMarked)
    {
        ++m_counters.markedPackets;
    }
    const uint64_t psn = ExtendPsn(frame.psn, queuePair->expectedPsn);
    if (psn != queuePair->expectedPsn)
    {
        ReceiveOutOfOrder(queuePair, frame, psn);
        if (frame.isMarked)
        {
            NotifyCongestion(queuePair);
        }
        return;
    }
    if (queuePair->isControlled)
    {
        TakeEcho(queuePair, frame);
    }
    ++queuePair->expectedPsn;
    queuePair->isNakSent = false;
    queuePair->receivedBytes += frame.payloadBytes;
    m_counters.receivedPayloadBytes += frame.payloadBytes;
    bool isAckRequested = frame.isAckRequested;
    if (queuePair->kept != nullptr)
    {
        KeptPackets& kept = *queuePair->kept;
        isAckRequested |=
            !kept.packets.IsEmpty() && (queuePair->repeat != nullptr || kept.askedPsn > psn);
        while (kept.packets.Contains(queuePair->expectedPsn))
        {
            ++queuePair->expectedPsn;
        }
        kept.packets.RaiseFloor(queuePair->expectedPsn);
    }
    queuePair->packetsToAck += static_cast<uint32_t>(queuePair->expectedPsn - psn);
    if (isAckRequested || IsAckDueAfter(*queuePair))
    {
        Acknowledge(queuePair, FrameKind::ACK);
    }
    if (frame.isMarked)
    {
        NotifyCongestion(queuePair);
    }
    if (frame.isLast || queuePair->kept != nullptr)
    {
        Deliver(queuePair);
    }
}

bool
RoceNic::IsAckDueAfter(const QueuePair& queuePair) const
{
    switch (queuePair.isScaleUp ? AckPolicy::OUT_OF_BAND : m_ackPolicy)
    {
    case AckPolicy::PER_PACKET:
        return true;
    case AckPolicy::OUT_OF_BAND:
        // Only where somebody waits for more than the end of a message.
        return queuePair.window != 0 || queuePair.isTimed || queuePair.isControlled ||
               queuePair.packetsToAck >= MAX_PACKETS_TO_ACK;
    case AckPolicy::EVERY:
    case AckPolicy::PER_MESSAGE:
        break;
    }
    return queuePair.packetsToAck >= m_ackAfter;
}

void
RoceNic::ReceiveOutOfOrder(QueuePair* queuePair, Frame& frame, uint64_t psn)
{
    const bool isAfterGap = psn > queuePair->expectedPsn;
    if (!isAfterGap || (queuePair->kept != nullptr && queuePair->kept->packets.Contains(psn)))
    {
        ++m_counters.duplicatePackets;
        Answer(queuePair, frame, FrameKind::ACK);
        return;
    }
    if (queuePair->kept != nullptr)
    {
        Keep(queuePair, frame, psn);
        if (!queuePair->isSprayed)
        {
            Answer(queuePair, frame, FrameKind::NAK);
        }
        else if (m_ackAfter == 1 && IsAckDueAfter(*queuePair))
        {
            Answer(queuePair, frame, FrameKind::ACK);
        }
        else if (queuePair->isControlled)
        {
            TakeEcho(queuePair, frame);
        }
        return;
    }
    ++m_counters.outOfOrderPackets;
    if (!queuePair->isNakSent)
    {
        queuePair->isNakSent = true;
        Acknowledge(queuePair, FrameKind::NAK);
    }
}

void
RoceNic::Keep(QueuePair* queuePair, const Frame& frame, uint64_t psn)
{
    ++m_counters.keptPackets;
    m_counters.receivedPayloadBytes += frame.payloadBytes;
    KeptPackets& kept = *queuePair->kept;
    kept.packets.Insert(psn);
    if (frame.isAckRequested)
    {
        kept.askedPsn = std::max(kept.askedPsn, psn + 1);
    }
    const OutgoingMessage* message = queuePair->receiving;
    if (psn < message->EndPsn())
    {
        queuePair->receivedBytes += frame.payloadBytes;
        return;
    }
    while (message->EndPsn() <= psn)
    {
        message = message->next;
    }
    kept.early[message->firstPsn] += frame.payloadBytes;
}

void
RoceNic::Answer(QueuePair* queuePair, Frame& frame, FrameKind kind)
{
    if (queuePair->isControlled)
    {
        TakeEcho(queuePair, frame);
    }
    if (queuePair->repeat != nullptr)
    {
        if (queuePair->notesOwed == nullptr)
        {
            queuePair->notesOwed = m_fabric->NewNotes();
        }
        queuePair->notesOwed->receivedPsn = frame.psn;
    }
    Acknowledge(queuePair, kind);
}

void
RoceNic::TakeEcho(QueuePair* queuePair, Frame& frame)
{
    if (queuePair->isAckOwed && queuePair->isMarkOwed != frame.isMarked && IsEchoing())
    {
        // So that an ACK's mark is that of all packets that it answers (RFC 8257, section 3.2).
        Acknowledge(queuePair, FrameKind::ACK);
    }
    queuePair->isAckOwed = true;
    queuePair->isMarkOwed = frame.isMarked;
    if (frame.notes != nullptr)
    {
        if (queuePair->notesOwed != nullptr)
        {
            m_fabric->Release(queuePair->notesOwed);
        }
        queuePair->notesOwed = frame.notes;
        queuePair->notesOwed->receivedPsn = frame.psn;
        frame.notes = nullptr;
    }
}

bool
RoceNic::IsEchoing() const
{
    return m_control->UsesEcn() && !m_control->UsesCnp();
}

void
RoceNic::NotifyCongestion(QueuePair* queuePair)
{
    if (!queuePair->isControlled || !m_control->UsesCnp())
    {
        return;
    }
    EventLoop& loop = m_fabric->Loop();
    if (queuePair->lastCnp != NEVER_PS &&
        loop.Now() < queuePair->lastCnp + m_control->CnpInterval())
    {
        return;
    }
    queuePair->lastCnp = loop.Now();
    if (m_isCnpOnAck)
    {
        queuePair->isCnpOwed = true;
        return;
    }
    ++queuePair->pendingCnps;
    if (m_control->CnpDelay() == 0)
    {
        SendCnp(queuePair);
        return;
    }
    m_transport->TimerArmed();
    loop.ScheduleTimer(loop.Now() + m_control->CnpDelay(), m_cnpHandler, queuePair->index);
}

void
RoceNic::CnpDelayPassed(uint64_t index)
{
    m_transport->TimerOver();
    SendCnp(m_transport->QueuePairAt(static_cast<uint32_t>(index)));
}

void
RoceNic::SendCnp(QueuePair* queuePair)
{
    ++m_counters.cnpsSent;
    m_cnpSentTrace(queuePair->index, static_cast<uint32_t>(queuePair->expectedPsn & PSN_MASK));
    Frame* frame = NewReverseFrame(*queuePair, FrameKind::CNP);
    frame->lineBytes = wire::CNP_LINE;
    frame->transitPriority = ACK_PRIORITY;
    m_fabric->Inject(frame);
}

Frame*
RoceNic::NewReverseFrame(const QueuePair& queuePair, FrameKind kind)
{
    Frame* frame = m_fabric->NewFrame();
    frame->path = queuePair.ackPath;
    frame->hops = queuePair.ackHops;
    frame->flow = queuePair.index;
    frame->psn = static_cast<uint32_t>(queuePair.expectedPsn & PSN_MASK);
    frame->src = queuePair.dst;
    frame->dst = queuePair.src;
    frame->kind = kind;
    frame->priority = ACK_PRIORITY;
    return frame;
}

void
RoceNic::Acknowledge(QueuePair* queuePair, FrameKind kind)
{
    queuePair->packetsToAck = 0;
    queuePair->isAckOwed = false;
    bool isMarked = queuePair->isMarkOwed;
    if (m_isCnpOnAck)
    {
        isMarked = queuePair->isCnpOwed;
        if (isMarked)
        {
            ++m_counters.cnpsSent;
            m_cnpSentTrace(queuePair->index,
                           static_cast<uint32_t>(queuePair->expectedPsn & PSN_MASK));
        }
    }
    queuePair->isMarkOwed = false;
    queuePair->isCnpOwed = false;
    FrameNotes* notes = queuePair->notesOwed;
    queuePair->notesOwed = nullptr;
    ++(kind == FrameKind::NAK ? m_counters.naksSent : m_counters.acksSent);
    const bool isFrameless = queuePair->isScaleUp || m_ackPolicy == AckPolicy::OUT_OF_BAND;
    if (isFrameless && kind == FrameKind::ACK)
    {
        AcknowledgeOutOfBand(queuePair, isMarked, notes);
        return;
    }
    Frame* frame = NewReverseFrame(*queuePair, kind);
    frame->lineBytes = m_format.AckLine();
    frame->transitPriority = m_isAckClassShared ? queuePair->priority : ACK_PRIORITY;
    frame->isMarked = isMarked;
    frame->notes = notes;
    if (notes != nullptr && notes->isTelemetryWanted)
    {
        frame->lineBytes += m_control->TelemetryBytes();
        notes->isTelemetryWanted = false; // It is complete: ports of the way back add nothing.
    }
    m_fabric->Inject(frame);
}

void
RoceNic::AcknowledgeOutOfBand(QueuePair* queuePair, bool isMarked, FrameNotes* notes)
{
    EventLoop& loop = m_fabric->Loop();
    RoceNic& sender = m_transport->NicOf(queuePair->src);
    const TimePs time = loop.Now() + queuePair->ackPathLatency;
    const auto psn = static_cast<uint32_t>(queuePair->expectedPsn & PSN_MASK);
    m_transport->AckOnItsWay();
    if (!isMarked && notes == nullptr)
    {
        loop.ScheduleTimer(time,
                           sender.m_ackHandler,
                           (static_cast<uint64_t>(queuePair->index) << 32) | psn);
        return;
    }
    Acknowledgement* ack = m_transport->NewAcknowledgement();
    ack->queuePair = queuePair->index;
    ack->psn = psn;
    ack->isMarked = isMarked;
    ack->isTimer = true;
    ack->notes = notes;
    loop.ScheduleTimer(time, sender.m_echoHandler, reinterpret_cast<uint64_t>(ack));
}

void
RoceNic::Deliver(QueuePair* queuePair)
{
    while (queuePair->receiving != nullptr &&
           queuePair->receiving->EndPsn() <= queuePair->expectedPsn)
    {
        const OutgoingMessage* message = queuePair->receiving;
        ByteCount bytes = queuePair->receivedBytes;
        queuePair->receiving = message->next;
        queuePair->receivedBytes = 0;
        if (queuePair->kept != nullptr && message->next != nullptr)
        {
            queuePair->receivedBytes = queuePair->kept->TakeEarly(message->next->firstPsn);
        }
        if (StripedMessage* whole = message->whole; whole != nullptr)
        {
            whole->deliveredBytes += bytes;
            if (--whole->partsToDeliver != 0)
            {
                continue;
            }
            bytes = whole->deliveredBytes;
        }
        m_deliveredTrace(message->id, queuePair->src, queuePair->dst);
        TellDelivered(message->id, bytes);
    }
}

void
RoceNic::TellDelivered(MessageId id, ByteCount bytes)
{
    if (m_receiveLatency.IsZero())
    {
        m_transport->Listener().MessageDelivered(id, bytes);
        return;
    }
    EventLoop& loop = m_fabric->Loop();
    m_arrived.emplace_back(id, bytes);
    loop.ScheduleTimer(loop.Now() + m_receiveLatency.GetTimeStep(), m_receiveLatencyHandler, 0);
}

void
RoceNic::ReceiveLatencyPassed(uint64_t)
{
    const auto [id, bytes] = m_arrived.front();
    m_arrived.pop_front();
    m_transport->Listener().MessageDelivered(id, bytes);
}

} // namespace ns3
