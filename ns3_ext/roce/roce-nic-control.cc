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
    frame.isEcnCapable = m_control->UsesEcn();
    ControlledFlow* flow = queuePair->flow;
    if (flow == nullptr)
    {
        UpdateReady(queuePair);
        return;
    }
    const TimePs now = m_fabric->Loop().Now();
    const uint32_t telemetryBytes = m_control->TelemetryBytes();
    if (m_control->UsesRoundTrip() || telemetryBytes != 0)
    {
        frame.notes = m_fabric->NewNotes();
        frame.notes->sentTime = now;
        frame.notes->isTelemetryWanted = telemetryBytes != 0;
        frame.lineBytes += telemetryBytes;
    }
    // Ports pick after the timers of the instant.
    CallTimers(flow, now);
    flow->control->OnSent(now, frame.lineBytes);
    ControlSpoke(flow, now);
    flow->nextStart =
        flow->rate < flow->lineRate
            ? now + SerializationTime(frame.lineBytes, flow->rate, TimeRounding::PS_CEIL)
            : now;
    UpdateFlow(flow);
}

void
RoceNic::ReportAck(QueuePair* queuePair,
                   const Acknowledgement& ack,
                   ByteCount newlyAcked,
                   uint64_t packets)
{
    const bool isNotification = ack.isMarked && m_isCnpOnAck && m_control->UsesCnp();
    const TimePs now = m_fabric->Loop().Now();
    if (ControlledFlow* flow = queuePair->flow; flow != nullptr && flow->isToldOfAcks)
    {
        CountFlow(queuePair);
        AckReport report;
        report.now = now;
        report.newlyAcked = newlyAcked;
        report.inFlight = flow->inFlight;
        report.ackedPsn = flow->ackedPsn;
        report.sentPsn = flow->sentPsn;
        report.packets =
            m_ackAfter == 1 ? 1 : static_cast<uint32_t>(std::max<uint64_t>(packets, 1));
        report.markedPackets = ack.isMarked && !isNotification ? report.packets : 0;
        if (ack.notes != nullptr && ack.notes->sentTime != NEVER_PS)
        {
            report.roundTrip = report.now - ack.notes->sentTime;
            report.telemetry = {ack.notes->telemetry.data(), ack.notes->hops};
            report.path = ack.notes->path;
        }
        CallTimers(flow, ack.isTimer ? now : now - 1);
        // Who is told of marks by CNPs is told once.
        flow->record.notifications += m_control->UsesCnp() ? 0 : report.markedPackets;
        flow->control->OnAck(report);
        ControlSpoke(flow, now);
    }
    if (isNotification)
    {
        m_cnpReceivedTrace(queuePair->index, ack.psn);
        Notify(FlowOf(queuePair), ack.isTimer ? now : now - 1);
    }
}

void
RoceNic::ReportLoss(QueuePair* queuePair, bool isTimeout)
{
    ControlledFlow* flow = queuePair->flow;
    if (flow == nullptr || !flow->isToldOfAcks)
    {
        return;
    }
    CountFlow(queuePair);
    const TimePs now = m_fabric->Loop().Now();
    CallTimers(flow, isTimeout ? now : now - 1);
    isTimeout ? flow->control->OnTimeout(now) : flow->control->OnLoss(now);
    ControlSpoke(flow, now);
}

void
RoceNic::ReceiveCnp(QueuePair* queuePair)
{
    Advance(*queuePair);
    --queuePair->pendingCnps;
    m_cnpReceivedTrace(queuePair->index, static_cast<uint32_t>(queuePair->unackedPsn & PSN_MASK));
    ControlledFlow* flow = FlowOf(queuePair);
    // What arrives comes before the timers of the instant.
    Notify(flow, m_fabric->Loop().Now() - 1);
    UpdateFlow(flow);
    ReleaseIfOver(queuePair);
}

void
RoceNic::Notify(ControlledFlow* flow, TimePs timersUntil)
{
    const TimePs now = m_fabric->Loop().Now();
    CallTimers(flow, timersUntil);
    ++flow->record.notifications;
    flow->control->OnCnp(now);
    ControlSpoke(flow, now);
}

void
RoceNic::CallTimers(ControlledFlow* flow, TimePs until)
{
    while (flow->nextTimer != NEVER_PS && flow->nextTimer <= until)
    {
        const TimePs time = flow->nextTimer;
        flow->control->OnTimer(time);
        ControlSpoke(flow, time);
    }
}

void
RoceNic::ControlSpoke(ControlledFlow* flow, TimePs when)
{
    const BitRate rate = flow->control->Rate();
    // A control that begins without a window never has one.
    const ByteCount window = flow->record.window == 0 ? 0 : flow->control->Window();
    if (rate != flow->record.rate || window != flow->record.window)
    {
        flow->record.Follow(when, rate, window);
    }
    if (rate != flow->rate && !flow->queuePairs.empty())
    {
        flow->rate = rate;
        m_rateTrace(flow->queuePairs.front()->index, rate);
    }
    flow->window = flow->control->Window();
    const TimePs timer = flow->control->NextTimer();
    if (timer == flow->nextTimer)
    {
        return;
    }
    flow->nextTimer = timer;
    // A rate is asked for with the next packet; only who listens wants to be told in time.
    if (timer != NEVER_PS && !m_rateTrace.IsEmpty())
    {
        EventLoop& loop = m_fabric->Loop();
        ++flow->pendingTimers;
        m_transport->TimerArmed();
        loop.ScheduleTimer(std::max(timer, loop.Now()), m_controlHandler, flow->index);
    }
}

void
RoceNic::UpdateFlow(ControlledFlow* flow)
{
    const TimePs now = m_fabric->Loop().Now();
    const bool isPaced = flow->nextStart > now;
    bool isHeldBack = false;
    for (QueuePair* queuePair : flow->queuePairs)
    {
        Advance(*queuePair);
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
RoceNic::ControlTimerFired(uint64_t index)
{
    m_transport->TimerOver();
    ControlledFlow* flow = m_transport->FlowAt(static_cast<uint32_t>(index));
    --flow->pendingTimers;
    if (!flow->queuePairs.empty() || flow->isShared)
    {
        CallTimers(flow, m_fabric->Loop().Now());
    }
    m_transport->ReleaseIfOver(flow, m_fabric->Loop().Now());
}

} // namespace ns3
