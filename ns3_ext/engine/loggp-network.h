// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_LOGGP_NETWORK_H
#define ASTRA_LOGGP_NETWORK_H

#include "../core/event-loop.h"
#include "../core/member-handler.h"
#include "../core/message-network.h"
#include "../fabric/port.h"
#include "../fabric/route-table.h"
#include "transport-figures.h"

#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <unordered_map>
#include <vector>

namespace ns3
{

/**
 * Messages as LogGP sees them (Alexandrov et al., SPAA 1995), on the links of a platform.
 *
 * Messages go in order of readiness: a port's first in, first out, each when the one before it has
 * left. A message is one piece that cuts through: on link j of its way it begins at
 * `b_j = max(b_(j-1) + latency_j, free_j)`, holds the link for its bytes over the link's rate, and
 * is complete as long after it begins on the last link as it holds its slowest one. Bytes are line
 * bytes, so that headers count; acknowledgements, windows and queues of packets do not exist here.
 *
 * Where a NIC spreads a message's packets over several scale-up links, whole packets go over each
 * in proportion to the ways' rates, what is left of them where they would end first. Each way's
 * part is a piece of its own, and the message has left, or is there, when its last part has or is.
 */
class LogGpNetwork : public MessageNetwork
{
  public:
    /**
     * @param platform Checked; must outlive the network.
     * @param figures Line format, latencies, rounding.
     * @param loop The run's clock.
     * @param seed The run's seed, for routes.
     */
    LogGpNetwork(const PlatformDescription& platform,
                 const TransportFigures& figures,
                 EventLoop& loop,
                 uint64_t seed);

    // MessageNetwork
    void SetListener(MessageListener& listener) override;
    void Post(const MessageRequest& request) override;

    const std::vector<ChannelCounters>& Counters() const
    {
        return m_counters;
    }

    const std::vector<ByteCount>& SentBytes() const
    {
        return m_sentBytes;
    }

    const std::vector<ByteCount>& ReceivedBytes() const
    {
        return m_receivedBytes;
    }

  private:
    /// A way; the acknowledgement's is summed up.
    struct Way
    {
        std::vector<ChannelId> path;
        TimePs ackLatency{0};
        BitRate rate{std::numeric_limits<BitRate>::max()}; ///< Of its slowest link.
        bool isScaleUp{true};                              ///< No link of it is Ethernet.
    };

    /// Those of a pair of ranks: one a queue pair, or those that all its messages are spread over.
    struct Ways
    {
        std::vector<Way> of;
        bool areSpread{false};
        BitRate rate{0}; ///< Of all together, where messages are spread.
    };

    /// A message, and how many of its parts are not there yet.
    struct Message
    {
        MessageRequest request{};
        uint32_t queuePair{0};
        uint32_t unsent{0};
        uint32_t undelivered{0};
        uint32_t unacked{0};
    };

    /// What goes one way of a message.
    struct Part
    {
        MessageId message{0};
        uint32_t way{0}; ///< Of those of its pair of ranks.
        ByteCount size{0};
    };

    Way MakeWay(std::vector<ChannelId>&& path, RankId src, RankId dst, uint32_t queuePair);
    Ways& WaysOf(RankId src, RankId dst, uint32_t queuePair);
    void Spread(Ways& ways, RankId src, RankId dst);
    const Way& WayOf(const Part& part);
    std::vector<ByteCount> PacketsOnWays(const Ways& ways, ByteCount size);
    TimePs PacketTime(ChannelId channel) const;
    ByteCount MessageLine(const Way& way, ChannelId channel, ByteCount size) const;
    void BecomeReady(uint64_t id);
    void Enqueue(const Way& way, const Part& part);
    void Begin(const Part& part);
    void Sent(uint64_t port);
    void Delivered(uint64_t id);
    void Acked(uint64_t id);

    const PlatformDescription& m_platform;
    const TransportFigures m_figures;
    EventLoop& m_loop;
    RouteTable m_routes;
    MessageListener* m_listener{nullptr};
    std::unordered_map<uint64_t, Ways> m_ways; ///< By pair.
    /// By priority, then pair.
    std::array<std::unordered_map<uint64_t, uint32_t>, PRIORITIES> m_nextQueuePair;
    std::vector<TimePs> m_free; ///< Per channel.
    /// Per channel: when the packets end that spread messages were given to it with.
    std::vector<TimePs> m_promised;
    /// Per channel: what leaves there first, the one under way in front.
    std::vector<std::deque<Part>> m_queue;
    std::vector<ChannelCounters> m_counters;
    std::vector<ByteCount> m_sentBytes;
    std::vector<ByteCount> m_receivedBytes;
    std::vector<Message> m_messages; ///< By identity.
    MemberHandler<LogGpNetwork, &LogGpNetwork::BecomeReady> m_readyHandler;
    MemberHandler<LogGpNetwork, &LogGpNetwork::Sent> m_sentHandler;
    MemberHandler<LogGpNetwork, &LogGpNetwork::Delivered> m_deliveredHandler;
    MemberHandler<LogGpNetwork, &LogGpNetwork::Acked> m_ackedHandler;
};

} // namespace ns3

#endif // ASTRA_LOGGP_NETWORK_H
