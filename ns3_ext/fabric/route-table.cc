// SPDX-License-Identifier: GPL-2.0-only
#include "route-table.h"

#include "../core/errors.h"
#include "../core/hash.h"

#include <algorithm>
#include <functional>
#include <limits>
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
constexpr uint32_t ETHERNET_COST = 1U << 16;

uint64_t
HashFlow(const FlowIdentity& flow)
{
    const uint64_t pair = (static_cast<uint64_t>(flow.src) << 32) | flow.dst;
    return Mix64(Mix64(pair) ^ flow.queuePair);
}

} // namespace

RouteTable::RouteTable(const PlatformDescription& platform, uint64_t seed)
    : m_platform(platform),
      m_distance(platform.Ranks())
{
    const uint32_t nodes = platform.Nodes();
    m_nodeSeed.reserve(nodes);
    for (NodeIndex node = 0; node < nodes; ++node)
    {
        m_nodeSeed.push_back(Mix64(Mix64(seed) + node));
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
}

uint32_t
RouteTable::Cost(ChannelId channel) const
{
    return m_platform.IsScaleUp(channel) ? SCALE_UP_COST : ETHERNET_COST;
}

bool
RouteTable::DoesForward(NodeIndex node) const
{
    return m_platform.nodeForwards[node] != 0;
}

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
        if (cost != distance[node] || (node != root && !DoesForward(node)))
        {
            continue; // Known better already, or an end of ways and not a part of them.
        }
        for (uint32_t i = m_channelStart[node]; i < m_channelStart[node + 1]; ++i)
        {
            const NodeIndex peer = m_platform.Receiver(m_nodeChannel[i]);
            const uint32_t through = cost + Cost(m_nodeChannel[i]);
            if (through < distance[peer])
            {
                distance[peer] = through;
                frontier.emplace(through, peer);
            }
        }
    }
    return distance;
}

std::span<const ChannelId>
RouteTable::NextChannels(RankId dst, NodeIndex node)
{
    const uint64_t key = (static_cast<uint64_t>(dst) << 32) | node;
    const auto found = m_next.find(key);
    if (found != m_next.end())
    {
        return found->second;
    }
    const std::vector<uint32_t>& distance = Distances(dst);
    std::vector<ChannelId> next;
    for (uint32_t i = m_channelStart[node]; i < m_channelStart[node + 1]; ++i)
    {
        const NodeIndex peer = m_platform.Receiver(m_nodeChannel[i]);
        const bool isWay = distance[peer] == 0 || DoesForward(peer);
        if (isWay && distance[peer] != UNREACHABLE &&
            distance[peer] + Cost(m_nodeChannel[i]) == distance[node])
        {
            next.push_back(m_nodeChannel[i]);
        }
    }
    return m_next.emplace(key, std::move(next)).first->second;
}

void
RouteTable::FindPath(const FlowIdentity& flow, std::vector<ChannelId>& path)
{
    path.clear();
    if (flow.src >= m_platform.Ranks() || flow.dst >= m_platform.Ranks())
    {
        throw ConfigError("route: rank " + std::to_string(std::max(flow.src, flow.dst)) +
                          " is not on the platform, which has " +
                          std::to_string(m_platform.Ranks()));
    }
    const NodeIndex end = m_platform.rankNode[flow.dst];
    NodeIndex node = m_platform.rankNode[flow.src];
    const uint64_t hash = HashFlow(flow);
    while (node != end)
    {
        const std::span<const ChannelId> next = NextChannels(flow.dst, node);
        if (next.empty())
        {
            throw ConfigError("platform: there is no way from rank " + std::to_string(flow.src) +
                              " to rank " + std::to_string(flow.dst));
        }
        const auto ways = static_cast<uint32_t>(next.size());
        const uint32_t choice = ways == 1 ? 0 : ReduceHash(Mix64(hash ^ m_nodeSeed[node]), ways);
        path.push_back(next[choice]);
        node = m_platform.Receiver(next[choice]);
    }
}

} // namespace ns3
