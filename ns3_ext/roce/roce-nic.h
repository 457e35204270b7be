// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_ROCE_NIC_H
#define ASTRA_ROCE_NIC_H

#include "../congestion/congestion-control.h"
#include "../core/flat-map.h"
#include "../core/member-handler.h"
#include "../core/units.h"
#include "../fabric/frame.h"
#include "data-port.h"
#include "policies.h"
#include "queue-pair.h"
#include "wire-format.h"

#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/ptr.h"
#include "ns3/traced-callback.h"

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
struct ControlledFlow;

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
    int64_t keptPackets{0};       ///< Received after a gap, and kept.
    int64_t selectiveRepeats{0};  ///< Sent again by selective repeat.
    int64_t markedPackets{0};     ///< Data received with an ECN mark.
    int64_t cnpsSent{0};          ///< Congestion notifications, as frames or in ACKs.

    void Add(const NicCounters& other);
};

/// What an ACK or NAK tells the sender of a queue pair.
struct Acknowledgement
{
    Acknowledgement* next{nullptr}; ///< Free in its slab.
    uint32_t queuePair{0};
    uint32_t psn{0}; ///< 24 bits: the next packet expected.
    bool isNak{false};
    bool isMarked{false};
    bool isTimer{false}; ///< Came as a timer of its instant, not as an arrival.
    FrameNotes* notes{nullptr};
};

/**
 * A RoCEv2 NIC with reliable connections: RDMA WRITE messages cut into packets, acknowledged,
 * controlled, and repeated where they were lost.
 *
 * One object does both halves of a rank: it sends on its queue pairs and receives on those of
 * others. Its data waits in queue pairs and is handed to the ports packet by packet (Fabric asks
 * through DataPort); ACKs go into the port's queues at once, before all data. The sources are by
 * concern: roce-nic-connect, -sender, -acks, -recovery, -control, -receiver.
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
    /// Signature of the trace source that tells of a rate, in bit/s.
    typedef void (*RateTracedCallback)(uint32_t queuePair, int64_t rate);

    /**
     * Connect the NIC to its place; called once, before anything is posted.
     *
     * @throws ConfigError when the attributes contradict each other.
     */
    void Install(RankId rank, Fabric& fabric, RoceTransport& transport);

    /// Take a message of this rank; it becomes available to the port after the send latency.
    void Post(const MessageRequest& request);

    void ReceiveFrame(Frame& frame) override;
    void Foresee(const Frame& frame) const override;

    const NicCounters& Counters() const
    {
        return m_counters;
    }

  private:
    friend class DataPort;

    /// A packet that may be sent now.
    struct Packet
    {
        OutgoingMessage* message;
        uint64_t psn;
    };

    void DoDispose() override;
    void SetHeaderBytes(int64_t bytes);
    void SetAckBytes(int64_t bytes);

    // Queue pairs: choice, ways, figures.
    QueuePair* SelectQueuePair(const MessageRequest& request);
    QueuePair* Connect(const MessageRequest& request, uint32_t number);
    void SetWays(QueuePair* queuePair);
    void SetWindow(QueuePair* queuePair) const;
    void SetFlow(QueuePair* queuePair);
    ControlledFlow* NewFlow(const QueuePair& queuePair);
    /// Of a full packet and its ACK, by the longest of its ways.
    TimePs UnloadedRoundTrip(const QueuePair& queuePair) const;
    /// Whether one of the channels that its frames and their ACKs can take is such.
    template <typename PREDICATE>
    bool HasChannel(const QueuePair& queuePair, const PREDICATE& predicate) const;
    /// Whether a frame of its can be lost.
    bool IsLossy(const QueuePair& queuePair) const;
    /// Whether a frame has been dropped where one of its could have been.
    bool HasDropped(const QueuePair& queuePair) const;
    TimePs PathLatency(const ChannelId* path, uint16_t hops) const;
    TimePs UnloadedRoundTrip(const QueuePair& queuePair, const Way& way) const;
    uint32_t TelemetryBytes(const QueuePair& queuePair) const;

    // Sender.
    void Submit(const MessageRequest& request);
    void SendLatencyPassed(uint64_t unused);
    void SubmitPart(QueuePair* queuePair, MessageId id, ByteCount size, StripedMessage* whole);
    bool HasPacket(const QueuePair& queuePair) const;
    bool IsWindowFull(const QueuePair& queuePair) const;
    static bool IsTransportWindowFull(const QueuePair& queuePair);
    bool IsAckDue(const QueuePair& queuePair) const;
    void UpdateReady(QueuePair* queuePair);
    void SetReady(QueuePair* queuePair, bool isReady);
    /// Write down what holds a watched queue pair back now.
    void WatchHold(const QueuePair& queuePair) const;
    /// Let its ports do what they have done by now; before what they send from is read or changed.
    void Advance(const QueuePair& queuePair) const;
    Packet NextPacket(const QueuePair& queuePair) const;
    static uint32_t PayloadOf(const QueuePair& queuePair,
                              const OutgoingMessage& message,
                              uint64_t offset);
    /// Of the next packet, where its start may be made up for; nothing where something else hangs
    /// on it than when its last bit leaves.
    FrameSize SizeIfLate(const QueuePair& queuePair) const;
    Frame* BuildDataFrame(QueuePair* queuePair, const Packet& packet);
    void TakeWay(const QueuePair& queuePair, const DataPort& port, Frame& frame) const;
    void LastPacketStarted(OutgoingMessage& message, RankId destination, TimePs end);
    void MessageHasLeft(uint64_t idAndDestination);
    void HandleAck(QueuePair* queuePair, const Acknowledgement& ack);
    /// Take note of an ACK; returns the list of messages that are thereby done.
    OutgoingMessage* AdvanceAcked(QueuePair* queuePair, uint64_t expected);
    void TellAcked(const QueuePair& queuePair, OutgoingMessage* done);
    void AckCameBack(uint64_t argument);
    void EchoCameBack(uint64_t argument);
    void ReleaseIfOver(QueuePair* queuePair);

    // Recovery.
    void GoBack(QueuePair* queuePair);
    void LearnReceived(QueuePair* queuePair, const Acknowledgement& ack);
    void Recover(QueuePair* queuePair);
    void AdvanceRepeat(QueuePair* queuePair) const;
    void PacketRepeated(QueuePair* queuePair, uint64_t psn);
    void RestartTime(QueuePair* queuePair) const;
    void ArmTimer(QueuePair* queuePair);
    void RearmTimer(QueuePair* queuePair);
    void TimerFired(uint64_t serialAndIndex);
    void TimedOut(QueuePair* queuePair);
    TimePs Timeout(const QueuePair& queuePair) const;

    // Congestion control.
    void CountFlow(QueuePair* queuePair) const;
    void PacketStarted(QueuePair* queuePair, Frame& frame);
    void ReportAck(QueuePair* queuePair,
                   const Acknowledgement& ack,
                   ByteCount newlyAcked,
                   uint64_t packets);
    void ReportLoss(QueuePair* queuePair, bool isTimeout);
    void ReceiveCnp(QueuePair* queuePair);
    /// The flow of a controlled queue pair; made now where nothing was controlled so far.
    ControlledFlow* FlowOf(QueuePair* queuePair);
    void Notify(ControlledFlow* flow, TimePs timersUntil);
    /// Call the control at each of its times up to one that have come, that one included.
    void CallTimers(ControlledFlow* flow, TimePs until);
    /// Ask the control what it says now; after each call of it.
    void ControlSpoke(ControlledFlow* flow, TimePs when);
    void UpdateFlow(ControlledFlow* flow);
    void ControlTimerFired(uint64_t index);
    void PaceTimerFired(uint64_t index);

    // Receiver.
    void ReceiveData(QueuePair* queuePair, Frame& frame);
    void ReceiveOutOfOrder(QueuePair* queuePair, Frame& frame, uint64_t psn);
    void Keep(QueuePair* queuePair, const Frame& frame, uint64_t psn);
    void Answer(QueuePair* queuePair, Frame& frame, FrameKind kind);
    void TakeEcho(QueuePair* queuePair, Frame& frame);
    bool IsEchoing() const;
    bool IsAckDueAfter(const QueuePair& queuePair) const;
    void NotifyCongestion(QueuePair* queuePair);
    void CnpDelayPassed(uint64_t index);
    void SendCnp(QueuePair* queuePair);
    void Acknowledge(QueuePair* queuePair, FrameKind kind);
    void AcknowledgeOutOfBand(QueuePair* queuePair, bool isMarked, FrameNotes* notes);
    Frame* NewReverseFrame(const QueuePair& queuePair, FrameKind kind);
    void Deliver(QueuePair* queuePair);
    void TellDelivered(MessageId id, ByteCount bytes);
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
    QpPolicy m_qpPolicy{QpPolicy::ROUND_ROBIN};
    Recovery m_recovery{Recovery::GO_BACK_N};
    Ptr<CongestionControl> m_control;
    CongestionScope m_scope{CongestionScope::QUEUE_PAIR};
    bool m_isCnpOnAck{false};
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
    FlatMap<QueuePair*> m_queuePairs; ///< By destination, priority and number.
    FlatMap<uint32_t> m_nextNumber;   ///< Of a message's queue pair, by destination and priority.
    /// Under CongestionScope peer, by destination and first port.
    std::unordered_map<uint64_t, ControlledFlow*> m_peerFlows;
    std::deque<MessageRequest> m_submitted; ///< Wait for the send latency, in order.
    /// Wait for the receive latency, in order: message and its bytes.
    std::deque<std::pair<MessageId, ByteCount>> m_arrived;
    NicCounters m_counters;

    MemberHandler<RoceNic, &RoceNic::SendLatencyPassed> m_sendLatencyHandler;
    MemberHandler<RoceNic, &RoceNic::ReceiveLatencyPassed> m_receiveLatencyHandler;
    MemberHandler<RoceNic, &RoceNic::TimerFired> m_timerHandler;
    MemberHandler<RoceNic, &RoceNic::AckCameBack> m_ackHandler;
    MemberHandler<RoceNic, &RoceNic::EchoCameBack> m_echoHandler;
    MemberHandler<RoceNic, &RoceNic::MessageHasLeft> m_leftHandler;
    MemberHandler<RoceNic, &RoceNic::ControlTimerFired> m_controlHandler;
    MemberHandler<RoceNic, &RoceNic::PaceTimerFired> m_paceHandler;
    MemberHandler<RoceNic, &RoceNic::CnpDelayPassed> m_cnpHandler;

    TracedCallback<uint32_t, uint32_t, uint32_t> m_postedTrace;
    TracedCallback<uint32_t, uint32_t, uint32_t> m_sentTrace;
    TracedCallback<uint32_t, uint32_t, uint32_t> m_ackedTrace;
    TracedCallback<uint32_t, uint32_t, uint32_t> m_deliveredTrace;
    TracedCallback<uint32_t, uint32_t> m_timeoutTrace;
    TracedCallback<uint32_t, uint32_t> m_goBackTrace;
    TracedCallback<uint32_t, uint32_t> m_repeatTrace;
    TracedCallback<uint32_t, uint32_t> m_cnpSentTrace;
    TracedCallback<uint32_t, uint32_t> m_cnpReceivedTrace;
    TracedCallback<uint32_t, int64_t> m_rateTrace;
};

} // namespace ns3

#endif // ASTRA_ROCE_NIC_H
