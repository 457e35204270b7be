// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_PLATFORM_DESCRIPTION_H
#define ASTRA_PLATFORM_DESCRIPTION_H

#include "../core/units.h"
#include "routing-policy.h"

#include <cmath>
#include <cstdint>
#include <vector>

namespace ns3
{

/// What a node of the platform graph is; the values are those of astra_py.platforms.NodeKind.
enum class NodeKind : uint8_t
{
    ACCELERATOR = 0,
    HOST = 1,
    NIC = 2,
    SWITCH = 3,
};

/**
 * A platform as plain columns, checked by its maker.
 *
 * Link l is full duplex: channel 2 l carries a to b, channel 2 l + 1 carries b to a.
 */
struct PlatformDescription
{
    std::vector<NodeKind> nodeKind;
    std::vector<int32_t> nodeRank; ///< -1 where a node is no endpoint.
    std::vector<TimePs> nodeLatency;
    std::vector<uint8_t> nodeForwards; ///< Of enum Forwarding; 0 where nothing passes through.
    std::vector<NodeIndex> linkA;
    std::vector<NodeIndex> linkB;
    std::vector<BitRate> linkRate;
    std::vector<TimePs> linkDelay;
    std::vector<double> linkLoss;
    std::vector<double> linkEfficiency; ///< 0 for Ethernet, in (0, 1] for a scale-up link.
    std::vector<int32_t> rankMachine;   ///< Machine of each rank.
    std::vector<int32_t> rankRail;      ///< Rail of each rank; its NIC's index in the machine.
    RoutingPolicy routing;
    std::vector<NodeIndex> rankNode; ///< Node of each rank.

    uint32_t Nodes() const
    {
        return static_cast<uint32_t>(nodeKind.size());
    }

    uint32_t Channels() const
    {
        return static_cast<uint32_t>(2 * linkA.size());
    }

    uint32_t Ranks() const
    {
        return static_cast<uint32_t>(rankNode.size());
    }

    NodeIndex Transmitter(ChannelId channel) const
    {
        return channel % 2 == 0 ? linkA[channel / 2] : linkB[channel / 2];
    }

    NodeIndex Receiver(ChannelId channel) const
    {
        return channel % 2 == 0 ? linkB[channel / 2] : linkA[channel / 2];
    }

    Forwarding ForwardingOf(NodeIndex node) const
    {
        return static_cast<Forwarding>(nodeForwards[node]);
    }

    BitRate Rate(ChannelId channel) const
    {
        return linkRate[channel / 2];
    }

    TimePs Delay(ChannelId channel) const
    {
        return linkDelay[channel / 2];
    }

    /// Millionths of a scale-up link's line that payload can have; 0 for Ethernet.
    int64_t EfficiencyPpm(ChannelId channel) const
    {
        return std::llround(linkEfficiency[channel / 2] * 1e6);
    }

    bool IsScaleUp(ChannelId channel) const
    {
        return linkEfficiency[channel / 2] > 0.0;
    }

    double Loss(ChannelId channel) const
    {
        return linkLoss[channel / 2];
    }

    /**
     * Check every column against the others and fill rankNode.
     *
     * @throws ConfigError naming the node or link that is wrong.
     */
    void Validate();
};

} // namespace ns3

#endif // ASTRA_PLATFORM_DESCRIPTION_H
