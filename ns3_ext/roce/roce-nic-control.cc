// SPDX-License-Identifier: GPL-2.0-only
// Congestion control of RoceNic: what controls are told, and the pace that they set.
#include "../fabric/fabric.h"
#include "controlled-flow.h"
#include "psn.h"
#include "roce-nic.h"
#include "roce-transport.h"

#include <algorithm>

namespace ns3
{

void
RoceNic::CountFlow(QueuePair* queuePair) const
{
    ControlledFlow& flow = *queuePair->flow;
    const ByteCount inFlight = queuePair->sentBytes - queuePair->ackedBytes;
    flow.inFlight += inFlight - queuePair->countedInFlight;
    flow.sentPsn += queuePair->highestPsn - queuePair->countedSentPsn;
    flow.ackedPsn += queuePair->unackedPsn - queuePair->countedAckedPsn;
    queuePair->countedInFlight = inFlight;
    queuePair->countedSentPsn = queuePair->highestPsn;
    queuePair->countedAckedPsn = queuePair->unackedPsn;
}

void
RoceNic::PacketStarted(QueuePair* queuePair, Frame& frame)
{
    ControlledFlow* flow = queuePair->flow;
    const TimePs now = m_fabric->Loop().Now();
    const uint32_t telemetryBytes = m_control->TelemetryBytes();
    frame.isEcnCapable = m_control->UsesEcn();
    if (m_control->UsesRoundTrip() || telemetryBytes != 0)
    {
        frame.notes = m_fabric->NewNotes();
        frame.notes->sentTime = now;
        frame.notes->isTelemetryWanted = telemetryBytes != 0;
        frame.lineBytes += telemetryBytes;
    }
    flow->control->OnSent(now, frame.lineBytes);
    const BitRate rate = flow->control->Rate();
    flow->nextStart = rate < flow->lineRate
                          ? now + SerializationTime(frame.lineBytes, rate, TimeRounding::PS_CEIL)
                          : now;
    ControlSpoke(flow);
    UpdateFlow(flow);
}

void
RoceNic::ReportAck(QueuePair* queuePair,
                   const Acknowledgement& ack,
                   ByteCount newlyAcked,
                   uint64_t packets)
{
    CountFlow(queuePair);
    ControlledFlow* flow = queuePair->flow;
    const bool isNotification = m_isCnpOnAck && m_control->UsesCnp();
    AckReport report;
    report.now = m_fabric->Loop().Now();
    report.newlyAcked = newlyAcked;
    report.inFlight = flow->inFlight;
    report.ackedPsn = flow->ackedPsn;
    report.sentPsn = flow->sentPsn;
    report.packets = m_ackAfter == 1 ? 1 : static_cast<uint32_t>(std::max<uint64_t>(packets, 1));
    report.markedPackets = ack.isMarked && !isNotification ? report.packets : 0;
    if (ack.notes != nullptr && ack.notes->sentTime != NEVER_PS)
    {
        report.roundTrip = report.now - ack.notes->sentTime;
        report.telemetry = {ack.notes->telemetry.data(), ack.notes->hops};
        report.path = ack.notes->path;
    }
    // Who is told of marks by CNPs is told once.
    flow->record.notifications += m_control->UsesCnp() ? 0 : report.markedPackets;
    flow->control->OnAck(report);
    if (ack.isMarked && isNotification)
    {
        ++flow->record.notifications;
        m_cnpReceivedTrace(queuePair->index, ack.psn);
        flow->control->OnCnp(report.now);
    }
    ControlSpoke(flow);
}

void
RoceNic::ReportLoss(QueuePair* queuePair, bool isTimeout)
{
    ControlledFlow* flow = queuePair->flow;
    if (flow == nullptr)
    {
        return;
    }
    CountFlow(queuePair);
    const TimePs now = m_fabric->Loop().Now();
    isTimeout ? flow->control->OnTimeout(now) : flow->control->OnLoss(now);
    ControlSpoke(flow);
}

void
RoceNic::ReceiveCnp(QueuePair* queuePair)
{
    --queuePair->pendingCnps;
    m_cnpReceivedTrace(queuePair->index, static_cast<uint32_t>(queuePair->unackedPsn & PSN_MASK));
    ++queuePair->flow->record.notifications;
    queuePair->flow->control->OnCnp(m_fabric->Loop().Now());
    ControlSpoke(queuePair->flow);
    UpdateFlow(queuePair->flow);
    ReleaseIfOver(queuePair);
}

void
RoceNic::ControlSpoke(ControlledFlow* flow)
{
    const BitRate rate = flow->control->Rate();
    // A control that begins without a window never has one.
    const ByteCount window = flow->record.window == 0 ? 0 : flow->control->Window();
    if (rate != flow->record.rate || window != flow->record.window)
    {
        flow->record.Follow(m_fabric->Loop().Now(), rate, window);
    }
    if (rate != flow->rate && !flow->queuePairs.empty())
    {
        flow->rate = rate;
        m_rateTrace(flow->queuePairs.front()->index, rate);
    }
    ArmControlTimer(flow);
}

void
RoceNic::UpdateFlow(ControlledFlow* flow)
{
    const TimePs now = m_fabric->Loop().Now();
    const bool isPaced = flow->nextStart > now;
    bool isHeldBack = false;
    for (QueuePair* queuePair : flow->queuePairs)
    {
        const bool hasPacket = HasPacket(*queuePair);
        isHeldBack |= hasPacket && isPaced;
        const bool canSend = hasPacket && !isPaced;
        if (canSend != queuePair->isReady)
        {
            SetReady(queuePair, canSend);
        }
        if (queuePair->isWatched) [[unlikely]]
        {
            WatchHold(*queuePair);
        }
    }
    if (isHeldBack && !flow->isPaceTimerPending)
    {
        flow->isPaceTimerPending = true;
        ++flow->pendingTimers;
        m_transport->TimerArmed();
        m_fabric->Loop().ScheduleTimer(flow->nextStart, m_paceHandler, flow->index);
    }
}

void
RoceNic::PaceTimerFired(uint64_t index)
{
    m_transport->TimerOver();
    ControlledFlow* flow = m_transport->FlowAt(static_cast<uint32_t>(index));
    --flow->pendingTimers;
    flow->isPaceTimerPending = false;
    UpdateFlow(flow);
    m_transport->ReleaseIfOver(flow, m_fabric->Loop().Now());
}

void
RoceNic::ArmControlTimer(ControlledFlow* flow)
{
    const TimePs time = flow->control->NextTimer();
    if (time == NEVER_PS || (flow->timerAt != NEVER_PS && flow->timerAt <= time))
    {
        return; // A timer that comes before its time is set anew then.
    }
    EventLoop& loop = m_fabric->Loop();
    flow->timerAt = std::max(time, loop.Now());
    ++flow->timerSerial;
    ++flow->pendingTimers;
    m_transport->TimerArmed();
    loop.ScheduleTimer(flow->timerAt,
                       m_controlHandler,
                       (static_cast<uint64_t>(flow->timerSerial) << 32) | flow->index);
}

void
RoceNic::ControlTimerFired(uint64_t serialAndIndex)
{
    m_transport->TimerOver();
    ControlledFlow* flow = m_transport->FlowAt(static_cast<uint32_t>(serialAndIndex));
    --flow->pendingTimers;
    const bool isOver = flow->queuePairs.empty() && !flow->isShared;
    if (!isOver && flow->timerSerial == serialAndIndex >> 32)
    {
        const TimePs now = m_fabric->Loop().Now();
        const TimePs time = flow->control->NextTimer();
        flow->timerAt = NEVER_PS;
        if (time != NEVER_PS && time <= now)
        {
            flow->control->OnTimer(now);
        }
        ControlSpoke(flow);
        UpdateFlow(flow);
    }
    m_transport->ReleaseIfOver(flow, m_fabric->Loop().Now());
}

} // namespace ns3
