// SPDX-License-Identifier: GPL-2.0-only
#include "packet-router.h"

#include "../core/hash.h"
#include "fabric.h"

namespace ns3
{

namespace
{

/// Keeps the draws of ways apart from everything else that hashes the run's seed.
constexpr uint64_t SPRAY_STREAM = 0x7370726179;

} // namespace

PacketRouter::PacketRouter(const PlatformDescription& platform,
                           RouteTable& routes,
                           Fabric& fabric,
                           uint64_t seed)
    : m_platform(platform),
      m_routes(routes),
      m_fabric(fabric),
      m_stream(Mix64(seed ^ SPRAY_STREAM))
{
}

ChannelId
PacketRouter::Choose(const Frame& frame)
{
    const NodeIndex node = m_platform.Receiver(frame.ingress);
    const std::span<const ChannelId> ways = m_routes.NextChannels(frame.dst, node);
    const auto count = static_cast<uint32_t>(ways.size());
    if (count == 1)
    {
        return ways[0];
    }
    const uint64_t packet = (static_cast<uint64_t>(frame.flow) << 32) | frame.psn;
    const uint32_t drawn = ReduceHash(Draw(m_stream, node, Mix64(packet)), count);
    if (m_platform.routing.kind == RoutingKind::SPRAY)
    {
        return ways[drawn];
    }
    // Among ports that hold as little the draw decides: always the first would make it the only
    // one.
    ChannelId best = ways[drawn];
    ByteCount least = m_fabric.QueuedBytes(best);
    for (uint32_t i = 1; i < count; ++i)
    {
        const ChannelId way = ways[(drawn + i) % count];
        const ByteCount queued = m_fabric.QueuedBytes(way);
        if (queued < least)
        {
            best = way;
            least = queued;
        }
    }
    return best;
}

} // namespace ns3
