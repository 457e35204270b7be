// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_ASTRA_SIM_NETWORK_H
#define ASTRA_ASTRA_SIM_NETWORK_H

#include "../core/event-loop.h"
#include "../core/member-handler.h"
#include "../fabric/route-table.h"
#include "analytic-network.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ns3
{

/**
 * Messages as ASTRA-sim 2's analytical backends see them, so that its users find their numbers.
 *
 * Congestion unaware: a message takes its links' latencies and its bytes over the rate, cut to a
 * whole nanosecond, and no link is ever shared. Congestion aware: each link of the way takes its
 * whole messages one after another, first in, first out; the next link has a message when all of it
 * is there, latency and bytes over the rate cut to a whole nanosecond. Bytes are payload: there are
 * no headers. A sender is told when its message has arrived, in the same instant as the receiver.
 */
class AstraSimNetwork : public AnalyticNetwork
{
  public:
    /**
     * @param platform Checked, of one rate and no latency but that of links; must outlive this.
     * @param loop The run's clock.
     * @param seed The run's seed, for routes.
     * @param isCongestionAware Whether links are shared.
     */
    AstraSimNetwork(const PlatformDescription& platform,
                    EventLoop& loop,
                    uint64_t seed,
                    bool isCongestionAware);

    // MessageNetwork
    void Post(const MessageRequest& request) override;

  private:
    /// A message under way.
    struct Message
    {
        MessageRequest request{};
        const std::vector<ChannelId>* path{nullptr};
        uint32_t hop{0};
    };

    const std::vector<ChannelId>& PathOf(RankId src, RankId dst);
    TimePs Exact(ByteCount size, ChannelId channel) const;
    void FlyUnhindered(const Message& message);
    void Reach(uint64_t id);
    void Arrived(uint64_t id);

    const PlatformDescription& m_platform;
    EventLoop& m_loop;
    RouteTable m_routes;
    const bool m_isCongestionAware;
    std::unordered_map<uint64_t, std::vector<ChannelId>> m_paths; ///< By pair of ranks.
    std::vector<TimePs> m_free;                                   ///< Per channel.
    std::vector<Message> m_messages;                              ///< By identity.
    MemberHandler<AstraSimNetwork, &AstraSimNetwork::Reach> m_reachHandler;
    MemberHandler<AstraSimNetwork, &AstraSimNetwork::Arrived> m_arrivedHandler;
};

} // namespace ns3

#endif // ASTRA_ASTRA_SIM_NETWORK_H
