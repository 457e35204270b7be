// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_FLOW_NETWORK_H
#define ASTRA_FLOW_NETWORK_H

#include "../core/event-loop.h"
#include "../core/member-handler.h"
#include "../core/message-network.h"
#include "../fabric/port.h"
#include "flow-shares.h"
#include "flow-ways.h"
#include "transport-figures.h"

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * Messages as flows that share the links of a platform max-min fairly.
 *
 * A message begins to flow when it is posted and the one before it in its queue pair has left; it
 * has left when all its bytes have flowed, and is there its way's latencies and the filling of the
 * pipeline later. Flows of a higher priority go first on every link. Acknowledgements take the time
 * of the way back and no bytes; windows, congestion control, buffers and losses do not exist here.
 *
 * Shares are worked out once an instant, after all that ends and is posted in it.
 */
class FlowNetwork : public MessageNetwork
{
  public:
    /**
     * @param platform Checked; must outlive the network.
     * @param figures Line format, latencies, queue pairs.
     * @param loop The run's clock.
     * @param seed The run's seed, for routes.
     */
    FlowNetwork(const PlatformDescription& platform,
                const TransportFigures& figures,
                EventLoop& loop,
                uint64_t seed);

    // MessageNetwork
    void SetListener(MessageListener& listener) override;
    void Post(const MessageRequest& request) override;

    /// Called after much work within one event; may throw to end the run.
    void SetHook(std::function<void()> hook)
    {
        m_hook = std::move(hook);
    }

    /// Say which priorities there are, before the first message; until then, any.
    void UsePriorities(uint32_t mask);

    /// Whether to stop the loop as soon as nothing is on its way.
    void StopWhenIdle(bool isWanted);

    /// Whether no message is on its way, out of those that are posted.
    bool IsIdle() const
    {
        return m_onTheirWay == 0;
    }

    /// Timers of the loop that will find nothing due.
    uint64_t IdleTimers() const
    {
        const bool isOneDue = !m_timers.empty() && m_shares->NextEnd() != NEVER_PS;
        return m_timers.size() - (isOneDue ? 1 : 0);
    }

    /// How many rates were worked out, of all flows of a queue pair's way at once.
    uint64_t GivenRates() const
    {
        return m_shares->GivenRates();
    }

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
    using LaneId = uint32_t;
    using PartId = uint32_t;
    using WayId = FlowShares::BundleId;
    static constexpr uint32_t NONE = UINT32_MAX;

    /// What messages of one pair of ranks and priority have in common.
    struct Peer
    {
        uint32_t queuePairs{0}; ///< Made so far.
        LaneId lastUsed{NONE};
        WayId lastWay{NONE}; ///< The last one found; others follow by nextOfPeer.
    };

    /// A queue pair: its parts flow one after another.
    struct Lane
    {
        LaneId nextOfPeer{NONE}; ///< In a circle.
        WayId way{NONE};
        PartId first{NONE}; ///< The one that flows.
        PartId last{NONE};
    };

    struct Way
    {
        FlowWay of;
        WayId nextOfPeer{NONE};
    };

    /// A message, or what of it goes over one queue pair.
    struct Part
    {
        MessageId message{0};
        LaneId lane{NONE};
        WayId way{NONE};
        PartId next{NONE};      ///< In its lane, then of those that arrive with it.
        PartId nextAcked{NONE}; ///< Of those that are acknowledged with it.
        uint8_t momentsLeft{2}; ///< Arrival and acknowledgement.
        ByteCount size{0};
    };

    struct Message
    {
        MessageRequest request{};
        uint32_t unsent{0}; ///< Parts.
        uint32_t undelivered{0};
        uint32_t unacked{0};
    };

    /// Parts that something happens to at one time, by a link of theirs.
    using Moments = std::vector<std::pair<TimePs, PartId>>;

    void SendLatencyPassed(uint64_t);
    void Submit(const MessageRequest& request);
    void SubmitPart(LaneId lane, MessageId id, ByteCount size);
    LaneId SelectLane(Peer& peer, const MessageRequest& request);
    WayId FindWay(Peer& peer, const MessageRequest& request, uint32_t queuePair);
    PartId NewPart();
    void Begin(PartId id);
    void SettleOnce();
    void Settle(uint64_t);
    void SetTimer();
    void EndsDue(uint64_t);
    void Left(PartId id);
    void Count(const Part& part);
    void ScheduleMoments(Moments& moments, PartId Part::* next, EventHandler& handler);
    void LetHookRun();
    void Delivered(uint64_t head);
    void Acked(uint64_t head);
    void MomentOver(PartId id);
    void StopIfIdle();

    const PlatformDescription& m_platform;
    const TransportFigures m_figures;
    EventLoop& m_loop;
    FlowWays m_ways;
    std::optional<FlowShares> m_shares;
    std::array<uint8_t, PRIORITIES> m_class{}; ///< By priority.
    MessageListener* m_listener{nullptr};
    std::function<void()> m_hook;
    std::array<std::unordered_map<uint64_t, Peer>, PRIORITIES> m_peers; ///< By pair of ranks.
    std::vector<Lane> m_lanes;
    std::vector<LaneId> m_freeLanes;
    std::vector<Way> m_way; ///< By its bundle.
    std::vector<Part> m_parts;
    std::vector<PartId> m_freeParts;
    std::vector<Message> m_messages;                        ///< By identity.
    std::deque<std::pair<TimePs, MessageRequest>> m_latent; ///< Posted, in their send latency.
    uint64_t m_onTheirWay{0};                               ///< Messages.
    uint64_t m_workAtHook{0};
    bool m_isSettlePending{false};
    bool m_doesStopWhenIdle{false};
    std::vector<TimePs> m_timers; ///< Pending ones, for ends of flows; the earliest last.
    std::vector<PartId> m_ended;
    Moments m_arrivals;
    Moments m_acks;
    std::vector<ChannelCounters> m_counters;
    std::vector<ByteCount> m_sentBytes;
    std::vector<ByteCount> m_receivedBytes;
    MemberHandler<FlowNetwork, &FlowNetwork::SendLatencyPassed> m_latencyHandler;
    MemberHandler<FlowNetwork, &FlowNetwork::Settle> m_settleHandler;
    MemberHandler<FlowNetwork, &FlowNetwork::EndsDue> m_endHandler;
    MemberHandler<FlowNetwork, &FlowNetwork::Delivered> m_deliveredHandler;
    MemberHandler<FlowNetwork, &FlowNetwork::Acked> m_ackedHandler;
};

} // namespace ns3

#endif // ASTRA_FLOW_NETWORK_H
