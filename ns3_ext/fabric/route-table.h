// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_ROUTE_TABLE_H
#define ASTRA_ROUTE_TABLE_H

#include "../core/flat-map.h"
#include "../core/hash.h"
#include "chosen-paths.h"
#include "platform-description.h"

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace ns3
{

/**
 * Shortest paths, with one of several equal ways chosen as the platform's RoutingPolicy says.
 *
 * Shortest is fewest Ethernet links and, among those, least of the links inside machines: what can
 * stay on NVLink stays there. A scale-up link that ends at a host or a NIC is PCIe and costs two,
 * so that NVLink and NVSwitch come before it.
 *
 * With NicPolicy::PXN an accelerator gives to Ethernet only what goes to its own rail; the rest
 * reaches the NIC of that rail over the machine's scale-up links.
 *
 * Each node hashes with a seed of its own unless the policy has a common one: then every tier makes
 * the same choice and uses a fraction of the next tier's ways (polarisation). Work is done for the
 * destinations and nodes that flows really use, and once for all ranks that hang on one switch by
 * one link each: from anywhere but that switch the ways to them are the same.
 */
class RouteTable
{
  public:
    /**
     * @param platform Checked, with its routing policy; must outlive the table.
     * @param seed The run's seed.
     * @throws ConfigError when a chosen way does not lead from its source to its destination.
     */
    RouteTable(const PlatformDescription& platform, uint64_t seed);

    /**
     * The way of a flow. Where each packet is given its own (SPRAY, LEAST_LOADED), that of
     * ENHANCED_ECMP: one of those that packets take, for figures that need one.
     *
     * @param flow Source, destination and queue pair.
     * @param path Filled with the channels in order; empty when src and dst are one rank.
     * @throws ConfigError when there is no way, naming both ranks.
     */
    void FindPath(const FlowIdentity& flow, std::vector<ChannelId>& path);

    /// All channels that a rank's node sends on, in order of link. Valid as long as the table.
    std::span<const ChannelId> ChannelsFrom(RankId rank) const
    {
        const NodeIndex node = m_platform.rankNode[rank];
        return std::span(m_nodeChannel)
            .subspan(m_channelStart[node], m_channelStart[node + 1] - m_channelStart[node]);
    }

    /**
     * All first channels of the shortest ways of a pair of ranks, in order of link; none when there
     * is no way, or src and dst are one rank. Valid as long as the table.
     */
    std::span<const ChannelId> FirstChannels(RankId src, RankId dst);

    /**
     * All channels by which a frame that passes through a node may go on to a rank, in order of
     * link. Valid as long as the table.
     */
    std::span<const ChannelId> NextChannels(RankId dst, NodeIndex node);

    /**
     * The ways that packets of a flow are spread over where its NIC chooses for each: one from each
     * first channel, in their order. Those that lead through a node take its channels in turn.
     */
    std::vector<std::vector<ChannelId>> SpreadWays(RankId src, RankId dst);

    /**
     * Every shortest way of a pair of ranks, in order of their channels' links.
     *
     * @throws ConfigError when there are more than `most`, or none.
     */
    std::vector<std::vector<ChannelId>> AllWays(RankId src, RankId dst, size_t most);

  private:
    /// A flow on its way: what choices are made from.
    struct Walk
    {
        FlowIdentity flow;
        uint64_t hash;
        uint32_t rail; ///< What is left of the destination's rail; see STATIC_RAIL.
    };

    /// How a rank is reached.
    struct Reach
    {
        RankId same;        ///< The rank whose distances and ways are its own, too; often itself.
        NodeIndex before;   ///< The switch it hangs on, where it shares them; else its own node.
        uint32_t lastPlace; ///< In m_nodeChannel: from that switch to it.
    };

    void ShareWays();
    const std::vector<uint32_t>& Distances(RankId dst);
    bool DoesEnter(ChannelId channel, NodeIndex node, NodeIndex end) const;
    bool DoesPass(NodeIndex node, ChannelId channel) const;
    bool IsOnRail(NodeIndex node, ChannelId channel, RankId dst) const;
    bool IsTowardsNetwork(ChannelId channel) const;
    uint32_t Cost(ChannelId channel) const;
    bool LieTogether() const;
    std::span<const ChannelId> Together() const;
    std::span<const ChannelId> Scattered();
    uint32_t Choose(Walk& walk, NodeIndex node, std::span<const ChannelId> ways) const;
    uint64_t HashFlow(const FlowIdentity& flow) const;
    void CheckRanks(RankId src, RankId dst) const;

    const PlatformDescription& m_platform;
    const uint64_t m_seed;
    std::vector<uint64_t> m_nodeSeed;
    std::vector<uint32_t> m_channelStart;          ///< Per node, into m_nodeChannel.
    std::vector<ChannelId> m_nodeChannel;          ///< Outgoing channels by node, in order of link.
    std::vector<int32_t> m_nodeRail;               ///< Rail of an accelerator, else -1.
    std::vector<Reach> m_reach;                    ///< Per rank.
    std::vector<std::vector<uint32_t>> m_distance; ///< Per rank, filled on first use.
    std::vector<uint32_t> m_found; ///< Places of m_nodeChannel just found, in order.
    /// Channels by destination, one of those that share, and node; parts of m_nodeChannel, or of
    /// m_scattered.
    FlatMap<std::span<const ChannelId>> m_next;
    /// The same by destination and source, where they do not lie together.
    FlatMap<std::span<const ChannelId>> m_scatteredFirst;
    std::deque<std::vector<ChannelId>> m_scattered;
    ChosenPaths m_chosen;
};

} // namespace ns3

#endif // ASTRA_ROUTE_TABLE_H
