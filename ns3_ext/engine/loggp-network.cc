// SPDX-License-Identifier: GPL-2.0-only
#include "loggp-network.h"

#include "message-line.h"

#include <algorithm>
#include <utility>

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
      m_promised(platform.Channels(), 0),
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

LogGpNetwork::Way
LogGpNetwork::MakeWay(std::vector<ChannelId>&& path, RankId src, RankId dst, uint32_t queuePair)
{
    Way way;
    way.path = std::move(path);
    for (const ChannelId channel : way.path)
    {
        way.isScaleUp &= m_platform.IsScaleUp(channel);
        way.rate = std::min(way.rate, m_platform.Rate(channel));
    }
    std::vector<ChannelId> back;
    m_routes.FindPath(FlowIdentity{dst, src, queuePair}, back);
    for (size_t hop = 0; hop < back.size(); ++hop)
    {
        const bool isForwarded = hop + 1 < back.size();
        way.ackLatency +=
            m_platform.Delay(back[hop]) +
            (isForwarded ? m_platform.nodeLatency[m_platform.Receiver(back[hop])] : 0);
    }
    return way;
}

LogGpNetwork::Ways&
LogGpNetwork::WaysOf(RankId src, RankId dst, uint32_t queuePair)
{
    Ways& ways = m_ways[(static_cast<uint64_t>(src) << 32) | dst];
    while (!ways.areSpread && ways.of.size() <= queuePair)
    {
        const auto number = static_cast<uint32_t>(ways.of.size());
        std::vector<ChannelId> path;
        m_routes.FindPath(FlowIdentity{src, dst, number}, path);
        ways.of.push_back(MakeWay(std::move(path), src, dst, number));
        if (ways.of[0].isScaleUp && m_platform.routing.kind != RoutingKind::HOOK)
        {
            Spread(ways, src, dst);
        }
    }
    return ways;
}

void
LogGpNetwork::Spread(Ways& ways, RankId src, RankId dst)
{
    std::vector<std::vector<ChannelId>> paths = m_routes.SpreadWays(src, dst);
    if (paths.size() < 2)
    {
        return;
    }
    ways.areSpread = true;
    ways.of.clear();
    for (std::vector<ChannelId>& path : paths)
    {
        ways.of.push_back(MakeWay(std::move(path), src, dst, 0));
        ways.rate += ways.of.back().rate;
    }
}

ByteCount
LogGpNetwork::MessageLine(const Way& way, ChannelId channel, ByteCount size) const
{
    return MessageLineBytes(m_figures.format,
                            way.isScaleUp ? SCALE_UP_PAYLOAD : m_figures.payload,
                            m_platform.EfficiencyPpm(channel),
                            size);
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
    m_messages[request.id] = Message{request, number};
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
    const MessageRequest& request = message.request;
    const Ways& ways = WaysOf(request.src, request.dst, message.queuePair);
    if (!ways.areSpread)
    {
        message.unsent = message.undelivered = message.unacked = 1;
        Enqueue(ways.of[message.queuePair],
                Part{static_cast<MessageId>(id), message.queuePair, request.size});
        return;
    }
    const std::vector<ByteCount> packets = PacketsOnWays(ways, request.size);
    const auto parts = static_cast<uint32_t>(
        std::count_if(packets.begin(), packets.end(), [](ByteCount count) { return count > 0; }));
    message.unsent = message.undelivered = message.unacked = parts;
    ByteCount left = request.size;
    for (uint32_t i = 0; i < packets.size(); ++i)
    {
        if (packets[i] > 0)
        {
            const ByteCount size = std::min<ByteCount>(packets[i] * SCALE_UP_PAYLOAD, left);
            left -= size;
            Enqueue(ways.of[i], Part{static_cast<MessageId>(id), i, size});
        }
    }
}

std::vector<ByteCount>
LogGpNetwork::PacketsOnWays(const Ways& ways, ByteCount size)
{
    const ByteCount packets = LineFormat::PacketsOf(size, SCALE_UP_PAYLOAD);
    std::vector<ByteCount> share(ways.of.size());
    ByteCount left = packets;
    const auto give = [&](size_t i, ByteCount count) {
        const ChannelId port = ways.of[i].path.front();
        share[i] += count;
        left -= count;
        m_promised[port] = std::max(m_promised[port], m_loop.Now()) + count * PacketTime(port);
    };
    for (size_t i = 0; i < share.size(); ++i)
    {
        give(i, static_cast<ByteCount>(static_cast<Int128>(packets) * ways.of[i].rate / ways.rate));
    }
    const auto endOfOneMore = [this](const Way& way) {
        const ChannelId port = way.path.front();
        return std::max(m_promised[port], m_loop.Now()) + PacketTime(port);
    };
    while (left > 0)
    {
        const auto first =
            std::min_element(ways.of.begin(), ways.of.end(), [&](const Way& a, const Way& b) {
                return endOfOneMore(a) < endOfOneMore(b);
            });
        give(static_cast<size_t>(first - ways.of.begin()), 1);
    }
    return share;
}

TimePs
LogGpNetwork::PacketTime(ChannelId channel) const
{
    return SerializationTime(ScaleUpLineBytes(SCALE_UP_PAYLOAD, m_platform.EfficiencyPpm(channel)),
                             m_platform.Rate(channel),
                             m_figures.rounding);
}

void
LogGpNetwork::Enqueue(const Way& way, const Part& part)
{
    std::deque<Part>& queue = m_queue[way.path.front()];
    queue.push_back(part);
    if (queue.size() == 1)
    {
        Begin(part);
    }
}

void
LogGpNetwork::Begin(const Part& part)
{
    const MessageRequest& request = m_messages[part.message].request;
    const Way& way = WayOf(part);
    TimePs longest = 0;
    TimePs begin = m_loop.Now();
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
        const ByteCount line = MessageLine(way, channel, part.size);
        const TimePs held = SerializationTime(line, m_platform.Rate(channel), m_figures.rounding);
        longest = std::max(longest, held);
        m_free[channel] = begin + held;
        if (hop == 0)
        {
            sent = begin + held;
        }
        ChannelCounters& counters = m_counters[channel];
        counters.lineBytes += line;
        counters.payloadBytes += part.size;
        counters.deliveredPayloadBytes += part.size;
        counters.busy += held;
    }
    const TimePs arrived = begin + longest + m_platform.Delay(way.path.back());
    const TimePs delivered = arrived + m_figures.receiveLatency;
    m_sentBytes[request.src] += part.size;
    m_loop.ScheduleTimer(sent, m_sentHandler, way.path.front());
    m_loop.ScheduleTimer(delivered, m_deliveredHandler, part.message);
    m_loop.ScheduleTimer(arrived + way.ackLatency, m_ackedHandler, part.message);
}

const LogGpNetwork::Way&
LogGpNetwork::WayOf(const Part& part)
{
    const MessageRequest& request = m_messages[part.message].request;
    return WaysOf(request.src, request.dst, part.way).of[part.way];
}

void
LogGpNetwork::Sent(uint64_t port)
{
    std::deque<Part>& queue = m_queue[port];
    const MessageId id = queue.front().message;
    queue.pop_front();
    if (!queue.empty())
    {
        Begin(queue.front());
    }
    if (--m_messages[id].unsent == 0)
    {
        m_listener->MessageSent(id);
    }
}

void
LogGpNetwork::Delivered(uint64_t id)
{
    Message& message = m_messages[id];
    if (--message.undelivered == 0)
    {
        const MessageRequest request = message.request;
        m_receivedBytes[request.dst] += request.size;
        m_listener->MessageDelivered(request.id, request.size);
    }
}

void
LogGpNetwork::Acked(uint64_t id)
{
    if (--m_messages[id].unacked == 0)
    {
        m_listener->MessageAcked(static_cast<MessageId>(id));
    }
}

} // namespace ns3
