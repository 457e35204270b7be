// SPDX-License-Identifier: GPL-2.0-only
#include "loggp-network.h"

#include <algorithm>
#include <cmath>

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
      m_queue(platform.Channels()),
      m_counters(platform.Channels()),
      m_sentBytes(platform.Ranks(), 0),
      m_receivedBytes(platform.Ranks(), 0),
      m_readyHandler(*this),
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
        m_routes.FindPath(FlowIdentity{src, dst, number}, way.paths.emplace_back());
        m_routes.FindPath(FlowIdentity{dst, src, number}, back);
        for (const ChannelId channel : way.paths.front())
        {
            way.isScaleUp &= m_platform.IsScaleUp(channel);
        }
        if (way.isScaleUp)
        {
            way.paths = StripedPaths(src, dst);
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

std::vector<std::vector<ChannelId>>
LogGpNetwork::StripedPaths(RankId src, RankId dst)
{
    std::vector<std::vector<ChannelId>> paths;
    for (const ChannelId first : m_routes.FirstChannels(src, dst))
    {
        std::vector<ChannelId>& path = paths.emplace_back(1, first);
        while (m_platform.nodeRank[m_platform.Receiver(path.back())] != static_cast<int32_t>(dst))
        {
            const auto next = m_routes.NextChannels(dst, m_platform.Receiver(path.back()));
            path.push_back(next[(paths.size() - 1) % next.size()]);
        }
    }
    return paths;
}

ByteCount
LogGpNetwork::MessageLine(const Way& way, ChannelId channel, ByteCount size) const
{
    const int64_t efficiency = m_platform.EfficiencyPpm(channel);
    if (efficiency == 0)
    {
        return m_figures.format.MessageLine(size, m_figures.payload);
    }
    const uint32_t payload = way.isScaleUp ? SCALE_UP_PAYLOAD : m_figures.payload;
    const ByteCount packets = LineFormat::PacketsOf(size, payload);
    const auto last = static_cast<uint32_t>(size - (packets - 1) * payload);
    return (packets - 1) * ScaleUpLineBytes(payload, efficiency) +
           ScaleUpLineBytes(last, efficiency);
}

void
LogGpNetwork::Post(const MessageRequest& request)
{
    // Queue pairs are numbered as a RoceNic numbers them, since routes hash the number.
    const uint64_t pair = (static_cast<uint64_t>(request.src) << 32) | request.dst;
    uint32_t& next = m_nextQueuePair[request.priority][pair];
    const uint32_t number = m_figures.qpsPerPeer == 0 ? next++ : next++ % m_figures.qpsPerPeer;
    if (m_messages.size() <= request.id)
    {
        m_messages.resize(request.id + 1);
    }
    m_messages[request.id] = Message{request, number, 0};
    if (m_figures.sendLatency == 0)
    {
        BecomeReady(request.id);
    }
    else
    {
        m_loop.ScheduleTimer(m_loop.Now() + m_figures.sendLatency, m_readyHandler, request.id);
    }
}

void
LogGpNetwork::BecomeReady(uint64_t id)
{
    Message& message = m_messages[id];
    const Way& way = WayOf(message.request.src, message.request.dst, message.queuePair);
    message.port = way.paths.front().front();
    std::deque<MessageId>& queue = m_queue[message.port];
    queue.push_back(static_cast<MessageId>(id));
    if (queue.size() == 1)
    {
        Begin(queue.front());
    }
}

void
LogGpNetwork::Begin(MessageId id)
{
    const Message& message = m_messages[id];
    const MessageRequest& request = message.request;
    const Way& way = WayOf(request.src, request.dst, message.queuePair);
    const std::vector<ByteCount> ends = PieceEnds(way, request.size);
    Moments last;
    for (size_t i = 0; i < way.paths.size(); ++i)
    {
        const ByteCount piece = ends[i + 1] - ends[i];
        if (piece > 0 || (request.size == 0 && i == 0))
        {
            const Moments moments = Carry(way, way.paths[i], piece);
            last.sent = std::max(last.sent, moments.sent);
            last.arrived = std::max(last.arrived, moments.arrived);
        }
    }
    m_sentBytes[request.src] += request.size;
    m_loop.ScheduleTimer(last.sent, m_sentHandler, id);
    m_loop.ScheduleTimer(last.arrived + m_figures.receiveLatency, m_deliveredHandler, id);
    m_loop.ScheduleTimer(last.arrived + way.ackLatency, m_ackedHandler, id);
}

std::vector<ByteCount>
LogGpNetwork::PieceEnds(const Way& way, ByteCount size) const
{
    std::vector<ByteCount> ends{0};
    if (way.paths.size() > 1)
    {
        double total = 0;
        for (const std::vector<ChannelId>& path : way.paths)
        {
            total += static_cast<double>(m_platform.Rate(path.front()));
        }
        const auto packets =
            static_cast<double>(LineFormat::PacketsOf(size, SCALE_UP_PAYLOAD)) / total;
        double rate = 0;
        for (size_t i = 0; i + 1 < way.paths.size(); ++i)
        {
            rate += static_cast<double>(m_platform.Rate(way.paths[i].front()));
            const auto whole = static_cast<ByteCount>(std::llround(packets * rate));
            ends.push_back(std::min<ByteCount>(size, whole * SCALE_UP_PAYLOAD));
        }
    }
    ends.push_back(size);
    return ends;
}

LogGpNetwork::Moments
LogGpNetwork::Carry(const Way& way, const std::vector<ChannelId>& path, ByteCount size)
{
    TimePs longest = 0;
    TimePs begin = m_loop.Now();
    TimePs sent = begin;
    for (size_t hop = 0; hop < path.size(); ++hop)
    {
        const ChannelId channel = path[hop];
        if (hop > 0)
        {
            const ChannelId previous = path[hop - 1];
            begin +=
                m_platform.Delay(previous) + m_platform.nodeLatency[m_platform.Receiver(previous)];
        }
        begin = std::max(begin, m_free[channel]);
        const ByteCount line = MessageLine(way, channel, size);
        const TimePs held = SerializationTime(line, m_platform.Rate(channel), m_figures.rounding);
        longest = std::max(longest, held);
        m_free[channel] = begin + held;
        if (hop == 0)
        {
            sent = begin + held;
        }
        ChannelCounters& counters = m_counters[channel];
        counters.lineBytes += line;
        counters.payloadBytes += size;
        counters.deliveredPayloadBytes += size;
        counters.busy += held;
    }
    return {sent, begin + longest + m_platform.Delay(path.back())};
}

void
LogGpNetwork::Sent(uint64_t id)
{
    std::deque<MessageId>& queue = m_queue[m_messages[id].port];
    queue.pop_front();
    if (!queue.empty())
    {
        Begin(queue.front());
    }
    m_listener->MessageSent(static_cast<MessageId>(id));
}

void
LogGpNetwork::Delivered(uint64_t id)
{
    const MessageRequest& request = m_messages[id].request;
    m_receivedBytes[request.dst] += request.size;
    m_listener->MessageDelivered(request.id, request.size);
}

void
LogGpNetwork::Acked(uint64_t id)
{
    m_listener->MessageAcked(static_cast<MessageId>(id));
}

} // namespace ns3
