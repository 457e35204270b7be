// SPDX-License-Identifier: GPL-2.0-only
#include "chosen-paths.h"

#include "../core/errors.h"

#include <string>

namespace ns3
{

namespace
{

uint64_t
PairKey(const FlowIdentity& flow)
{
    return (static_cast<uint64_t>(flow.src) << 32) | flow.dst;
}

std::string
NameOf(const FlowIdentity& flow)
{
    return "from rank " + std::to_string(flow.src) + " to rank " + std::to_string(flow.dst);
}

} // namespace

ChosenPaths::ChosenPaths(const PlatformDescription& platform)
    : m_platform(platform)
{
    const ChosenWays& chosen = platform.routing.chosen;
    for (size_t row = 0; row < chosen.src.size(); ++row)
    {
        const FlowIdentity flow{static_cast<RankId>(chosen.src[row]),
                                static_cast<RankId>(chosen.dst[row]),
                                static_cast<uint32_t>(chosen.queuePair[row])};
        std::vector<size_t>& rows = m_rows[PairKey(flow)];
        if (flow.queuePair != rows.size() || !DoesLead(flow, row))
        {
            throw ConfigError("platform: the chosen way of queue pair " +
                              std::to_string(flow.queuePair) + " " + NameOf(flow) +
                              " does not lead there, or queue pairs are not 0, 1, ...");
        }
        rows.push_back(row);
    }
}

bool
ChosenPaths::DoesLead(const FlowIdentity& flow, size_t row) const
{
    const ChosenWays& chosen = m_platform.routing.chosen;
    if (flow.src >= m_platform.Ranks() || flow.dst >= m_platform.Ranks())
    {
        return false;
    }
    NodeIndex node = m_platform.rankNode[flow.src];
    for (int64_t i = chosen.ptr[row]; i < chosen.ptr[row + 1]; ++i)
    {
        const auto channel = static_cast<ChannelId>(chosen.channel[i]);
        if (channel >= m_platform.Channels() || m_platform.Transmitter(channel) != node)
        {
            return false;
        }
        node = m_platform.Receiver(channel);
    }
    return node == m_platform.rankNode[flow.dst];
}

void
ChosenPaths::Find(const FlowIdentity& flow, std::vector<ChannelId>& path) const
{
    const auto found = m_rows.find(PairKey(flow));
    if (found == m_rows.end())
    {
        throw ConfigError("platform.routing_hook: no way was chosen " + NameOf(flow));
    }
    const ChosenWays& chosen = m_platform.routing.chosen;
    const size_t row = found->second[flow.queuePair % found->second.size()];
    for (int64_t i = chosen.ptr[row]; i < chosen.ptr[row + 1]; ++i)
    {
        path.push_back(static_cast<ChannelId>(chosen.channel[i]));
    }
}

} // namespace ns3
