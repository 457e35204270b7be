// SPDX-License-Identifier: GPL-2.0-only
// The half of FlowNetwork that knows when flows end: what left, what arrives, what is acknowledged.
#include "flow-network.h"

#include <algorithm>

namespace ns3
{

void
FlowNetwork::EndsDue(uint64_t)
{
    m_timers.pop_back();
    m_ended.clear();
    m_shares->TakeEnded(m_loop.Now(), m_ended);
    if (m_ended.empty())
    {
        SetTimer();
        return;
    }
    SettleOnce();
    std::sort(m_ended.begin(), m_ended.end(), [this](PartId a, PartId b) {
        return std::pair(m_parts[a].message, a) < std::pair(m_parts[b].message, b);
    });
    for (const PartId id : m_ended)
    {
        Left(id);
    }
    ScheduleMoments(m_arrivals, &Part::next, m_deliveredHandler);
    ScheduleMoments(m_acks, &Part::nextAcked, m_ackedHandler);
    for (const PartId id : m_ended)
    {
        const MessageId message = m_parts[id].message;
        if (--m_messages[message].unsent == 0)
        {
            m_listener->MessageSent(message);
        }
    }
}

/// A part has left: the next one of its queue pair begins, and its other moments are known.
void
FlowNetwork::Left(PartId id)
{
    Part& part = m_parts[id];
    const LaneId laneId = part.lane;
    Lane& lane = m_lanes[laneId];
    lane.first = part.next;
    part.next = NONE;
    if (lane.first != NONE)
    {
        Begin(lane.first);
    }
    else if (m_figures.qpsPerPeer == 0)
    {
        m_freeLanes.push_back(laneId);
    }
    Count(part);
    const FlowWay& way = m_way[part.way].of;
    const TimePs arrived = m_loop.Now() + m_ways.AfterLastByte(way, part.size);
    m_arrivals.emplace_back(arrived + m_figures.receiveLatency, id);
    m_acks.emplace_back(arrived + way.ackLatency, id);
}

void
FlowNetwork::Count(const Part& part)
{
    const MessageRequest& request = m_messages[part.message].request;
    const FlowWay& way = m_way[part.way].of;
    const auto count = [this](ChannelId channel, ByteCount payload, ByteCount line) {
        ChannelCounters& counters = m_counters[channel];
        counters.payloadBytes += payload;
        counters.deliveredPayloadBytes += payload;
        counters.lineBytes += line;
    };
    m_sentBytes[request.src] += part.size;
    if (!way.isSplit)
    {
        for (const ChannelId channel : way.path)
        {
            count(channel, part.size, m_ways.LineBytes(way, channel, part.size));
        }
        return;
    }
    const auto split = [&](int64_t amount) {
        return m_ways.Split(way, request.src, request.dst, amount);
    };
    const FlowWays::Parts payload = split(part.size);
    ByteCount whole = -1;
    FlowWays::Parts line;
    for (size_t i = 0; i < payload.size(); ++i)
    {
        // It differs between kinds of links only.
        const ChannelId channel = payload[i].first;
        const ByteCount wholeHere = m_ways.LineBytes(way, channel, part.size);
        if (wholeHere != whole)
        {
            whole = wholeHere;
            line = split(whole);
        }
        count(channel, payload[i].second, line[i].second);
    }
}

/// One event for all parts that something happens to at the same time.
void
FlowNetwork::ScheduleMoments(Moments& moments, PartId Part::* next, EventHandler& handler)
{
    const auto isEarlier = [](const auto& a, const auto& b) { return a.first < b.first; };
    if (!std::is_sorted(moments.begin(), moments.end(), isEarlier))
    {
        std::stable_sort(moments.begin(), moments.end(), isEarlier);
    }
    for (size_t i = 0; i < moments.size(); ++i)
    {
        const auto& [time, id] = moments[i];
        if (i > 0 && moments[i - 1].first == time)
        {
            m_parts[moments[i - 1].second].*next = id;
        }
        else
        {
            m_loop.ScheduleTimer(time, handler, id);
        }
    }
    moments.clear();
}

void
FlowNetwork::Delivered(uint64_t head)
{
    for (auto id = static_cast<PartId>(head); id != NONE;)
    {
        const Part part = m_parts[id];
        MomentOver(id);
        id = part.next;
        Message& message = m_messages[part.message];
        if (--message.undelivered == 0)
        {
            const ByteCount size = message.request.size;
            m_receivedBytes[message.request.dst] += size;
            m_onTheirWay -= message.unacked == 0 ? 1 : 0;
            m_listener->MessageDelivered(part.message, size);
        }
    }
    StopIfIdle();
}

void
FlowNetwork::Acked(uint64_t head)
{
    for (auto id = static_cast<PartId>(head); id != NONE;)
    {
        const Part part = m_parts[id];
        MomentOver(id);
        id = part.nextAcked;
        Message& message = m_messages[part.message];
        if (--message.unacked == 0)
        {
            m_onTheirWay -= message.undelivered == 0 ? 1 : 0;
            m_listener->MessageAcked(part.message);
        }
    }
    StopIfIdle();
}

void
FlowNetwork::StopIfIdle()
{
    if (m_doesStopWhenIdle && IsIdle())
    {
        m_loop.Stop();
    }
}

void
FlowNetwork::MomentOver(PartId id)
{
    if (--m_parts[id].momentsLeft == 0)
    {
        m_freeParts.push_back(id);
    }
}

} // namespace ns3
