// SPDX-License-Identifier: GPL-2.0-only
#include "platform-description.h"

#include "../core/errors.h"

#include <algorithm>
#include <limits>
#include <string>

namespace ns3
{

namespace
{

[[noreturn]] void
Refuse(const std::string& what, size_t index, const std::string& why)
{
    throw ConfigError("platform: " + what + " " + std::to_string(index) + ": " + why);
}

} // namespace

void
PlatformDescription::Validate()
{
    const size_t nodes = nodeKind.size();
    const size_t links = linkA.size();
    if (nodeRank.size() != nodes || nodeLatency.size() != nodes || nodeForwards.size() != nodes)
    {
        throw ConfigError("platform: the node columns differ in length");
    }
    if (linkB.size() != links || linkRate.size() != links || linkDelay.size() != links ||
        linkLoss.size() != links || linkEfficiency.size() != links)
    {
        throw ConfigError("platform: the link columns differ in length");
    }
    size_t ranks = 0;
    for (size_t node = 0; node < nodes; ++node)
    {
        ranks += nodeRank[node] >= 0 ? 1 : 0;
        if (nodeLatency[node] < 0 || nodeLatency[node] >= MAX_TIME_PS)
        {
            Refuse("node", node, "its latency is negative or over 13 days");
        }
        if (nodeForwards[node] > static_cast<uint8_t>(Forwarding::SCALE_UP_TO_ETHERNET))
        {
            Refuse("node", node, "it has to forward 0 (not), 1 (all) or 2 (to Ethernet)");
        }
    }
    rankNode.assign(ranks, std::numeric_limits<NodeIndex>::max());
    for (size_t node = 0; node < nodes; ++node)
    {
        if (nodeRank[node] < 0)
        {
            continue;
        }
        const auto rank = static_cast<size_t>(nodeRank[node]);
        if (rank >= ranks || rankNode[rank] != std::numeric_limits<NodeIndex>::max())
        {
            Refuse("node", node, "ranks must be 0.." + std::to_string(ranks - 1) + ", each once");
        }
        rankNode[rank] = static_cast<NodeIndex>(node);
    }
    if (rankRail.size() != ranks ||
        std::ranges::any_of(rankRail, [](int32_t rail) { return rail < 0; }))
    {
        throw ConfigError("platform: each rank has to have a rail, 0 or more");
    }
    if (rankMachine.size() != ranks ||
        std::ranges::any_of(rankMachine, [](int32_t machine) { return machine < 0; }))
    {
        throw ConfigError("platform: each rank has to have a machine, 0 or more");
    }
    const ChosenWays& chosen = routing.chosen;
    const size_t flows = chosen.src.size();
    if (chosen.dst.size() != flows || chosen.queuePair.size() != flows ||
        chosen.ptr.size() != flows + 1 || chosen.ptr.front() != 0 ||
        !std::ranges::is_sorted(chosen.ptr) ||
        chosen.ptr.back() != static_cast<int64_t>(chosen.channel.size()))
    {
        throw ConfigError("platform: the columns of chosen ways differ in length");
    }
    for (size_t link = 0; link < links; ++link)
    {
        if (linkA[link] >= nodes || linkB[link] >= nodes || linkA[link] == linkB[link])
        {
            Refuse("link", link, "its ends must be two different nodes of the platform");
        }
        if (linkRate[link] <= 0)
        {
            Refuse("link", link, "its rate must be above 0 bit/s");
        }
        if (linkDelay[link] < 0 || linkDelay[link] >= MAX_TIME_PS)
        {
            Refuse("link", link, "its delay is negative or over 13 days");
        }
        if (!(linkLoss[link] >= 0.0 && linkLoss[link] < 1.0))
        {
            Refuse("link", link, "its loss probability must be in [0, 1)");
        }
        const double efficiency = linkEfficiency[link];
        if (efficiency != 0.0 && !(efficiency >= 1e-3 && efficiency <= 1.0))
        {
            Refuse("link", link, "its efficiency must be 0 (Ethernet) or in [0.001, 1]");
        }
        if (efficiency != 0.0 && linkLoss[link] != 0.0)
        {
            Refuse("link", link, "a scale-up link loses nothing");
        }
    }
}

} // namespace ns3
