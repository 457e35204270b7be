// SPDX-License-Identifier: GPL-2.0-only
// What the sender of a RoceNic makes of acknowledgements.
#include "../fabric/fabric.h"
#include "controlled-flow.h"
#include "psn.h"
#include "roce-nic.h"
#include "roce-transport.h"

#include <algorithm>
#include <vector>

namespace ns3
{

void
RoceNic::HandleAck(QueuePair* queuePair, const Acknowledgement& ack)
{
    Advance(*queuePair);
    const uint64_t expected = ExtendPsn(ack.psn, queuePair->unackedPsn);
    const bool isOld = expected < queuePair->unackedPsn || expected > queuePair->highestPsn;
    if (isOld && !queuePair->isControlled)
    {
        return; // It was overtaken, and tells less than is known already.
    }
    const ByteCount ackedBytes = queuePair->ackedBytes;
    const uint64_t unackedPsn = queuePair->unackedPsn;
    OutgoingMessage* done = nullptr;
    if (!isOld && expected > queuePair->unackedPsn)
    {
        done = AdvanceAcked(queuePair, expected);
    }
    if (queuePair->isControlled)
    {
        ReportAck(queuePair,
                  ack,
                  queuePair->ackedBytes - ackedBytes,
                  queuePair->unackedPsn - unackedPsn);
    }
    if (queuePair->repeat != nullptr && !isOld)
    {
        LearnReceived(queuePair, ack);
    }
    else if (ack.isNak && !isOld)
    {
        GoBack(queuePair);
        ReportLoss(queuePair, false);
    }
    UpdateReady(queuePair);
    // Told last: whoever hears of it may post to this very queue pair.
    TellAcked(*queuePair, done);
    ReleaseIfOver(queuePair);
}

OutgoingMessage*
RoceNic::AdvanceAcked(QueuePair* queuePair, uint64_t expected)
{
    queuePair->unackedPsn = expected;
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
    if (queuePair->isTimed)
    {
        RestartTime(queuePair);
        RearmTimer(queuePair);
    }
    if (queuePair->repeat != nullptr)
    {
        queuePair->repeat->Acknowledged(expected);
    }
    if (last == nullptr)
    {
        return nullptr;
    }
    last->next = nullptr;
    return first;
}

void
RoceNic::TellAcked(const QueuePair& queuePair, OutgoingMessage* done)
{
    while (done != nullptr)
    {
        OutgoingMessage* message = done;
        done = message->next;
        const MessageId id = message->id;
        StripedMessage* whole = message->whole;
        m_transport->Release(message);
        if (whole != nullptr)
        {
            if (--whole->partsToAck != 0)
            {
                continue;
            }
            m_transport->Release(whole);
        }
        m_ackedTrace(id, queuePair.src, queuePair.dst);
        m_transport->Listener().MessageAcked(id);
    }
}

void
RoceNic::AckCameBack(uint64_t argument)
{
    m_transport->AckCame();
    Acknowledgement ack;
    ack.queuePair = static_cast<uint32_t>(argument >> 32);
    ack.psn = static_cast<uint32_t>(argument & PSN_MASK);
    ack.isTimer = true;
    HandleAck(m_transport->QueuePairAt(ack.queuePair), ack);
}

void
RoceNic::EchoCameBack(uint64_t argument)
{
    m_transport->AckCame();
    auto* ack = reinterpret_cast<Acknowledgement*>(argument);
    HandleAck(m_transport->QueuePairAt(ack->queuePair), *ack);
    if (ack->notes != nullptr)
    {
        m_fabric->Release(ack->notes);
    }
    m_transport->Release(ack);
}

void
RoceNic::ReleaseIfOver(QueuePair* queuePair)
{
    if (!queuePair->isTransient || queuePair->head != nullptr || queuePair->pendingCnps != 0)
    {
        return;
    }
    if (ControlledFlow* flow = queuePair->flow; flow != nullptr)
    {
        std::erase(flow->queuePairs, queuePair);
        m_transport->ReleaseIfOver(flow, m_fabric->Loop().Now());
    }
    m_transport->Release(queuePair);
}

} // namespace ns3
