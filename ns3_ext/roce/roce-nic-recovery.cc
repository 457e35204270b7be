// SPDX-License-Identifier: GPL-2.0-only
// Loss recovery of RoceNic: go-back-N, selective repeat, the retransmission timer.
#include "../fabric/fabric.h"
#include "controlled-flow.h"
#include "psn.h"
#include "roce-nic.h"
#include "roce-transport.h"

#include "ns3/log.h"

#include <algorithm>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RoceNicRecovery");

namespace
{

/// Doublings after which the timeout grows no further.
constexpr uint8_t MAX_BACKOFF = 16;

} // namespace

void
RoceNic::GoBack(QueuePair* queuePair)
{
    NS_LOG_LOGIC("queue pair " << queuePair->index << " goes back from packet "
                               << queuePair->nextPsn << " to " << queuePair->unackedPsn);
    m_goBackTrace(queuePair->index, static_cast<uint32_t>(queuePair->unackedPsn & PSN_MASK));
    queuePair->nextPsn = queuePair->unackedPsn;
    queuePair->askedPsn = queuePair->unackedPsn;
    queuePair->sentBytes = queuePair->ackedBytes;
    queuePair->sending = queuePair->head;
}

void
RoceNic::LearnReceived(QueuePair* queuePair, const Acknowledgement& ack)
{
    SelectiveRepeat& repeat = *queuePair->repeat;
    if (ack.notes != nullptr)
    {
        const uint64_t psn = ExtendPsn(ack.notes->receivedPsn, queuePair->unackedPsn);
        if (psn >= queuePair->unackedPsn && psn < queuePair->highestPsn)
        {
            repeat.received.Insert(psn);
            repeat.receivedEnd = std::max(repeat.receivedEnd, psn + 1);
        }
    }
    if (ack.isNak && !repeat.isRecovering)
    {
        Recover(queuePair);
        ReportLoss(queuePair, false);
    }
    if (repeat.isRecovering && !queuePair->isSprayed)
    {
        // What came behind a gap tells of all gaps before it; each is filled once on such word.
        repeat.lostEnd = std::max(repeat.lostEnd, repeat.receivedEnd);
    }
    AdvanceRepeat(queuePair);
}

void
RoceNic::Recover(QueuePair* queuePair)
{
    NS_LOG_LOGIC("queue pair " << queuePair->index << " repeats what is missing from "
                               << queuePair->unackedPsn << " on");
    queuePair->repeat->isRecovering = true;
    queuePair->repeat->recoveryEnd = queuePair->highestPsn;
}

void
RoceNic::AdvanceRepeat(QueuePair* queuePair) const
{
    SelectiveRepeat& repeat = *queuePair->repeat;
    repeat.next = std::max(repeat.next, queuePair->unackedPsn);
    while (repeat.HasRepeat() && repeat.received.Contains(repeat.next))
    {
        ++repeat.next;
    }
    if (!repeat.HasRepeat())
    {
        return;
    }
    if (repeat.message == nullptr)
    {
        repeat.message = queuePair->head;
    }
    while (repeat.message->EndPsn() <= repeat.next)
    {
        repeat.message = repeat.message->next;
    }
}

void
RoceNic::PacketRepeated(QueuePair* queuePair, uint64_t psn)
{
    ++m_counters.selectiveRepeats;
    m_repeatTrace(queuePair->index, static_cast<uint32_t>(psn & PSN_MASK));
    queuePair->repeat->next = psn + 1;
    AdvanceRepeat(queuePair);
}

TimePs
RoceNic::Timeout(const QueuePair& queuePair) const
{
    TimePs timeout = m_timeout.GetTimeStep();
    if (m_timeout.IsNegative())
    {
        const auto backlog = [this](const ChannelId* path, uint16_t hops) {
            TimePs time = 0;
            for (uint16_t hop = 0; hop < hops; ++hop)
            {
                time += m_fabric->LargestBacklog(path[hop]);
            }
            return time;
        };
        TimePs largest = 0;
        for (const Way& way : queuePair.Ways())
        {
            largest = std::max(largest, backlog(way.path, way.hops));
        }
        timeout = queuePair.baseTimeout + largest + backlog(queuePair.ackPath, queuePair.ackHops);
    }
    return std::min(timeout, MAX_TIME_PS >> queuePair.backoff) << queuePair.backoff;
}

void
RoceNic::RestartTime(QueuePair* queuePair) const
{
    queuePair->timeSince = m_fabric->Loop().Now();
    queuePair->timedEnd = queuePair->highestPsn;
}

void
RoceNic::ArmTimer(QueuePair* queuePair)
{
    if (!queuePair->isTimerPending)
    {
        queuePair->isTimerPending = true;
        m_transport->TimerArmed();
        m_fabric->Loop().ScheduleTimer(queuePair->timeSince + Timeout(*queuePair),
                                       m_timerHandler,
                                       (static_cast<uint64_t>(queuePair->timerSerial) << 32) |
                                           queuePair->index);
    }
}

void
RoceNic::RearmTimer(QueuePair* queuePair)
{
    if (queuePair->backoff == 0)
    {
        return; // What is pending comes early enough.
    }
    queuePair->backoff = 0;
    queuePair->isTimerPending = false;
    ++queuePair->timerSerial;
    if (IsAckDue(*queuePair))
    {
        ArmTimer(queuePair);
    }
}

void
RoceNic::TimerFired(uint64_t serialAndIndex)
{
    m_transport->TimerOver();
    QueuePair* queuePair = m_transport->QueuePairAt(static_cast<uint32_t>(serialAndIndex));
    if (queuePair->timerSerial != serialAndIndex >> 32)
    {
        return; // Another one was set since.
    }
    queuePair->isTimerPending = false;
    Advance(*queuePair);
    if (!IsAckDue(*queuePair))
    {
        return;
    }
    const SelectiveRepeat* repeat = queuePair->repeat.get();
    if (repeat != nullptr && repeat->HasRepeat() && repeat->next == queuePair->unackedPsn)
    {
        RestartTime(queuePair); // The packet that is missed is still here.
    }
    else if (m_fabric->Loop().Now() >= queuePair->timeSince + Timeout(*queuePair))
    {
        if (m_timeout.IsNegative() && !HasDropped(*queuePair))
        {
            // Pauses, and data of higher priority, may hold a packet for any time.
            RestartTime(queuePair);
        }
        else
        {
            TimedOut(queuePair);
        }
    }
    ArmTimer(queuePair);
}

void
RoceNic::TimedOut(QueuePair* queuePair)
{
    ++m_counters.timeouts;
    m_timeoutTrace(queuePair->index, static_cast<uint32_t>(queuePair->unackedPsn & PSN_MASK));
    queuePair->backoff = std::min<uint8_t>(queuePair->backoff + 1, MAX_BACKOFF);
    if (queuePair->repeat == nullptr)
    {
        GoBack(queuePair);
    }
    else
    {
        SelectiveRepeat& repeat = *queuePair->repeat;
        Recover(queuePair);
        repeat.next = queuePair->unackedPsn;
        repeat.message = nullptr;
        // Later packets may be on their way, unless one that was sent after them has come.
        repeat.lostEnd = std::max(queuePair->timedEnd, queuePair->unackedPsn + 1);
        if (!queuePair->isSprayed)
        {
            repeat.lostEnd = std::max(repeat.lostEnd, repeat.receivedEnd);
        }
        AdvanceRepeat(queuePair);
    }
    RestartTime(queuePair);
    ReportLoss(queuePair, true);
    UpdateReady(queuePair);
}

} // namespace ns3
