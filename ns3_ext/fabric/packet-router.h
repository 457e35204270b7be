// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_PACKET_ROUTER_H
#define ASTRA_PACKET_ROUTER_H

#include "next-hop.h"
#include "route-table.h"

#include <cstdint>

namespace ns3
{

class Fabric;

/**
 * Chooses a way for each packet at each node: any of the shortest ones by a draw of its own
 * (spraying; Dixit et al., INFOCOM 2013), or the one whose port holds the fewest bytes.
 */
class PacketRouter : public NextHop
{
  public:
    /**
     * @param platform Checked, with its routing policy; must outlive the router.
     * @param routes The platform's ways; must outlive the router.
     * @param fabric Whose ports are looked at; must outlive the router.
     * @param seed The run's seed.
     */
    PacketRouter(const PlatformDescription& platform,
                 RouteTable& routes,
                 Fabric& fabric,
                 uint64_t seed);

    ChannelId Choose(const Frame& frame) override;

  private:
    const PlatformDescription& m_platform;
    RouteTable& m_routes;
    Fabric& m_fabric;
    uint64_t m_stream;
};

} // namespace ns3

#endif // ASTRA_PACKET_ROUTER_H
