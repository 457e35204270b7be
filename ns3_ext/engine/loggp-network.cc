// SPDX-License-Identifier: GPL-2.0-only
#include "loggp-network.h"

#include <algorithm>
#include <limits>

namespace ns3
{

LogGpNetwork::LogGpNetwork(const PlatformDescription& platform,
                           const TransportFigures& figures,
                           EventLoop& loop,
                           uint64_t seed)
    : m_platform(platform),
      m_figures(figures),
      m_loop(loop),
      m_routes(platform, seed),
      m_free(platform.Channels(), 0),
      m_counters(platform.Channels()),
      m_sentBytes(platform.Ranks(), 0),
      m_receivedBytes(platform.Ranks(), 0),
      m_sentHandler(*this),
      m_deliveredHandler(*this),
      m_ackedHandler(*this)
{
}

void
LogGpNetwork::SetListener(MessageListener& listener)
{
    m_listener = &listener;
}

const LogGpNetwork::Way&
LogGpNetwork::WayOf(RankId src, RankId dst, uint32_t queuePair)
{
    std::vector<Way>& ways = m_ways[(static_cast<uint64_t>(src) << 32) | dst];
    while (ways.size() <= queuePair)
    {
        const auto number = static_cast<uint32_t>(ways.size());
        Way way;
        std::vector<ChannelId> back;
        m_routes.FindPath(FlowIdentity{src, dst, number}, way.path);
        m_routes.FindPath(FlowIdentity{dst, src, number}, back);
        way.slowestRate = std::numeric_limits<BitRate>::max();
        for (const ChannelId channel : way.path)
        {
            way.slowestRate = std::min(way.slowestRate, m_platform.Rate(channel));
        }
        for (size_t hop = 0; hop < back.size(); ++hop)
        {
            const bool isForwarded = hop + 1 < back.size();
            way.ackLatency +=
                m_platform.Delay(back[hop]) +
                (isForwarded ? m_platform.nodeLatency[m_platform.Receiver(back[hop])] : 0);
        }
        ways.push_back(std::move(way));
    }
    return ways[queuePair];
}

void
LogGpNetwork::Post(const MessageRequest& request)
{
    const uint64_t pair = (static_cast<uint64_t>(request.src) << 32) | request.dst;
    uint32_t& next = m_nextQueuePair[pair];
    const uint32_t number = m_figures.qpsPerPeer == 0 ? next++ : next++ % m_figures.qpsPerPeer;
    const Way& way = WayOf(request.src, request.dst, number);
    const ByteCount line = m_figures.format.MessageLine(request.size, m_figures.payload);

    TimePs begin = m_loop.Now() + m_figures.sendLatency;
    TimePs sent = begin;
    for (size_t hop = 0; hop < way.path.size(); ++hop)
    {
        const ChannelId channel = way.path[hop];
        if (hop > 0)
        {
            const ChannelId previous = way.path[hop - 1];
            begin +=
                m_platform.Delay(previous) + m_platform.nodeLatency[m_platform.Receiver(previous)];
        }
        begin = std::max(begin, m_free[channel]);
        const TimePs held = SerializationTime(line, m_platform.Rate(channel), m_figures.rounding);
        m_free[channel] = begin + held;
        if (hop == 0)
        {
            sent = begin + held;
        }
        ChannelCounters& counters = m_counters[channel];
        counters.lineBytes += line;
        counters.payloadBytes += request.size;
        counters.deliveredPayloadBytes += request.size;
        counters.busy += held;
    }
    const TimePs delivered = begin + SerializationTime(line, way.slowestRate, m_figures.rounding) +
                             m_platform.Delay(way.path.back()) + m_figures.receiveLatency;
    const TimePs acked = delivered - m_figures.receiveLatency + way.ackLatency;
    m_size.resize(request.id + 1, 0);
    m_dst.resize(request.id + 1, 0);
    m_size[request.id] = request.size;
    m_dst[request.id] = request.dst;
    m_sentBytes[request.src] += request.size;
    m_loop.ScheduleTimer(sent, m_sentHandler, request.id);
    m_loop.ScheduleTimer(delivered, m_deliveredHandler, request.id);
    m_loop.ScheduleTimer(std::max(acked, delivered), m_ackedHandler, request.id);
}

void
LogGpNetwork::Sent(uint64_t id)
{
    m_listener->MessageSent(static_cast<MessageId>(id));
}

void
LogGpNetwork::Delivered(uint64_t id)
{
    m_receivedBytes[m_dst[id]] += m_size[id];
    m_listener->MessageDelivered(static_cast<MessageId>(id), m_size[id]);
}

void
LogGpNetwork::Acked(uint64_t id)
{
    m_listener->MessageAcked(static_cast<MessageId>(id));
}

} // namespace ns3
