// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_ROUTE_TABLE_H
#define ASTRA_ROUTE_TABLE_H

#include "platform-description.h"

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace ns3
{

/// What equal-cost routing hashes: the 5-tuple of a flow comes down to these three.
struct FlowIdentity
{
    RankId src;
    RankId dst;
    uint32_t queuePair;
};

/**
 * Shortest paths, with one of several equal ways chosen at each node by a hash of the flow.
 *
 * Shortest is fewest Ethernet links and, among those, fewest scale-up links: what can stay on
 * NVLink stays there.
 *
 * Each node hashes with a seed of its own: with one common seed every tier would make the same
 * choice and use a fraction of the next tier's ways (polarisation). Work is done for the
 * destinations and nodes that flows really use.
 */
class RouteTable
{
  public:
    /**
     * @param platform Checked; must outlive the table.
     * @param seed The run's seed.
     */
    RouteTable(const PlatformDescription& platform, uint64_t seed);

    /**
     * The way of a flow.
     *
     * @param flow Source, destination and queue pair.
     * @param path Filled with the channels in order; empty when src and dst are one rank.
     * @throws ConfigError when there is no way, naming both ranks.
     */
    void FindPath(const FlowIdentity& flow, std::vector<ChannelId>& path);

  private:
    /// Channels that lead from a node nearer to a destination.
    std::span<const ChannelId> NextChannels(RankId dst, NodeIndex node);
    const std::vector<uint32_t>& Distances(RankId dst);
    uint32_t Cost(ChannelId channel) const;
    bool DoesForward(NodeIndex node) const;

    const PlatformDescription& m_platform;
    std::vector<uint64_t> m_nodeSeed;
    std::vector<uint32_t> m_channelStart;          ///< Per node, into m_nodeChannel.
    std::vector<ChannelId> m_nodeChannel;          ///< Outgoing channels by node, in order of link.
    std::vector<std::vector<uint32_t>> m_distance; ///< Per rank, filled on first use.
    std::unordered_map<uint64_t, std::vector<ChannelId>> m_next; ///< By destination and node.
};

} // namespace ns3

#endif // ASTRA_ROUTE_TABLE_H
