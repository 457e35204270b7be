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
      m_free(platform.Channels(), 0),
      m_expected(platform.Channels(), 0),
      m_promised(platform.Channels(), 0),
      m_ports(platform.Channels()),
      m_readyHandler(*this),
      m_chooseHandler(*this),
      m_linkHandler(*this),
      m_sentHandler(*this),
      m_deliveredHandler(*this),
      m_ackedHandler(*this)
{
}

const LogGpNetwork::Way&
LogGpNetwork::MakeWay(const std::vector<ChannelId>& path, const FlowIdentity& flow)
{
    Way& way = m_knownWays.emplace_back();
    way.first = m_channels.size();
    way.hops = static_cast<uint32_t>(path.size());
    m_channels.insert(m_channels.end(), path.begin(), path.end());
    for (const ChannelId channel : path)
    {
        way.isScaleUp &= m_platform.IsScaleUp(channel);
        way.rate = std::min(way.rate, m_platform.Rate(channel));
        way.latencyToLast += channel == path.back() ? 0 : LatencyBehind(channel);
    }
    m_routes.FindPath(FlowIdentity{flow.dst, flow.src, flow.queuePair}, m_back);
    for (const ChannelId channel : m_back)
    {
        way.ackLatency +=
            channel == m_back.back() ? m_platform.Delay(channel) : LatencyBehind(channel);
    }
    return way;
}

const LogGpNetwork::Way&
LogGpNetwork::WayOf(const FlowIdentity& flow)
{
    uint32_t& number = m_numbers[flow];
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
                            m_platform.EfficiencyPpm(channel),
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
    m_messages[request.id] = Message{request, NextQueuePair(request)};
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
    const auto [number, src, dst, size, priority] = message.request;
    const Way& way = WayOf(FlowIdentity{src, dst, message.queuePair});
    const bool isSpread = way.isScaleUp && m_platform.routing.kind != RoutingKind::HOOK;
    const Spread* spread = isSpread ? SpreadOf(src, dst) : nullptr;
    if (spread == nullptr)
    {
        message.unsent = message.undelivered = message.unacked = 1;
        Enqueue(Part{&way, size, number});
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
            Enqueue(Part{spread->ways[i], part, number});
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
        m_promised[port] = std::max(m_promised[port], m_loop.Now()) + count * PacketTime(port);
    };
    for (size_t i = 0; i < share.size(); ++i)
    {
        give(i,
             static_cast<ByteCount>(static_cast<Int128>(packets) * spread.ways[i]->rate /
                                    spread.rate));
    }
    const auto endOfOneMore = [this](const Way* way) {
        const ChannelId port = FirstChannel(*way);
        return std::max(m_promised[port], m_loop.Now()) + PacketTime(port);
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
                             m_platform.Rate(channel),
                             m_figures.rounding);
}

TimePs
LogGpNetwork::LatencyBehind(ChannelId channel) const
{
    return m_platform.Delay(channel) + m_platform.nodeLatency[m_platform.Receiver(channel)];
}

TimePs
LogGpNetwork::PacketTime(ChannelId channel) const
{
    return SerializationTime(ScaleUpLineBytes(SCALE_UP_PAYLOAD, m_platform.EfficiencyPpm(channel)),
                             m_platform.Rate(channel),
                             m_figures.rounding);
}

void
LogGpNetwork::Enqueue(const Part& part)
{
    const ChannelId number = FirstChannel(*part.way);
    Port& port = m_ports[number];
    port.waiting.push_back(part);
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
    TimePs least = std::max<TimePs>(WaitAtReceiver(*chosen->way), 0);
    for (auto part = chosen + 1; least > 0 && part != end; ++part)
    {
        const TimePs wait = std::max<TimePs>(WaitAtReceiver(*part->way), 0);
        if (wait < least)
        {
            chosen = part;
            least = wait;
        }
    }
    const Part part = *chosen;
    waiting.erase(chosen);
    Begin(part);
}

void
LogGpNetwork::Begin(const Part& part)
{
    CountSent(m_messages[part.message].request.src, part.size);
    const ChannelId last = LastChannel(*part.way);
    m_expected[last] =
        std::max({m_expected[last], m_free[last], m_loop.Now() + part.way->latencyToLast}) +
        HoldingTime(*part.way, last, part.size);
    m_ports[FirstChannel(*part.way)].current = part.message;
    uint32_t flight = static_cast<uint32_t>(m_flights.size());
    if (m_freeFlights.empty())
    {
        m_flights.push_back(Flight{part});
    }
    else
    {
        flight = m_freeFlights.back();
        m_freeFlights.pop_back();
        m_flights[flight] = Flight{part};
    }
    TakeLink(flight);
}

void
LogGpNetwork::TakeLink(uint64_t number)
{
    Flight& flight = m_flights[number];
    const Part& part = flight.part;
    const Way& way = *part.way;
    const ChannelId channel = m_channels[way.first + flight.hop];
    const TimePs begin = std::max(m_loop.Now(), m_free[channel]);
    const BitRate rate = m_platform.Rate(channel);
    const int64_t efficiencyPpm = m_platform.EfficiencyPpm(channel);
    if (rate != flight.rate || efficiencyPpm != flight.efficiencyPpm)
    {
        flight.rate = rate;
        flight.efficiencyPpm = efficiencyPpm;
        flight.line = MessageLine(way, channel, part.size);
        flight.held = SerializationTime(flight.line, rate, m_figures.rounding);
    }
    flight.longest = std::max(flight.longest, flight.held);
    m_free[channel] = begin + flight.held;
    CountCrossing(channel, flight.line, part.size, flight.held);
    if (flight.hop == 0)
    {
        m_loop.ScheduleTimer(begin + flight.held, m_sentHandler, channel);
    }
    if (++flight.hop < way.hops)
    {
        m_loop.ScheduleTimer(begin + LatencyBehind(channel), m_linkHandler, number);
        return;
    }
    const TimePs arrived = begin + flight.longest + m_platform.Delay(channel);
    m_loop.ScheduleTimer(arrived + m_figures.receiveLatency, m_deliveredHandler, part.message);
    m_loop.ScheduleTimer(arrived + way.ackLatency, m_ackedHandler, part.message);
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
        const MessageRequest request = message.request;
        CountReceived(request.dst, request.size);
        Listener().MessageDelivered(request.id, request.size);
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
