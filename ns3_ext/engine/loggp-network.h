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
 * A message over scale-up links only is in as many pieces as its sender has first links to there,
 * in proportion to their rates and of whole packets, as a RoceNic stripes its packets.
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
    /// Ways of a pair of ranks; the acknowledgement's is summed up.
    struct Way
    {
        std::vector<std::vector<ChannelId>> paths; ///< One, or one for each first link.
        TimePs ackLatency{0};
        bool isScaleUp{true}; ///< No link of it is Ethernet.
    };

    /// A message and where it leaves.
    struct Message
    {
        MessageRequest request{};
        uint32_t queuePair{0};
        ChannelId port{0};
    };

    /// When a piece has left, and when it is complete at the far end.
    struct Moments
    {
        TimePs sent{0};
        TimePs arrived{0};
    };

    const Way& WayOf(RankId src, RankId dst, uint32_t queuePair);
    std::vector<std::vector<ChannelId>> StripedPaths(RankId src, RankId dst);
    ByteCount MessageLine(const Way& way, ChannelId channel, ByteCount size) const;
    void BecomeReady(uint64_t id);
    void Begin(MessageId id);
    std::vector<ByteCount> PieceEnds(const Way& way, ByteCount size) const;
    Moments Carry(const Way& way, const std::vector<ChannelId>& path, ByteCount size);
    void Sent(uint64_t id);
    void Delivered(uint64_t id);
    void Acked(uint64_t id);

    const PlatformDescription& m_platform;
    const TransportFigures m_figures;
    EventLoop& m_loop;
    RouteTable m_routes;
    MessageListener* m_listener{nullptr};
    std::unordered_map<uint64_t, std::vector<Way>> m_ways; ///< By pair, then queue pair.
    /// By priority, then pair.
    std::array<std::unordered_map<uint64_t, uint32_t>, PRIORITIES> m_nextQueuePair;
    std::vector<TimePs> m_free; ///< Per channel.
    /// Per channel: messages that leave there first, the one under way in front.
    std::vector<std::deque<MessageId>> m_queue;
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
