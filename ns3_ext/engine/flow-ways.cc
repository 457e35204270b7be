// SPDX-License-Identifier: GPL-2.0-only
#include "flow-ways.h"

#include "message-line.h"

#include <algorithm>
#include <utility>

namespace ns3
{

namespace
{

/// Cut an amount into parts in proportion to weights; what rounding leaves goes to later ones.
template <typename Give>
void
Cut(int64_t amount, std::span<const int64_t> weights, Give give)
{
    Int128 sum = 0;
    for (const int64_t weight : weights)
    {
        sum += weight;
    }
    Int128 before = 0;
    int64_t given = 0;
    for (size_t i = 0; i < weights.size(); ++i)
    {
        before += weights[i];
        const auto until = static_cast<int64_t>(amount * before / sum);
        give(i, until - given);
        given = until;
    }
}

} // namespace

FlowWays::FlowWays(const PlatformDescription& platform,
                   const TransportFigures& figures,
                   uint64_t seed)
    : m_platform(platform),
      m_figures(figures),
      m_routes(platform, seed),
      m_coming(platform.Nodes(), 0),
      m_isComing(platform.Nodes(), false)
{
}

TimePs
FlowWays::Latency(std::span<const ChannelId> path) const
{
    TimePs latency = 0;
    for (const ChannelId channel : path)
    {
        const bool isLast = channel == path.back();
        latency += m_platform.Delay(channel) +
                   (isLast ? 0 : m_platform.nodeLatency[m_platform.Receiver(channel)]);
    }
    return latency;
}

FlowWay
FlowWays::Find(const FlowIdentity& flow)
{
    FlowWay way;
    m_routes.FindPath(flow, way.path);
    way.isScaleUp = std::all_of(way.path.begin(), way.path.end(), [this](ChannelId channel) {
        return m_platform.IsScaleUp(channel);
    });
    const RoutingKind kind = m_platform.routing.kind;
    const bool isByHop = kind == RoutingKind::SPRAY || kind == RoutingKind::LEAST_LOADED;
    FlowIdentity back{flow.dst, flow.src, flow.queuePair};
    if (way.isScaleUp ? kind != RoutingKind::HOOK : isByHop)
    {
        const std::vector<std::vector<ChannelId>> ways = m_routes.SpreadWays(flow.src, flow.dst);
        way.isSplit = isByHop || ways.size() > 1;
        if (way.isSplit)
        {
            way.path = *std::max_element(ways.begin(), ways.end(), [this](auto& a, auto& b) {
                return Latency(a) < Latency(b);
            });
            back.queuePair = 0;
        }
    }
    Describe(way);
    std::vector<ChannelId> ackPath;
    m_routes.FindPath(back, ackPath);
    way.ackLatency = Latency(ackPath);
    return way;
}

/// Fill in what follows from the path.
void
FlowWays::Describe(FlowWay& way) const
{
    way.latency = Latency(way.path);
    const auto first = std::find_if(way.path.begin(), way.path.end(), [this](ChannelId channel) {
        return !m_platform.IsScaleUp(channel);
    });
    way.counted = first == way.path.end() ? 0 : static_cast<uint32_t>(first - way.path.begin());
    TimePs longest = 0;
    for (uint32_t hop = 0; hop < way.path.size(); ++hop)
    {
        const TimePs time = PacketTime(way.path[hop], Payload(way), false);
        if (time >= longest)
        {
            longest = time;
            way.slowest = hop;
        }
    }
}

uint32_t
FlowWays::Payload(const FlowWay& way) const
{
    return way.isScaleUp ? SCALE_UP_PAYLOAD : m_figures.payload;
}

uint32_t
FlowWays::PacketBytes(ChannelId channel, uint32_t size, bool isFirst) const
{
    const int64_t efficiency = m_platform.EfficiencyPpm(channel);
    return efficiency == 0 ? m_figures.format.DataLine(size, isFirst)
                           : ScaleUpLineBytes(size, efficiency);
}

TimePs
FlowWays::PacketTime(ChannelId channel, uint32_t size, bool isFirst) const
{
    return SerializationTime(PacketBytes(channel, size, isFirst),
                             m_platform.Rate(channel),
                             m_figures.rounding);
}

ByteCount
FlowWays::LineBytes(const FlowWay& way, ChannelId channel, ByteCount size) const
{
    return MessageLineBytes(m_figures.format,
                            Payload(way),
                            m_platform.EfficiencyPpm(channel),
                            size);
}

TimePs
FlowWays::AfterLastByte(const FlowWay& way, ByteCount size) const
{
    const uint32_t payload = Payload(way);
    const ByteCount packets = LineFormat::PacketsOf(size, payload);
    const auto last = static_cast<uint32_t>(size - (packets - 1) * payload);
    const uint32_t first = packets == 1 ? last : payload;
    TimePs after = way.latency;
    for (uint32_t hop = 0; hop < way.path.size(); ++hop)
    {
        if (hop < way.slowest)
        {
            after += PacketTime(way.path[hop], first, true);
        }
        else if (hop > way.slowest)
        {
            after += PacketTime(way.path[hop], last, packets == 1);
        }
    }
    return after;
}

FlowWays::Parts
FlowWays::Split(const FlowWay& way, RankId src, RankId dst, int64_t amount)
{
    return way.isScaleUp ? SplitOverWays(src, dst, amount) : SplitByHop(src, dst, amount);
}

FlowWays::Parts
FlowWays::SplitOverWays(RankId src, RankId dst, int64_t amount)
{
    const std::vector<std::vector<ChannelId>> ways = m_routes.SpreadWays(src, dst);
    std::vector<int64_t> rates;
    for (const std::vector<ChannelId>& path : ways)
    {
        BitRate slowest = m_platform.Rate(path.front());
        for (const ChannelId channel : path)
        {
            slowest = std::min(slowest, m_platform.Rate(channel));
        }
        rates.push_back(slowest);
    }
    Parts parts;
    Cut(amount, rates, [&](size_t i, int64_t part) {
        for (const ChannelId channel : ways[i])
        {
            parts.emplace_back(channel, part);
        }
    });
    return parts;
}

FlowWays::Parts
FlowWays::SplitByHop(RankId src, RankId dst, int64_t amount)
{
    const NodeIndex end = m_platform.rankNode[dst];
    Parts parts;
    std::vector<int64_t> weights;
    std::vector<NodeIndex> here;
    std::vector<NodeIndex> next;
    const auto pass = [&](std::span<const ChannelId> channels, int64_t sum, bool isEven) {
        weights.clear();
        for (const ChannelId channel : channels)
        {
            weights.push_back(isEven ? 1 : m_platform.Rate(channel));
        }
        Cut(sum, weights, [&](size_t i, int64_t part) {
            const NodeIndex node = m_platform.Receiver(channels[i]);
            parts.emplace_back(channels[i], part);
            if (!m_isComing[node])
            {
                m_isComing[node] = true;
                next.push_back(node);
            }
            m_coming[node] += part;
        });
    };
    pass(m_routes.FirstChannels(src, dst), amount, false);
    while (!next.empty())
    {
        here.swap(next);
        next.clear();
        for (const NodeIndex node : here)
        {
            m_isComing[node] = false;
        }
        for (const NodeIndex node : here)
        {
            const int64_t sum = std::exchange(m_coming[node], 0);
            if (node != end)
            {
                pass(m_routes.NextChannels(dst, node),
                     sum,
                     m_platform.routing.kind == RoutingKind::SPRAY);
            }
        }
    }
    return parts;
}

std::vector<ChannelUse>
FlowWays::UsesOf(const FlowWay& way, RankId src, RankId dst)
{
    constexpr int64_t whole = int64_t{1} << FlowShares::WEIGHT_BITS;
    std::vector<ChannelUse> uses;
    if (way.isSplit)
    {
        for (const auto& [channel, part] : Split(way, src, dst, whole))
        {
            uses.push_back(ChannelUse{channel, static_cast<uint64_t>(std::max<int64_t>(part, 1))});
        }
    }
    else
    {
        for (const ChannelId channel : way.path)
        {
            uses.push_back(ChannelUse{channel, static_cast<uint64_t>(whole)});
        }
    }
    const uint64_t counted = PacketBytes(way.path[way.counted], Payload(way), false);
    for (ChannelUse& use : uses)
    {
        const uint64_t bytes = PacketBytes(use.channel, Payload(way), false);
        use.weight = static_cast<uint64_t>(static_cast<UInt128>(use.weight) * bytes / counted);
    }
    return uses;
}

} // namespace ns3
