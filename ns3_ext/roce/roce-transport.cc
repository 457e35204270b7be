// SPDX-License-Identifier: GPL-2.0-only
#include "roce-transport.h"

#include "queue-pair-watch.h"

#include <algorithm>

namespace ns3
{

RoceTransport::RoceTransport(const PlatformDescription& platform, uint64_t seed)
    : m_platform(platform),
      m_routes(platform, seed)
{
}

void
RoceTransport::AddNic(Ptr<RoceNic> nic)
{
    m_nics.push_back(nic);
}

void
RoceTransport::SetListener(MessageListener& listener)
{
    m_listener = &listener;
}

void
RoceTransport::Post(const MessageRequest& request)
{
    m_nics[request.src]->Post(request);
}

QueuePair*
RoceTransport::NewQueuePair(RankId src, RankId dst, uint32_t number)
{
    QueuePair* queuePair = m_queuePairs.Take();
    queuePair->src = src;
    queuePair->dst = dst;
    queuePair->number = number;
    const uint32_t ranks = m_platform.Ranks();
    queuePair->ringKey = (static_cast<uint64_t>((dst + ranks - src - 1) % ranks) << 32) | number;
    queuePair->isWatched = m_queuePairWatch != nullptr;
    FindWays(queuePair);
    ++m_connectionCount;
    return queuePair;
}

void
RoceTransport::FindWays(QueuePair* queuePair)
{
    const RankId src = queuePair->src;
    const RankId dst = queuePair->dst;
    m_routes.FindPath(FlowIdentity{dst, src, queuePair->number}, m_scratchPath);
    queuePair->ackPath = m_paths.Store(m_scratchPath);
    queuePair->ackHops = static_cast<uint16_t>(m_scratchPath.size());
    m_routes.FindPath(FlowIdentity{src, dst, queuePair->number}, m_scratchPath);
    queuePair->way.path = m_paths.Store(m_scratchPath);
    queuePair->way.hops = static_cast<uint16_t>(m_scratchPath.size());
    const bool isScaleUp =
        std::all_of(m_scratchPath.begin(), m_scratchPath.end(), [this](ChannelId channel) {
            return m_platform.IsScaleUp(channel);
        });
    const RoutingKind kind = m_platform.routing.kind;
    queuePair->isRoutedByHop =
        !isScaleUp && (kind == RoutingKind::SPRAY || kind == RoutingKind::LEAST_LOADED);
    queuePair->isSprayed = queuePair->isRoutedByHop;
    if (queuePair->isRoutedByHop || (isScaleUp && kind != RoutingKind::HOOK))
    {
        SpreadOverFirstChannels(queuePair);
    }
}

void
RoceTransport::SpreadOverFirstChannels(QueuePair* queuePair)
{
    const std::vector<std::vector<ChannelId>> ways =
        m_routes.SpreadWays(queuePair->src, queuePair->dst);
    if (ways.size() < 2)
    {
        return;
    }
    queuePair->ways = std::make_unique<std::vector<Way>>();
    for (const std::vector<ChannelId>& way : ways)
    {
        queuePair->ways->push_back(
            Way{nullptr, m_paths.Store(way), static_cast<uint16_t>(way.size())});
    }
    queuePair->way = queuePair->ways->front();
    queuePair->isSprayed = true;
}

void
RoceTransport::Release(QueuePair* queuePair)
{
    if (queuePair->isWatched)
    {
        m_queuePairWatch->Gone(queuePair->index);
    }
    m_queuePairs.Give(queuePair);
}

ControlledFlow*
RoceTransport::NewFlow()
{
    ControlledFlow* flow = m_flows.Take();
    if (m_freeFlows.empty())
    {
        flow->index = static_cast<uint32_t>(m_flowByIndex.size());
        m_flowByIndex.push_back(flow);
    }
    else
    {
        flow->index = m_freeFlows.back();
        m_freeFlows.pop_back();
        m_flowByIndex[flow->index] = flow;
    }
    return flow;
}

void
RoceTransport::ReleaseIfOver(ControlledFlow* flow, TimePs now)
{
    if (flow->isShared || !flow->queuePairs.empty() || flow->pendingTimers != 0)
    {
        return;
    }
    if (flow->control->HasActed())
    {
        m_slowedFlowsGone.push_back(RecordAt(*flow, now));
    }
    flow->control.reset();
    m_flowByIndex[flow->index] = nullptr;
    m_freeFlows.push_back(flow->index);
    m_flows.Give(flow);
}

std::vector<ControlRecord>
RoceTransport::ControlRecords(TimePs now) const
{
    std::vector<ControlRecord> records = m_slowedFlowsGone;
    for (ControlledFlow* flow : m_flowByIndex)
    {
        if (flow != nullptr && flow->control->HasActed())
        {
            records.push_back(RecordAt(*flow, now));
        }
    }
    return records;
}

ControlRecord
RoceTransport::RecordAt(ControlledFlow& flow, TimePs now)
{
    // Timers that were not worth an event until a packet asks for the rate.
    ControlRecord& record = flow.record;
    while (flow.nextTimer != NEVER_PS && flow.nextTimer <= now)
    {
        const TimePs time = flow.nextTimer;
        flow.control->OnTimer(time);
        record.Follow(time, flow.control->Rate(), record.window == 0 ? 0 : flow.control->Window());
        flow.nextTimer = flow.control->NextTimer();
    }
    ControlRecord whole = record;
    whole.slow = record.SlowUntil(now);
    whole.slowSince = NEVER_PS;
    return whole;
}

NicCounters
RoceTransport::TotalCounters() const
{
    NicCounters total;
    for (const Ptr<RoceNic>& nic : m_nics)
    {
        total.Add(nic->Counters());
    }
    return total;
}

} // namespace ns3
