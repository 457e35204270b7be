// SPDX-License-Identifier: GPL-2.0-only
#include "astra-sim-network.h"

#include <algorithm>
#include <utility>

namespace ns3
{

namespace
{

/// That simulator counts whole nanoseconds and cuts off what is beyond.
TimePs
CutToNs(TimePs time)
{
    return time / PS_PER_NS * PS_PER_NS;
}

} // namespace

AstraSimNetwork::AstraSimNetwork(const PlatformDescription& platform,
                                 EventLoop& loop,
                                 uint64_t seed,
                                 bool isCongestionAware)
    : AnalyticNetwork(platform),
      m_platform(platform),
      m_loop(loop),
      m_routes(platform, seed),
      m_isCongestionAware(isCongestionAware),
      m_free(platform.Channels(), 0),
      m_reachHandler(*this),
      m_arrivedHandler(*this)
{
}

const std::vector<ChannelId>&
AstraSimNetwork::PathOf(RankId src, RankId dst)
{
    std::vector<ChannelId>& path = m_paths[(static_cast<uint64_t>(src) << 32) | dst];
    if (path.empty())
    {
        // Half way round a ring there are two ways, and that simulator takes the one by the next
        // rank.
        const NodeIndex next = m_platform.rankNode[(src + 1) % m_platform.Ranks()];
        for (std::vector<ChannelId>& way : m_routes.AllWays(src, dst, 2))
        {
            if (path.empty() || m_platform.Receiver(way.front()) == next)
            {
                path = std::move(way);
            }
        }
    }
    return path;
}

TimePs
AstraSimNetwork::Exact(ByteCount size, ChannelId channel) const
{
    const auto bits = static_cast<Int128>(size) * BITS_PER_BYTE;
    const Int128 time = bits * PS_PER_S / m_platform.Rate(channel);
    return static_cast<TimePs>(std::min<Int128>(time, MAX_TIME_PS));
}

void
AstraSimNetwork::Post(const MessageRequest& request)
{
    if (m_messages.size() <= request.id)
    {
        m_messages.resize(request.id + 1);
    }
    Message& message = m_messages[request.id];
    message = Message{request, &PathOf(request.src, request.dst), 0};
    CountSent(request.src, request.size);
    if (m_isCongestionAware)
    {
        Reach(request.id);
    }
    else
    {
        FlyUnhindered(message);
    }
}

void
AstraSimNetwork::FlyUnhindered(const Message& message)
{
    const ByteCount size = message.request.size;
    TimePs time = Exact(size, message.path->front());
    for (const ChannelId channel : *message.path)
    {
        time += m_platform.Delay(channel);
        CountCrossing(channel, size, size, Exact(size, channel));
    }
    m_loop.ScheduleTimer(m_loop.Now() + CutToNs(time), m_arrivedHandler, message.request.id);
}

void
AstraSimNetwork::Reach(uint64_t id)
{
    Message& message = m_messages[id];
    const ChannelId channel = (*message.path)[message.hop++];
    const ByteCount size = message.request.size;
    const TimePs exact = Exact(size, channel);
    const TimePs begin = std::max(m_loop.Now(), m_free[channel]);
    m_free[channel] = begin + CutToNs(exact);
    CountCrossing(channel, size, size, CutToNs(exact));
    const TimePs there = begin + CutToNs(exact + m_platform.Delay(channel));
    const bool isLast = message.hop == message.path->size();
    EventHandler& next = isLast ? static_cast<EventHandler&>(m_arrivedHandler) : m_reachHandler;
    m_loop.ScheduleTimer(there, next, id);
}

void
AstraSimNetwork::Arrived(uint64_t argument)
{
    const auto id = static_cast<MessageId>(argument);
    const MessageRequest request = m_messages[id].request;
    CountReceived(request.dst, request.size);
    Listener().MessageSent(id);
    Listener().MessageDelivered(id, request.size);
    Listener().MessageAcked(id);
}

} // namespace ns3
