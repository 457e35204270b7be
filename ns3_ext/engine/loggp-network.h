// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_LOGGP_NETWORK_H
#define ASTRA_LOGGP_NETWORK_H

#include "../core/event-loop.h"
#include "../core/member-handler.h"
#include "../fabric/route-table.h"
#include "analytic-network.h"
#include "flow-table.h"
#include "transport-figures.h"

#include <algorithm>
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
 * A message is one piece that cuts through: on link j of its way it begins at
 * `b_j = max(b_(j-1) + latency_j, free_j)`, holds the link for its bytes over the link's rate, and
 * is complete as long after it begins on the last link as it holds its slowest one. Links are taken
 * first come, first served, each when a message's first byte is at it: what is held up elsewhere
 * holds up nobody here. Bytes are line bytes, so that headers count; acknowledgements, windows and
 * queues of packets do not exist here.
 *
 * A port sends its messages first in, first out, but for those whose receiver's link is taken by
 * then: the next one of the first LOOK_AHEAD whose is free goes before them. So it stands for a NIC
 * that serves its queue pairs packet by packet, where a busy receiver holds up no other.
 *
 * Where a NIC spreads a message's packets over several scale-up links, whole packets go over each
 * in proportion to the ways' rates, what is left of them where they would end first. Each way's
 * part is a piece of its own, and the message has left, or is there, when its last part has or is.
 */
class LogGpNetwork : public AnalyticNetwork
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
    void Post(const MessageRequest& request) override;

  private:
    /// A way; the acknowledgement's is summed up. One cache line, as there may be millions.
    struct alignas(64) Way
    {
        static constexpr size_t NEAR_HOPS = 6; ///< Of a fat tree of three tiers.

        const ChannelId* channels{nullptr}; ///< In `near`, or in m_longPaths.
        TimePs ackLatency{0};
        TimePs latencyToLast{0}; ///< Until the first byte is at the last link.
        BitRate rate{std::numeric_limits<BitRate>::max()}; ///< Of its slowest link.
        uint32_t hops{0};
        bool isScaleUp{true}; ///< No link of it is Ethernet.
        std::array<ChannelId, NEAR_HOPS> near{};
    };

    static_assert(sizeof(Way) == 64);

    /// The ways that all messages of a pair of ranks are spread over.
    struct Spread
    {
        std::vector<const Way*> ways;
        BitRate rate{0}; ///< Of all together.
    };

    /// A message, and how many of its parts are not there yet. Half a cache line, as there may be
    /// millions.
    struct Message
    {
        ByteCount size{0};
        RankId src{0};
        RankId dst{0};
        uint32_t queuePair{0};
        uint32_t unsent{0};
        uint32_t undelivered{0};
        uint32_t unacked{0};
    };

    static_assert(sizeof(Message) == 32);

    /// What goes one way of a message.
    struct Part
    {
        const Way* way{nullptr};
        ByteCount size{0};
        MessageId message{0};
        // Of the way, for a port that looks at many.
        ChannelId last{0};
        TimePs latencyToLast{0};
    };

    /// What is known of a channel, and what it has promised.
    struct Link
    {
        TimePs free{0};
        TimePs expected{0}; ///< When what is on its way there has gone over it.
        TimePs promised{0}; ///< When the packets end that spread messages were given to it with.
        BitRate rate{0};
        int64_t efficiencyPpm{0};
        TimePs delay{0};
        TimePs latencyBehind{0}; ///< Its delay, and what the node behind it adds.
    };

    /// A part that is the first of its port's queue, or on its way.
    struct Flight
    {
        Part part;
        /// Of the way, which is far away in memory at each next hop; as many as it has near.
        std::array<ChannelId, Way::NEAR_HOPS> near{};
        uint32_t hop{0}; ///< The link whose turn it is.
        uint32_t hopsLeft{0};
        bool isFirst{true};
        bool isScaleUp{true}; ///< Its way.
        TimePs longest{0};    ///< It holds no link before that one longer.
        // Of the last link, since most links of a way are alike.
        BitRate rate{0};
        int64_t efficiencyPpm{-1};
        ByteCount line{0};
        TimePs held{0};
    };

    /// What a port has to send.
    struct Port
    {
        std::deque<Part> waiting;
        MessageId current{0};
        RankId rank{0};     ///< Whose messages it sends.
        bool isBusy{false}; ///< Or about to choose.
    };

    /// Messages that a port looks at for a free receiver: more than the ranks of a machine, which
    /// all begin with the same rank of the next machine. Assumed.
    static constexpr size_t LOOK_AHEAD = 32;

    static uint64_t PairOf(RankId src, RankId dst)
    {
        return (static_cast<uint64_t>(src) << 32) | dst;
    }

    static ChannelId FirstChannel(const Way& way)
    {
        return way.channels[0];
    }

    static ChannelId LastChannel(const Way& way)
    {
        return way.channels[way.hops - 1];
    }

    /// How long a message sent now would wait for its receiver's link, by what is known.
    TimePs WaitAtReceiver(const Part& part) const
    {
        const Link& last = m_links[part.last];
        const TimePs wait =
            std::max(last.free, last.expected) - (m_loop.Now() + part.latencyToLast);
        return std::max<TimePs>(wait, 0);
    }

    static Part PartOf(const Way& way, ByteCount size, uint64_t message)
    {
        return Part{&way,
                    size,
                    static_cast<MessageId>(message),
                    LastChannel(way),
                    way.latencyToLast};
    }

    uint32_t NextQueuePair(const MessageRequest& request);
    const Way& MakeWay(const std::vector<ChannelId>& path, const FlowIdentity& flow);
    const Way& WayOf(const FlowIdentity& flow);
    const Spread* SpreadOf(RankId src, RankId dst);
    std::vector<ByteCount> PacketsOnWays(const Spread& spread, ByteCount size);
    TimePs PacketTime(ChannelId channel) const;
    TimePs HoldingTime(const Way& way, ChannelId channel, ByteCount size) const;
    ByteCount MessageLine(const Way& way, ChannelId channel, ByteCount size) const;
    void BecomeReady(uint64_t id);
    void Enqueue(const Part& part, RankId src);
    void Choose(uint64_t port);
    void Begin(const Part& part);
    void TakeLink(uint64_t flight);
    void Sent(uint64_t port);
    void Delivered(uint64_t id);
    void Acked(uint64_t id);

    const PlatformDescription& m_platform;
    const TransportFigures m_figures;
    EventLoop& m_loop;
    RouteTable m_routes;
    std::deque<std::vector<ChannelId>> m_longPaths; ///< Those that have no room in their ways.
    std::deque<Way> m_knownWays;                    ///< They stay where they are.
    std::vector<FlowTable> m_numbers; ///< By source: the index of a flow's way, and 1.
    std::unordered_map<uint64_t, Spread> m_spreads; ///< By pair; without ways where there is one.
    std::vector<ChannelId> m_path;                  ///< Being found.
    std::vector<ChannelId> m_back;                  ///< The same of an acknowledgement's.
    /// By priority, then pair.
    std::array<std::unordered_map<uint64_t, uint32_t>, PRIORITIES> m_nextQueuePair;
    std::vector<Link> m_links;       ///< Per channel.
    std::vector<Port> m_ports;       ///< Per channel.
    std::vector<Message> m_messages; ///< By identity.
    std::vector<Flight> m_flights;
    std::vector<uint32_t> m_freeFlights;
    MemberHandler<LogGpNetwork, &LogGpNetwork::BecomeReady> m_readyHandler;
    MemberHandler<LogGpNetwork, &LogGpNetwork::Choose> m_chooseHandler;
    MemberHandler<LogGpNetwork, &LogGpNetwork::TakeLink> m_linkHandler;
    MemberHandler<LogGpNetwork, &LogGpNetwork::Sent> m_sentHandler;
    MemberHandler<LogGpNetwork, &LogGpNetwork::Delivered> m_deliveredHandler;
    MemberHandler<LogGpNetwork, &LogGpNetwork::Acked> m_ackedHandler;
};

} // namespace ns3

#endif // ASTRA_LOGGP_NETWORK_H
