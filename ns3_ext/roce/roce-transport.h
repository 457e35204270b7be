// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_ROCE_TRANSPORT_H
#define ASTRA_ROCE_TRANSPORT_H

#include "../core/message-network.h"
#include "../core/slab.h"
#include "../fabric/path-store.h"
#include "../fabric/route-table.h"
#include "controlled-flow.h"
#include "outgoing-message.h"
#include "queue-pair-store.h"
#include "queue-pair.h"
#include "roce-nic.h"

#include "ns3/ptr.h"

#include <cstdint>
#include <vector>

namespace ns3
{

class FrameWatch;
class QueuePairWatch;

/**
 * The network of RoCE NICs: what they share, and their common face to the executor.
 */
class RoceTransport : public MessageNetwork
{
  public:
    /**
     * @param platform Checked; must outlive the transport.
     * @param seed The run's seed, for routes.
     */
    RoceTransport(const PlatformDescription& platform, uint64_t seed);

    void AddNic(Ptr<RoceNic> nic);

    // MessageNetwork
    void SetListener(MessageListener& listener) override;
    void Post(const MessageRequest& request) override;

    /// A connection with its two ways, ready to be used.
    QueuePair* NewQueuePair(RankId src, RankId dst, uint32_t number);

    /// A transient connection has done its message.
    void Release(QueuePair* queuePair);

    QueuePair* QueuePairAt(uint32_t index)
    {
        return m_queuePairs.At(index);
    }

    RoceNic& NicOf(RankId rank)
    {
        return *m_nics[rank];
    }

    OutgoingMessage* NewMessage()
    {
        return m_messages.Take();
    }

    void Release(OutgoingMessage* message)
    {
        m_messages.Give(message);
    }

    StripedMessage* NewStripedMessage()
    {
        return m_stripedMessages.Take();
    }

    void Release(StripedMessage* message)
    {
        m_stripedMessages.Give(message);
    }

    Acknowledgement* NewAcknowledgement()
    {
        return m_acknowledgements.Take();
    }

    void Release(Acknowledgement* ack)
    {
        m_acknowledgements.Give(ack);
    }

    /// A flow without a control yet.
    ControlledFlow* NewFlow();

    ControlledFlow* FlowAt(uint32_t index)
    {
        return m_flowByIndex[index];
    }

    /// Let a flow go that has no queue pair and no timer any more, and is nobody's to share.
    void ReleaseIfOver(ControlledFlow* flow, TimePs now);

    /// A flow has a control, or will have one once it is needed.
    void CountControlledFlow()
    {
        ++m_flowCount;
    }

    /// Flows that ever had a control.
    int64_t ControlledFlows() const
    {
        return m_flowCount;
    }

    /// What controls did to the flows that they ever held back, those that are gone first.
    std::vector<ControlRecord> ControlRecords(TimePs now) const;

    /// What queue pairs do from now on is told to these; they must outlive the transport's run.
    void SetWatch(QueuePairWatch& queuePairs, FrameWatch& frames)
    {
        m_queuePairWatch = &queuePairs;
        m_frameWatch = &frames;
    }

    /// Who writes down what queue pairs do, or nobody.
    QueuePairWatch* GetQueuePairWatch()
    {
        return m_queuePairWatch;
    }

    /// Who writes down the frames of some channels, or nobody.
    FrameWatch* GetFrameWatch()
    {
        return m_frameWatch;
    }

    MessageListener& Listener()
    {
        return *m_listener;
    }

    RouteTable& Routes()
    {
        return m_routes;
    }

    const PlatformDescription& Platform() const
    {
        return m_platform;
    }

    void TimerArmed()
    {
        ++m_armedTimers;
    }

    void TimerOver()
    {
        --m_armedTimers;
    }

    /// Retransmission timers that are events of the loop now.
    uint64_t ArmedTimers() const
    {
        return m_armedTimers;
    }

    void AckOnItsWay()
    {
        ++m_acksOnTheirWay;
    }

    void AckCame()
    {
        --m_acksOnTheirWay;
    }

    /// Out-of-band acknowledgements that are events of the loop now.
    uint64_t AcksOnTheirWay() const
    {
        return m_acksOnTheirWay;
    }

    /// Sum over all NICs.
    NicCounters TotalCounters() const;

    const NicCounters& CountersOf(RankId rank) const
    {
        return m_nics[rank]->Counters();
    }

    uint64_t ConnectionCount() const
    {
        return m_connectionCount;
    }

  private:
    static ControlRecord RecordAt(ControlledFlow& flow, TimePs now);

    void FindWays(QueuePair* queuePair);
    void SpreadOverFirstChannels(QueuePair* queuePair);

    const PlatformDescription& m_platform;
    RouteTable m_routes;
    std::vector<Ptr<RoceNic>> m_nics;
    MessageListener* m_listener{nullptr};
    QueuePairWatch* m_queuePairWatch{nullptr};
    FrameWatch* m_frameWatch{nullptr};
    QueuePairStore m_queuePairs;
    Slab<OutgoingMessage> m_messages;
    Slab<StripedMessage> m_stripedMessages;
    Slab<Acknowledgement> m_acknowledgements;
    Slab<ControlledFlow> m_flows;
    std::vector<ControlledFlow*> m_flowByIndex;
    std::vector<uint32_t> m_freeFlows;
    int64_t m_flowCount{0};
    std::vector<ControlRecord> m_slowedFlowsGone;
    PathStore m_paths;
    std::vector<ChannelId> m_scratchPath;
    uint64_t m_connectionCount{0};
    uint64_t m_armedTimers{0};
    uint64_t m_acksOnTheirWay{0};
};

} // namespace ns3

#endif // ASTRA_ROCE_TRANSPORT_H
