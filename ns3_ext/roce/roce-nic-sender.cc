// SPDX-License-Identifier: GPL-2.0-only
// The sending half of RoceNic: messages into packets, windows.
#include "../fabric/fabric.h"
#include "../fabric/frame-watch.h"
#include "controlled-flow.h"
#include "psn.h"
#include "queue-pair-watch.h"
#include "roce-nic.h"
#include "roce-transport.h"

#include "ns3/log.h"

#include <algorithm>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RoceNicSender");

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
    const ByteCount packets = LineFormat::PacketsOf(request.size, queuePair->payload);
    const auto parts =
        m_qpPolicy == QpPolicy::STRIPED ? std::min<ByteCount>(m_qpsPerPeer, packets) : ByteCount{1};
    if (parts == 1)
    {
        SubmitPart(queuePair, request.id, request.size, nullptr);
        return;
    }
    StripedMessage* whole = m_transport->NewStripedMessage();
    whole->partsToSend = static_cast<uint32_t>(parts);
    whole->partsToDeliver = whole->partsToSend;
    whole->partsToAck = whole->partsToSend;
    ByteCount rest = request.size;
    for (ByteCount part = 0; part < parts; ++part)
    {
        const ByteCount count = packets / parts + (part < packets % parts ? 1 : 0);
        const ByteCount size = std::min(count * queuePair->payload, rest);
        rest -= size;
        SubmitPart(queuePair, request.id, size, whole);
        if (part + 1 < parts)
        {
            queuePair = SelectQueuePair(request);
        }
    }
}

void
RoceNic::SubmitPart(QueuePair* queuePair, MessageId id, ByteCount size, StripedMessage* whole)
{
    Advance(*queuePair);
    OutgoingMessage* message = m_transport->NewMessage();
    message->id = id;
    message->whole = whole;
    message->size = size;
    message->bytesBefore = queuePair->postedBytes;
    message->firstPsn = queuePair->postedPsn;
    message->packets = static_cast<uint64_t>(LineFormat::PacketsOf(size, queuePair->payload));
    queuePair->postedBytes += size;
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
    if (queuePair->isWatched && m_transport->GetQueuePairWatch()->IsWatched(id))
    {
        m_transport->GetQueuePairWatch()->Submitted(queuePair->index,
                                                    queuePair->number,
                                                    *message,
                                                    m_fabric->Loop().Now());
        WatchHold(*queuePair);
    }
}

bool
RoceNic::HasPacket(const QueuePair& queuePair) const
{
    if (queuePair.repeat != nullptr && queuePair.repeat->HasRepeat())
    {
        return true;
    }
    if (queuePair.sending == nullptr || !IsWindowFull(queuePair))
    {
        return queuePair.sending != nullptr;
    }
    // A control's window may have become smaller than what is in flight. It opens by an ACK only:
    // where none is due, one packet more asks for it.
    return queuePair.isControlled && queuePair.nextPsn != queuePair.unackedPsn &&
           !IsAckDue(queuePair);
}

bool
RoceNic::IsWindowFull(const QueuePair& queuePair) const
{
    if (IsTransportWindowFull(queuePair))
    {
        return true;
    }
    const ControlledFlow* flow = queuePair.flow;
    return flow != nullptr && flow->window != 0 && flow->inFlight >= flow->window;
}

bool
RoceNic::IsTransportWindowFull(const QueuePair& queuePair)
{
    return (queuePair.window != 0 &&
            queuePair.sentBytes - queuePair.ackedBytes >= queuePair.window) ||
           queuePair.nextPsn - queuePair.unackedPsn >= MAX_UNACKED_PACKETS;
}

bool
RoceNic::IsAckDue(const QueuePair& queuePair) const
{
    return queuePair.askedPsn > queuePair.unackedPsn ||
           queuePair.nextPsn - queuePair.unackedPsn >= m_ackAfter;
}

void
RoceNic::UpdateReady(QueuePair* queuePair)
{
    if (queuePair->flow != nullptr)
    {
        UpdateFlow(queuePair->flow);
        return;
    }
    const bool hasPacket = HasPacket(*queuePair);
    if (hasPacket != queuePair->isReady)
    {
        SetReady(queuePair, hasPacket);
    }
    if (queuePair->isWatched) [[unlikely]]
    {
        WatchHold(*queuePair);
    }
}

void
RoceNic::SetReady(QueuePair* queuePair, bool isReady)
{
    queuePair->isReady = isReady;
    for (const Way& way : queuePair->Ways())
    {
        isReady ? way.port->Insert(queuePair) : way.port->Remove(queuePair);
    }
}

void
RoceNic::WatchHold(const QueuePair& queuePair) const
{
    Hold hold = Hold::NOTHING;
    if (!queuePair.isReady)
    {
        if (HasPacket(queuePair))
        {
            hold = Hold::PACING;
        }
        else if (queuePair.sending == nullptr)
        {
            hold = Hold::NO_DATA;
        }
        else
        {
            hold = IsTransportWindowFull(queuePair) ? Hold::WINDOW : Hold::CONTROL_WINDOW;
        }
    }
    m_transport->GetQueuePairWatch()->Holds(queuePair.index, hold, m_fabric->Loop().Now());
}

void
RoceNic::Advance(const QueuePair& queuePair) const
{
    for (const Way& way : queuePair.Ways())
    {
        m_fabric->Advance(way.port->Channel());
    }
}

RoceNic::Packet
RoceNic::NextPacket(const QueuePair& queuePair) const
{
    if (queuePair.repeat != nullptr && queuePair.repeat->HasRepeat())
    {
        return {queuePair.repeat->message, queuePair.repeat->next};
    }
    return {queuePair.sending, queuePair.nextPsn};
}

uint32_t
RoceNic::PayloadOf(const QueuePair& queuePair, const OutgoingMessage& message, uint64_t offset)
{
    return offset + 1 == message.packets
               ? static_cast<uint32_t>(message.size -
                                       static_cast<ByteCount>(offset) * queuePair.payload)
               : queuePair.payload;
}

FrameSize
RoceNic::SizeIfLate(const QueuePair& queuePair) const
{
    if (queuePair.isTimed || queuePair.flow != nullptr || queuePair.ways != nullptr ||
        queuePair.isWatched || queuePair.repeat != nullptr)
    {
        return FrameSize{};
    }
    const OutgoingMessage& message = *queuePair.sending;
    const uint64_t offset = queuePair.nextPsn - message.firstPsn;
    const uint32_t payload = PayloadOf(queuePair, message, offset);
    return FrameSize{m_format.DataLine(payload, offset == 0), payload};
}

Frame*
RoceNic::BuildDataFrame(QueuePair* queuePair, const Packet& packet)
{
    OutgoingMessage* message = packet.message;
    const uint64_t offset = packet.psn - message->firstPsn;
    const bool isLast = offset + 1 == message->packets;
    const uint32_t payload = PayloadOf(*queuePair, *message, offset);
    Frame* frame = m_fabric->NewFrame();
    if (!queuePair->isRoutedByHop)
    {
        frame->path = queuePair->way.path;
        frame->hops = queuePair->way.hops;
    }
    frame->flow = queuePair->index;
    frame->psn = static_cast<uint32_t>(packet.psn & PSN_MASK);
    frame->payloadBytes = payload;
    frame->lineBytes = m_format.DataLine(payload, offset == 0);
    frame->src = queuePair->src;
    frame->dst = queuePair->dst;
    frame->kind = FrameKind::DATA;
    frame->priority = queuePair->priority;
    frame->transitPriority = queuePair->priority;
    frame->isLast = isLast;
    if (packet.psn < queuePair->highestPsn)
    {
        frame->isRepetition = true;
        ++m_counters.repeatedPackets;
        m_transport->Listener().PacketRepeated(message->id);
    }
    else
    {
        m_counters.sentPayloadBytes += payload;
        queuePair->highestPsn = packet.psn + 1;
    }
    ++m_counters.dataPackets;
    if (queuePair->isWatched) [[unlikely]]
    {
        m_transport->GetFrameWatch()->SetMessage(message->id);
    }
    const bool isSelectiveRepeat = packet.psn < queuePair->nextPsn;
    const bool wasAckDue = IsAckDue(*queuePair);
    if (isSelectiveRepeat)
    {
        PacketRepeated(queuePair, packet.psn);
    }
    else
    {
        ++queuePair->nextPsn;
        queuePair->sentBytes += payload;
        if (isLast)
        {
            queuePair->sending = message->next;
        }
        if (queuePair->flow != nullptr && queuePair->flow->isToldOfAcks)
        {
            CountFlow(queuePair);
        }
    }
    // A full window opens by an ACK only, so the packet that fills it asks for one.
    frame->isAckRequested = isLast || IsWindowFull(*queuePair);
    if (frame->isAckRequested)
    {
        queuePair->askedPsn = std::max(queuePair->askedPsn, packet.psn + 1);
    }
    if (queuePair->isTimed && IsAckDue(*queuePair))
    {
        // The time runs from the oldest packet that has an ACK due, not from the newest.
        if (!wasAckDue || (isSelectiveRepeat && packet.psn == queuePair->unackedPsn))
        {
            RestartTime(queuePair);
        }
        ArmTimer(queuePair);
    }
    return frame;
}

void
RoceNic::TakeWay(const QueuePair& queuePair, const DataPort& port, Frame& frame) const
{
    if (queuePair.isRoutedByHop)
    {
        return;
    }
    const auto way =
        std::find_if(queuePair.ways->begin(), queuePair.ways->end(), [&port](const Way& candidate) {
            return candidate.port == &port;
        });
    frame.path = way->path;
    frame.hops = way->hops;
}

void
RoceNic::LastPacketStarted(OutgoingMessage& message, RankId destination, TimePs end)
{
    if (StripedMessage* whole = message.whole; whole != nullptr)
    {
        whole->sentEnd = std::max(whole->sentEnd, end);
        if (--whole->partsToSend != 0)
        {
            return;
        }
        end = whole->sentEnd;
    }
    m_fabric->Loop().ScheduleLeft(end,
                                  message.id,
                                  m_leftHandler,
                                  (static_cast<uint64_t>(message.id) << 32) | destination);
}

void
RoceNic::MessageHasLeft(uint64_t idAndDestination)
{
    const auto id = static_cast<MessageId>(idAndDestination >> 32);
    m_sentTrace(id, m_rank, static_cast<uint32_t>(idAndDestination));
    m_transport->Listener().MessageSent(id);
}

} // namespace ns3
