// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_ROCE_NIC_H
#define ASTRA_ROCE_NIC_H

#include "../core/member-handler.h"
#include "../core/units.h"
#include "../fabric/frame.h"
#include "policies.h"
#include "queue-pair.h"
#include "ready-ring.h"
#include "wire-format.h"

#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/traced-callback.h"

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ns3
{

class Fabric;
class RoceTransport;

/// What a NIC has done that the counters of its ports do not tell.
struct NicCounters
{
    ByteCount sentPayloadBytes{0};     ///< Each byte once, however often it was sent.
    ByteCount receivedPayloadBytes{0}; ///< In order, each byte once.
    int64_t dataPackets{0};            ///< Sent, repetitions included.
    int64_t acksSent{0};
    int64_t naksSent{0};
    int64_t timeouts{0};
    int64_t repeatedPackets{0};
    int64_t duplicatePackets{0};  ///< Received once more.
    int64_t outOfOrderPackets{0}; ///< Received after a gap, and dropped.
};

/**
 * A RoCEv2 NIC with reliable connections: RDMA WRITE messages cut into packets, acknowledged, and
 * recovered by go-back-N.
 *
 * One object does both halves of a rank: it sends on its queue pairs and receives on those of
 * others. Its data waits in queue pairs and is handed to the ports packet by packet (Fabric asks
 * through FrameSource); ACKs go into the port's queues at once, before all data.
 */
class RoceNic : public Object, public FrameSink
{
  public:
    static TypeId GetTypeId();

    RoceNic();
    ~RoceNic() override;

    /// Signature of the trace sources that tell of a message.
    typedef void (*MessageTracedCallback)(uint32_t message, uint32_t src, uint32_t dst);
    /// Signature of the trace sources that tell of a queue pair.
    typedef void (*QueuePairTracedCallback)(uint32_t queuePair, uint32_t psn);

    /// Connect the NIC to its place; called once, before anything is posted.
    void Install(RankId rank, Fabric& fabric, RoceTransport& transport);

    /// Take a message of this rank; it becomes available to the port after the send latency.
    void Post(const MessageRequest& request);

    void ReceiveFrame(Frame& frame) override;

    const NicCounters& Counters() const
    {
        return m_counters;
    }

  private:
    /// The data of one of the NIC's ports: a round robin for each priority.
    class DataPort : public FrameSource
    {
      public:
        DataPort(RoceNic& nic, ChannelId port)
            : m_nic(nic),
              m_port(port)
        {
        }

        uint32_t ReadyMask() const override;
        Frame* NextFrame(uint8_t priority) override;
        void LastFrameStarted(TimePs end) override;
        void Insert(QueuePair* queuePair);
        void Remove(QueuePair* queuePair);

      private:
        RoceNic& m_nic;
        ChannelId m_port;
        uint32_t m_ready{0}; ///< Bit p is set while ring p has queue pairs.
        std::array<ReadyRing, PRIORITIES> m_ring;
        OutgoingMessage* m_lastStarted{nullptr};
        RankId m_lastDestination{0};
    };

    friend class DataPort;

    /// The queue pairs to one destination at one priority.
    struct Peer
    {
        std::vector<QueuePair*> queuePairs;
        uint32_t nextNumber{0};
    };

    void DoDispose() override;
    void SetHeaderBytes(int64_t bytes);
    void SetAckBytes(int64_t bytes);

    // Sender.
    void Submit(const MessageRequest& request);
    void SendLatencyPassed(uint64_t unused);
    QueuePair* SelectQueuePair(const MessageRequest& request);
    QueuePair* Connect(const MessageRequest& request, uint32_t number);
    bool CanSend(const QueuePair& queuePair) const;
    bool IsWindowFull(const QueuePair& queuePair) const;
    void UpdateReady(QueuePair* queuePair);
    Frame* BuildDataFrame(QueuePair* queuePair);
    void HandleAck(QueuePair* queuePair, uint32_t psn, bool isNak);
    /// Take note of an ACK; returns the list of messages that are thereby done.
    OutgoingMessage* AdvanceAcked(QueuePair* queuePair, uint64_t expected);
    void GoBack(QueuePair* queuePair);
    void ArmTimer(QueuePair* queuePair);
    void TimerFired(uint64_t index);
    void AckCameBack(uint64_t argument);
    void MessageHasLeft(uint64_t idAndDestination);
    TimePs Timeout(const QueuePair& queuePair) const;
    TimePs UnloadedRoundTrip(const QueuePair& queuePair) const;
    TimePs PathLatency(const ChannelId* path, uint16_t hops) const;

    // Receiver.
    void ReceiveData(QueuePair* queuePair, const Frame& frame);
    void Acknowledge(QueuePair* queuePair, FrameKind kind);
    void ReceiveLatencyPassed(uint64_t unused);

    // Attributes.
    uint32_t m_payload{0};
    LineFormat m_format;
    AckPolicy m_ackPolicy{AckPolicy::PER_PACKET};
    uint32_t m_ackEvery{1};
    bool m_isAckClassShared{false};
    WindowPolicy m_windowPolicy{WindowPolicy::NONE};
    uint64_t m_window{0};
    uint32_t m_qpsPerPeer{1};
    uint32_t m_initialPsn{0};
    Time m_timeout;
    Time m_sendLatency;
    Time m_receiveLatency;

    // Place.
    RankId m_rank{0};
    Fabric* m_fabric{nullptr};
    RoceTransport* m_transport{nullptr};

    /// Unacknowledged packets after which the receiver acknowledges at the latest.
    uint64_t m_ackAfter{1};
    std::map<ChannelId, std::unique_ptr<DataPort>> m_ports;
    std::unordered_map<uint64_t, Peer> m_peers; ///< By destination and priority.
    std::deque<MessageRequest> m_submitted;     ///< Wait for the send latency, in order.
    /// Wait for the receive latency, in order: message and its bytes.
    std::deque<std::pair<MessageId, ByteCount>> m_arrived;
    NicCounters m_counters;

    MemberHandler<RoceNic, &RoceNic::SendLatencyPassed> m_sendLatencyHandler;
    MemberHandler<RoceNic, &RoceNic::ReceiveLatencyPassed> m_receiveLatencyHandler;
    MemberHandler<RoceNic, &RoceNic::TimerFired> m_timerHandler;
    MemberHandler<RoceNic, &RoceNic::AckCameBack> m_ackHandler;
    MemberHandler<RoceNic, &RoceNic::MessageHasLeft> m_leftHandler;

    TracedCallback<uint32_t, uint32_t, uint32_t> m_postedTrace;
    TracedCallback<uint32_t, uint32_t, uint32_t> m_sentTrace;
    TracedCallback<uint32_t, uint32_t, uint32_t> m_ackedTrace;
    TracedCallback<uint32_t, uint32_t, uint32_t> m_deliveredTrace;
    TracedCallback<uint32_t, uint32_t> m_timeoutTrace;
    TracedCallback<uint32_t, uint32_t> m_goBackTrace;
};

} // namespace ns3

#endif // ASTRA_ROCE_NIC_H
