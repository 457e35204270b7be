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
    : AnalyticNetwork(platform),
      m_platform(platform),
      m_figures(figures),
      m_loop(loop),
      m_routes(platform, seed),
      m_numbers(platform.Ranks()),
      m_links(platform.Channels()),
      m_ports(platform.Channels()),
      m_readyHandler(*this),
      m_chooseHandler(*this),
      m_linkHandler(*this),
      m_sentHandler(*this),
      m_deliveredHandler(*this),
      m_ackedHandler(*this)
{
    for (ChannelId channel = 0; channel < platform.Channels(); ++channel)
    {
        Link& link = m_links[channel];
        link.rate = platform.Rate(channel);
        link.efficiencyPpm = platform.EfficiencyPpm(channel);
        link.delay = platform.Delay(channel);
        link.latencyBehind = link.delay + platform.nodeLatency[platform.Receiver(channel)];
    }
}

const LogGpNetwork::Way&
LogGpNetwork::MakeWay(const std::vector<ChannelId>& path, const FlowIdentity& flow)
{
    Way& way = m_knownWays.emplace_back();
    way.hops = static_cast<uint32_t>(path.size());
    if (path.size() <= Way::NEAR_HOPS)
    {
        std::copy(path.begin(), path.end(), way.near.begin());
        way.channels = way.near.data();
    }
    else
    {
        way.channels = m_longPaths.emplace_back(path).data();
    }
    for (const ChannelId channel : path)
    {
        way.isScaleUp &= m_platform.IsScaleUp(channel);
        way.rate = std::min(way.rate, m_links[channel].rate);
        way.latencyToLast += channel == path.back() ? 0 : m_links[channel].latencyBehind;
    }
    m_routes.FindPath(FlowIdentity{flow.dst, flow.src, flow.queuePair}, m_back);
    for (const ChannelId channel : m_back)
    {
        const Link& link = m_links[channel];
        way.ackLatency += channel == m_back.back() ? link.delay : link.latencyBehind;
    }
    return way;
}

const LogGpNetwork::Way&
LogGpNetwork::WayOf(const FlowIdentity& flow)
{
    uint32_t& number = m_numbers[flow.src].Of(flow.dst, flow.queuePair);
    if (number == FlowTable::NONE)
    {
        m_routes.FindPath(flow, m_path);
        MakeWay(m_path, flow);
        number = static_cast<uint32_t>(m_knownWays.size());
    }
    return m_knownWays[number - 1];
}

const LogGpNetwork::Spread*
LogGpNetwork::SpreadOf(RankId src, RankId dst)
{
    const auto [found, isNew] = m_spreads.try_emplace(PairOf(src, dst));
    Spread& spread = found->second;
    if (isNew)
    {
        const std::vector<std::vector<ChannelId>> paths = m_routes.SpreadWays(src, dst);
        for (size_t i = 0; i < paths.size() && paths.size() > 1; ++i)
        {
            spread.ways.push_back(&MakeWay(paths[i], FlowIdentity{src, dst, 0}));
            spread.rate += spread.ways.back()->rate;
        }
    }
    return spread.ways.empty() ? nullptr : &spread;
}

ByteCount
LogGpNetwork::MessageLine(const Way& way, ChannelId channel, ByteCount size) const
{
    return MessageLineBytes(m_figures.format,
                            way.isScaleUp ? SCALE_UP_PAYLOAD : m_figures.payload,
                            m_links[channel].efficiencyPpm,
                            size);
}

uint32_t
LogGpNetwork::NextQueuePair(const MessageRequest& request)
{
    // Queue pairs are numbered as a RoceNic numbers them, since routes hash the number.
    if (m_figures.qpsPerPeer == 1)
    {
        return 0;
    }
    uint32_t& next = m_nextQueuePair[request.priority][PairOf(request.src, request.dst)];
    return m_figures.qpsPerPeer == 0 ? next++ : next++ % m_figures.qpsPerPeer;
}

void
LogGpNetwork::Post(const MessageRequest& request)
{
    if (m_messages.size() <= request.id)
    {
        m_messages.resize(request.id + 1);
    }
    m_messages[request.id] =
        Message{request.size, request.src, request.dst, NextQueuePair(request)};
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
    const auto [size, src, dst, queuePair, unsent, undelivered, unacked] = message;
    const Way& way = WayOf(FlowIdentity{src, dst, queuePair});
    const bool isSpread = way.isScaleUp && m_platform.routing.kind != RoutingKind::HOOK;
    const Spread* spread = isSpread ? SpreadOf(src, dst) : nullptr;
    if (spread == nullptr)
    {
        message.unsent = message.undelivered = message.unacked = 1;
        Enqueue(PartOf(way, size, id), src);
        return;
    }
    const std::vector<ByteCount> packets = PacketsOnWays(*spread, size);
    const auto parts = static_cast<uint32_t>(
        std::count_if(packets.begin(), packets.end(), [](ByteCount count) { return count > 0; }));
    message.unsent = message.undelivered = message.unacked = parts;
    ByteCount left = size;
    for (size_t i = 0; i < packets.size(); ++i)
    {
        if (packets[i] > 0)
        {
            const ByteCount part = std::min<ByteCount>(packets[i] * SCALE_UP_PAYLOAD, left);
            left -= part;
            Enqueue(PartOf(*spread->ways[i], part, id), src);
        }
    }
}

std::vector<ByteCount>
LogGpNetwork::PacketsOnWays(const Spread& spread, ByteCount size)
{
    const ByteCount packets = LineFormat::PacketsOf(size, SCALE_UP_PAYLOAD);
    std::vector<ByteCount> share(spread.ways.size());
    ByteCount left = packets;
    const auto give = [&](size_t i, ByteCount count) {
        const ChannelId port = FirstChannel(*spread.ways[i]);
        share[i] += count;
        left -= count;
        TimePs& promised = m_links[port].promised;
        promised = std::max(promised, m_loop.Now()) + count * PacketTime(port);
    };
    for (size_t i = 0; i < share.size(); ++i)
    {
        give(i,
             static_cast<ByteCount>(static_cast<Int128>(packets) * spread.ways[i]->rate /
                                    spread.rate));
    }
    const auto endOfOneMore = [this](const Way* way) {
        const ChannelId port = FirstChannel(*way);
        return std::max(m_links[port].promised, m_loop.Now()) + PacketTime(port);
    };
    while (left > 0)
    {
        const auto first = std::min_element(
            spread.ways.begin(),
            spread.ways.end(),
            [&](const Way* a, const Way* b) { return endOfOneMore(a) < endOfOneMore(b); });
        give(static_cast<size_t>(first - spread.ways.begin()), 1);
    }
    return share;
}

TimePs
LogGpNetwork::HoldingTime(const Way& way, ChannelId channel, ByteCount size) const
{
    return SerializationTime(MessageLine(way, channel, size),
                             m_links[channel].rate,
                             m_figures.rounding);
}

TimePs
LogGpNetwork::PacketTime(ChannelId channel) const
{
    return SerializationTime(ScaleUpLineBytes(SCALE_UP_PAYLOAD, m_links[channel].efficiencyPpm),
                             m_links[channel].rate,
                             m_figures.rounding);
}

void
LogGpNetwork::Enqueue(const Part& part, RankId src)
{
    const ChannelId number = FirstChannel(*part.way);
    Port& port = m_ports[number];
    port.waiting.push_back(part);
    port.rank = src;
    if (!port.isBusy)
    {
        // When all that comes in this instant is there.
        port.isBusy = true;
        m_loop.SchedulePick(m_loop.Now(), number, m_chooseHandler);
    }
}

void
LogGpNetwork::Choose(uint64_t number)
{
    std::deque<Part>& waiting = m_ports[number].waiting;
    const auto end =
        waiting.begin() + static_cast<std::ptrdiff_t>(std::min(waiting.size(), LOOK_AHEAD));
    auto chosen = waiting.begin();
    TimePs least = WaitAtReceiver(*chosen);
    for (auto part = chosen + 1; least > 0 && part != end; ++part)
    {
        const TimePs wait = WaitAtReceiver(*part);
        if (wait < least)
        {
            chosen = part;
            least = wait;
        }
    }
    const Part part = *chosen;
    waiting.erase(chosen);
    // What is touched next time, or when this one has left, is far away in memory by now.
    if (!waiting.empty())
    {
        __builtin_prefetch(waiting.front().way);
    }
    __builtin_prefetch(&m_messages[part.message], 1);
    Begin(part);
}

void
LogGpNetwork::Begin(const Part& part)
{
    const Way& way = *part.way;
    Port& port = m_ports[FirstChannel(way)];
    CountSent(port.rank, part.size);
    Link& last = m_links[part.last];
    last.expected = std::max({last.expected, last.free, m_loop.Now() + part.latencyToLast}) +
                    HoldingTime(way, part.last, part.size);
    port.current = part.message;
    const Flight begun{part, way.near, 0, way.hops, true, way.isScaleUp};
    uint32_t flight = static_cast<uint32_t>(m_flights.size());
    if (m_freeFlights.empty())
    {
        m_flights.push_back(begun);
    }
    else
    {
        flight = m_freeFlights.back();
        m_freeFlights.pop_back();
        m_flights[flight] = begun;
    }
    TakeLink(flight);
}

void
LogGpNetwork::TakeLink(uint64_t number)
{
    Flight& flight = m_flights[number];
    const Part& part = flight.part;
    const bool isNear = flight.hop + flight.hopsLeft <= Way::NEAR_HOPS;
    const ChannelId channel = isNear ? flight.near[flight.hop] : part.way->channels[flight.hop];
    Link& link = m_links[channel];
    const TimePs begin = std::max(m_loop.Now(), link.free);
    if (link.rate != flight.rate || link.efficiencyPpm != flight.efficiencyPpm)
    {
        flight.rate = link.rate;
        flight.efficiencyPpm = link.efficiencyPpm;
        flight.line = MessageLineBytes(m_figures.format,
                                       flight.isScaleUp ? SCALE_UP_PAYLOAD : m_figures.payload,
                                       link.efficiencyPpm,
                                       part.size);
        flight.held = SerializationTime(flight.line, link.rate, m_figures.rounding);
    }
    flight.longest = std::max(flight.longest, flight.held);
    link.free = begin + flight.held;
    CountCrossing(channel, flight.line, part.size, flight.held);
    if (std::exchange(flight.isFirst, false))
    {
        m_loop.ScheduleTimer(begin + flight.held, m_sentHandler, channel);
    }
    ++flight.hop;
    if (--flight.hopsLeft > 0)
    {
        m_loop.ScheduleTimer(begin + link.latencyBehind, m_linkHandler, number);
        return;
    }
    const TimePs arrived = begin + flight.longest + link.delay;
    m_loop.ScheduleTimer(arrived + m_figures.receiveLatency, m_deliveredHandler, part.message);
    m_loop.ScheduleTimer(arrived + part.way->ackLatency, m_ackedHandler, part.message);
    m_freeFlights.push_back(static_cast<uint32_t>(number));
}

void
LogGpNetwork::Sent(uint64_t port)
{
    const MessageId id = m_ports[port].current;
    m_ports[port].isBusy = !m_ports[port].waiting.empty();
    if (m_ports[port].isBusy)
    {
        Choose(port);
    }
    if (--m_messages[id].unsent == 0)
    {
        Listener().MessageSent(id);
    }
}

void
LogGpNetwork::Delivered(uint64_t id)
{
    Message& message = m_messages[id];
    if (--message.undelivered == 0)
    {
        const ByteCount size = message.size;
        CountReceived(message.dst, size);
        Listener().MessageDelivered(static_cast<MessageId>(id), size);
    }
}

void
LogGpNetwork::Acked(uint64_t id)
{
    if (--m_messages[id].unacked == 0)
    {
        Listener().MessageAcked(static_cast<MessageId>(id));
    }
}

} // namespace ns3
