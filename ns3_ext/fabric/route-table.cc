// SPDX-License-Identifier: GPL-2.0-only
#include "route-table.h"

#include "../core/errors.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <string>
#include <utility>

namespace ns3
{

namespace
{

constexpr uint32_t UNREACHABLE = std::numeric_limits<uint32_t>::max();
/// Any number of scale-up links that a way can have is less than one Ethernet link.
constexpr uint32_t SCALE_UP_COST = 1;
constexpr uint32_t PCIE_COST = 2;
constexpr uint32_t ETHERNET_COST = 1U << 16;

uint64_t
PairKey(uint32_t high, uint32_t low)
{
    return (static_cast<uint64_t>(high) << 32) | low;
}

std::string
NameOf(const FlowIdentity& flow)
{
    return "from rank " + std::to_string(flow.src) + " to rank " + std::to_string(flow.dst);
}

} // namespace

RouteTable::RouteTable(const PlatformDescription& platform, uint64_t seed)
    : m_platform(platform),
      m_seed(Mix64(seed)),
      m_distance(platform.Ranks()),
      m_chosen(platform)
{
    const uint32_t nodes = platform.Nodes();
    m_nodeSeed.reserve(nodes);
    for (NodeIndex node = 0; node < nodes; ++node)
    {
        const uint64_t own = platform.routing.isSeedCommon ? 0 : node;
        m_nodeSeed.push_back(Mix64(m_seed + own));
    }
    m_channelStart.assign(nodes + 1, 0);
    for (ChannelId channel = 0; channel < platform.Channels(); ++channel)
    {
        ++m_channelStart[platform.Transmitter(channel) + 1];
    }
    for (NodeIndex node = 0; node < nodes; ++node)
    {
        m_channelStart[node + 1] += m_channelStart[node];
    }
    m_nodeChannel.resize(platform.Channels());
    std::vector<uint32_t> fill(m_channelStart.begin(), m_channelStart.end() - 1);
    for (ChannelId channel = 0; channel < platform.Channels(); ++channel)
    {
        m_nodeChannel[fill[platform.Transmitter(channel)]++] = channel;
    }
    m_nodeRail.assign(nodes, -1);
    for (RankId rank = 0; rank < platform.Ranks(); ++rank)
    {
        m_nodeRail[platform.rankNode[rank]] = platform.rankRail[rank];
    }
    ShareWays();
}

/// Find the ranks that hang on one switch by one Ethernet link each: who goes to one of them goes
/// to the switch, so the first of them stands for all.
void
RouteTable::ShareWays()
{
    const uint32_t nodes = m_platform.Nodes();
    std::vector<uint8_t> isOfRank(nodes, 0);
    for (const NodeIndex node : m_platform.rankNode)
    {
        isOfRank[node] = 1;
    }
    std::vector<RankId> firstAt(nodes, m_platform.Ranks());
    m_reach.reserve(m_platform.Ranks());
    for (RankId rank = 0; rank < m_platform.Ranks(); ++rank)
    {
        const NodeIndex own = m_platform.rankNode[rank];
        Reach& reach = m_reach.emplace_back(Reach{rank, own, 0});
        const ChannelId up = m_nodeChannel.empty() ? 0 : m_nodeChannel[m_channelStart[own]];
        // PXN makes ways differ by the destination's rail.
        if (m_channelStart[own + 1] - m_channelStart[own] != 1 || m_platform.IsScaleUp(up) ||
            m_platform.routing.nics == NicPolicy::PXN)
        {
            continue;
        }
        const NodeIndex before = m_platform.Receiver(up);
        if (isOfRank[before] != 0 || m_platform.ForwardingOf(before) != Forwarding::ALL)
        {
            continue;
        }
        const auto begin = m_nodeChannel.begin() + m_channelStart[before];
        const auto end = m_nodeChannel.begin() + m_channelStart[before + 1];
        const auto last = std::lower_bound(begin, end, up ^ 1U);
        firstAt[before] = std::min(firstAt[before], rank);
        reach = Reach{firstAt[before], before, static_cast<uint32_t>(last - m_nodeChannel.begin())};
    }
}

uint32_t
RouteTable::Cost(ChannelId channel) const
{
    if (!m_platform.IsScaleUp(channel))
    {
        return ETHERNET_COST;
    }
    const auto isOfPcie = [this](NodeIndex node) {
        const NodeKind kind = m_platform.nodeKind[node];
        return kind == NodeKind::HOST || kind == NodeKind::NIC;
    };
    const bool isPcie =
        isOfPcie(m_platform.Transmitter(channel)) || isOfPcie(m_platform.Receiver(channel));
    return isPcie ? PCIE_COST : SCALE_UP_COST;
}

/// Whether a channel leads out of a machine: Ethernet, or PCIe to a NIC.
bool
RouteTable::IsTowardsNetwork(ChannelId channel) const
{
    return !m_platform.IsScaleUp(channel) ||
           m_platform.nodeKind[m_platform.Receiver(channel)] == NodeKind::NIC;
}

/// Whether a frame may come to `node` by `channel` on its way to `end`.
bool
RouteTable::DoesEnter(ChannelId channel, NodeIndex node, NodeIndex end) const
{
    if (node == end)
    {
        return true;
    }
    switch (m_platform.ForwardingOf(node))
    {
    case Forwarding::NONE:
        return false;
    case Forwarding::ALL:
        return true;
    case Forwarding::SCALE_UP_TO_ETHERNET:
        // The reverse of the channel leads back: from the network nothing passes through.
        return m_platform.IsScaleUp(channel) && !IsTowardsNetwork(channel ^ 1U);
    }
    return false;
}

/// Whether a frame that passes through `node` may leave it by `channel`.
bool
RouteTable::DoesPass(NodeIndex node, ChannelId channel) const
{
    const Forwarding forwarding = m_platform.ForwardingOf(node);
    return forwarding == Forwarding::ALL ||
           (forwarding == Forwarding::SCALE_UP_TO_ETHERNET && IsTowardsNetwork(channel));
}

/// Whether PXN lets a frame to `dst` leave an accelerator by `channel`.
bool
RouteTable::IsOnRail(NodeIndex node, ChannelId channel, RankId dst) const
{
    return m_platform.routing.nics != NicPolicy::PXN || m_nodeRail[node] < 0 ||
           !IsTowardsNetwork(channel) || m_nodeRail[node] == m_platform.rankRail[dst];
}

/// Cost from each node on to a rank, for a frame that passes through the node. What hangs on a
/// switch by one link is as far from there as the rank that stands for it, and from no node nearer.
const std::vector<uint32_t>&
RouteTable::Distances(RankId dst)
{
    std::vector<uint32_t>& distance = m_distance[dst];
    if (!distance.empty())
    {
        return distance;
    }
    distance.assign(m_platform.Nodes(), UNREACHABLE);
    const NodeIndex root = m_platform.rankNode[dst];
    distance[root] = 0;
    using Entry = std::pair<uint32_t, NodeIndex>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> frontier;
    frontier.emplace(0, root);
    while (!frontier.empty())
    {
        const auto [cost, node] = frontier.top();
        frontier.pop();
        if (cost != distance[node])
        {
            continue; // Known better already.
        }
        for (uint32_t i = m_channelStart[node]; i < m_channelStart[node + 1]; ++i)
        {
            const NodeIndex peer = m_platform.Receiver(m_nodeChannel[i]);
            const ChannelId towards = m_nodeChannel[i] ^ 1U;
            if (!DoesEnter(towards, node, root) || !DoesPass(peer, towards) ||
                !IsOnRail(peer, towards, dst))
            {
                continue;
            }
            const uint32_t through = cost + Cost(towards);
            if (through < distance[peer])
            {
                distance[peer] = through;
                frontier.emplace(through, peer);
            }
        }
    }
    return distance;
}

bool
RouteTable::LieTogether() const
{
    return m_found.empty() || m_found.back() - m_found.front() + 1 == m_found.size();
}

/// The channels found, as a part of m_nodeChannel.
std::span<const ChannelId>
RouteTable::Together() const
{
    return m_found.empty() ? std::span<const ChannelId>{}
                           : std::span(m_nodeChannel).subspan(m_found.front(), m_found.size());
}

/// The channels found, kept by themselves.
std::span<const ChannelId>
RouteTable::Scattered()
{
    std::vector<ChannelId>& ways = m_scattered.emplace_back();
    for (const uint32_t place : m_found)
    {
        ways.push_back(m_nodeChannel[place]);
    }
    return ways;
}

std::span<const ChannelId>
RouteTable::FirstChannels(RankId src, RankId dst)
{
    if (src == dst)
    {
        return {};
    }
    // An accelerator has few channels, so that looking at them is faster than looking up a pair.
    const RankId same = m_reach[dst].same;
    const std::vector<uint32_t>& distance = Distances(same);
    const NodeIndex node = m_platform.rankNode[src];
    const NodeIndex end = m_platform.rankNode[same];
    uint32_t least = UNREACHABLE;
    m_found.clear();
    for (uint32_t i = m_channelStart[node]; i < m_channelStart[node + 1]; ++i)
    {
        const ChannelId channel = m_nodeChannel[i];
        const NodeIndex peer = m_platform.Receiver(channel);
        if (distance[peer] == UNREACHABLE || !DoesEnter(channel, peer, end) ||
            !IsOnRail(node, channel, dst))
        {
            continue;
        }
        const uint32_t cost = distance[peer] + Cost(channel);
        if (cost < least)
        {
            least = cost;
            m_found.clear();
        }
        if (cost == least)
        {
            m_found.push_back(i);
        }
    }
    if (LieTogether())
    {
        return Together();
    }
    std::span<const ChannelId>& kept = m_scatteredFirst[PairKey(dst, src)];
    return kept = kept.empty() ? Scattered() : kept;
}

std::span<const ChannelId>
RouteTable::NextChannels(RankId dst, NodeIndex node)
{
    const Reach& reach = m_reach[dst];
    if (node == m_platform.rankNode[dst])
    {
        return {};
    }
    if (node == reach.before)
    {
        return std::span(m_nodeChannel).subspan(reach.lastPlace, 1);
    }
    const uint64_t pair = PairKey(reach.same, node);
    if (const std::span<const ChannelId>* known = m_next.Find(pair))
    {
        return *known;
    }
    const std::vector<uint32_t>& distance = Distances(reach.same);
    const NodeIndex end = m_platform.rankNode[reach.same];
    m_found.clear();
    for (uint32_t i = m_channelStart[node]; i < m_channelStart[node + 1]; ++i)
    {
        const ChannelId channel = m_nodeChannel[i];
        const NodeIndex peer = m_platform.Receiver(channel);
        if (distance[peer] != UNREACHABLE && DoesPass(node, channel) &&
            DoesEnter(channel, peer, end) && IsOnRail(node, channel, dst) &&
            distance[peer] + Cost(channel) == distance[node])
        {
            m_found.push_back(i);
        }
    }
    return m_next[pair] = LieTogether() ? Together() : Scattered();
}

uint64_t
RouteTable::HashFlow(const FlowIdentity& flow) const
{
    const uint64_t pair = Mix64(PairKey(flow.src, flow.dst));
    return m_platform.routing.kind == RoutingKind::ECMP ? pair : Mix64(pair ^ flow.queuePair);
}

uint32_t
RouteTable::Choose(Walk& walk, NodeIndex node, std::span<const ChannelId> ways) const
{
    const auto count = static_cast<uint32_t>(ways.size());
    if (count == 1)
    {
        return 0;
    }
    // A queue pair is bound to one NIC at either end, whatever the switches between them do.
    if (m_platform.nodeKind[m_platform.Receiver(ways[0])] == NodeKind::NIC)
    {
        return m_platform.routing.nics == NicPolicy::STRIPED
                   ? walk.flow.queuePair % count
                   : ReduceHash(Mix64(walk.hash ^ m_seed), count);
    }
    if (m_platform.routing.kind == RoutingKind::STATIC_RAIL && !m_platform.IsScaleUp(ways[0]))
    {
        const uint32_t choice = walk.rail % count;
        walk.rail /= count;
        return choice;
    }
    return ReduceHash(Mix64(walk.hash ^ m_nodeSeed[node]), count);
}

void
RouteTable::CheckRanks(RankId src, RankId dst) const
{
    if (src >= m_platform.Ranks() || dst >= m_platform.Ranks())
    {
        throw ConfigError("route: rank " + std::to_string(std::max(src, dst)) +
                          " is not on the platform, which has " +
                          std::to_string(m_platform.Ranks()));
    }
}

void
RouteTable::FindPath(const FlowIdentity& flow, std::vector<ChannelId>& path)
{
    path.clear();
    CheckRanks(flow.src, flow.dst);
    if (m_platform.routing.kind == RoutingKind::HOOK && flow.src != flow.dst)
    {
        m_chosen.Find(flow, path);
        return;
    }
    const NodeIndex end = m_platform.rankNode[flow.dst];
    NodeIndex node = m_platform.rankNode[flow.src];
    Walk walk{flow, HashFlow(flow), static_cast<uint32_t>(m_platform.rankRail[flow.dst])};
    while (node != end)
    {
        const std::span<const ChannelId> ways =
            path.empty() ? FirstChannels(flow.src, flow.dst) : NextChannels(flow.dst, node);
        if (ways.empty())
        {
            throw ConfigError("platform: there is no way " + NameOf(flow));
        }
        path.push_back(ways[Choose(walk, node, ways)]);
        node = m_platform.Receiver(path.back());
    }
}

std::vector<std::vector<ChannelId>>
RouteTable::SpreadWays(RankId src, RankId dst)
{
    const NodeIndex end = m_platform.rankNode[dst];
    std::vector<std::vector<ChannelId>> ways;
    std::map<NodeIndex, size_t> passed;
    for (const ChannelId first : FirstChannels(src, dst))
    {
        std::vector<ChannelId>& way = ways.emplace_back(1, first);
        for (NodeIndex node = m_platform.Receiver(first); node != end;
             node = m_platform.Receiver(way.back()))
        {
            const std::span<const ChannelId> nexts = NextChannels(dst, node);
            way.push_back(nexts[passed[node]++ % nexts.size()]);
        }
    }
    return ways;
}

std::vector<std::vector<ChannelId>>
RouteTable::AllWays(RankId src, RankId dst, size_t most)
{
    CheckRanks(src, dst);
    const FlowIdentity flow{src, dst, 0};
    const NodeIndex end = m_platform.rankNode[dst];
    std::vector<std::vector<ChannelId>> found;
    // Ways begun, the next one to go on with last.
    std::vector<std::vector<ChannelId>> begun;
    const auto goOn = [&begun](const std::vector<ChannelId>& way, std::span<const ChannelId> next) {
        for (size_t i = next.size(); i > 0; --i)
        {
            begun.push_back(way);
            begun.back().push_back(next[i - 1]);
        }
    };
    goOn({}, FirstChannels(src, dst));
    while (!begun.empty())
    {
        std::vector<ChannelId> way = std::move(begun.back());
        begun.pop_back();
        const NodeIndex node = m_platform.Receiver(way.back());
        if (node != end)
        {
            goOn(way, NextChannels(dst, node));
            continue;
        }
        if (found.size() == most)
        {
            throw ConfigError("platform: there are more than " + std::to_string(most) +
                              " equal ways " + NameOf(flow));
        }
        found.push_back(std::move(way));
    }
    if (found.empty())
    {
        throw ConfigError("platform: there is no way " + NameOf(flow));
    }
    return found;
}

} // namespace ns3
