// SPDX-License-Identifier: GPL-2.0-only
#include "roce-nic.h"

#include "../core/errors.h"
#include "../fabric/fabric.h"
#include "psn.h"
#include "roce-transport.h"

#include "ns3/boolean.h"
#include "ns3/enum.h"
#include "ns3/integer.h"
#include "ns3/log.h"
#include "ns3/pointer.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

#include <memory>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RoceNic");

NS_OBJECT_ENSURE_REGISTERED(RoceNic);

TypeId
RoceNic::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::RoceNic")
            .SetParent<Object>()
            .SetGroupName("Roce")
            .AddConstructor<RoceNic>()
            .AddAttribute("Payload",
                          "Largest payload of a packet, in bytes.",
                          UintegerValue(4096),
                          MakeUintegerAccessor(&RoceNic::m_payload),
                          MakeUintegerChecker<uint32_t>(64, 65535))
            .AddAttribute("HeaderSize",
                          "Line bytes of a data packet beside its payload; -1 for RoCEv2's own.",
                          IntegerValue(-1),
                          MakeIntegerAccessor(&RoceNic::SetHeaderBytes),
                          MakeIntegerChecker<int64_t>(-1, 1 << 16))
            .AddAttribute("AckSize",
                          "Line bytes of an ACK; -1 for RoCEv2's own.",
                          IntegerValue(-1),
                          MakeIntegerAccessor(&RoceNic::SetAckBytes),
                          MakeIntegerChecker<int64_t>(-1, 1 << 16))
            .AddAttribute("AckPolicy",
                          "When a receiver acknowledges.",
                          EnumValue(AckPolicy::PER_PACKET),
                          MakeEnumAccessor<AckPolicy>(&RoceNic::m_ackPolicy),
                          MakeEnumChecker(AckPolicy::PER_PACKET,
                                          "per_packet",
                                          AckPolicy::EVERY,
                                          "every",
                                          AckPolicy::PER_MESSAGE,
                                          "per_message",
                                          AckPolicy::OUT_OF_BAND,
                                          "out_of_band"))
            .AddAttribute("AckEvery",
                          "Packets per ACK under AckPolicy every.",
                          UintegerValue(1),
                          MakeUintegerAccessor(&RoceNic::m_ackEvery),
                          MakeUintegerChecker<uint32_t>(1, 1U << 22))
            .AddAttribute("IsAckClassShared",
                          "Whether switches queue ACKs with the data, not in a class before it.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&RoceNic::m_isAckClassShared),
                          MakeBooleanChecker())
            .AddAttribute("WindowPolicy",
                          "What limits the unacknowledged payload of a queue pair.",
                          EnumValue(WindowPolicy::NONE),
                          MakeEnumAccessor<WindowPolicy>(&RoceNic::m_windowPolicy),
                          MakeEnumChecker(WindowPolicy::NONE,
                                          "none",
                                          WindowPolicy::BDP,
                                          "bdp",
                                          WindowPolicy::FIXED,
                                          "fixed"))
            .AddAttribute("Window",
                          "Unacknowledged payload per queue pair under WindowPolicy fixed, in "
                          "bytes.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&RoceNic::m_window),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("QpsPerPeer",
                          "Queue pairs to each destination; 0 makes a new one for each message.",
                          UintegerValue(1),
                          MakeUintegerAccessor(&RoceNic::m_qpsPerPeer),
                          MakeUintegerChecker<uint32_t>(0, 4096))
            .AddAttribute(
                "QpPolicy",
                "Whether a message takes the next of the queue pairs to its destination "
                "or a part of it each of them.",
                EnumValue(QpPolicy::ROUND_ROBIN),
                MakeEnumAccessor<QpPolicy>(&RoceNic::m_qpPolicy),
                MakeEnumChecker(QpPolicy::ROUND_ROBIN, "round_robin", QpPolicy::STRIPED, "striped"))
            .AddAttribute("Recovery",
                          "What a sender repeats after a loss: all from the first missing packet "
                          "on, or what is missing (IRN).",
                          EnumValue(Recovery::GO_BACK_N),
                          MakeEnumAccessor<Recovery>(&RoceNic::m_recovery),
                          MakeEnumChecker(Recovery::GO_BACK_N,
                                          "go_back_n",
                                          Recovery::SELECTIVE_REPEAT,
                                          "selective_repeat"))
            .AddAttribute("CongestionControl",
                          "The congestion control of this NIC's queue pairs; none by default.",
                          PointerValue(),
                          MakePointerAccessor(&RoceNic::m_control),
                          MakePointerChecker<CongestionControl>())
            .AddAttribute("CongestionScope",
                          "Whether each queue pair has a control of its own, or those to the same "
                          "rank by the same port share one.",
                          EnumValue(CongestionScope::QUEUE_PAIR),
                          MakeEnumAccessor<CongestionScope>(&RoceNic::m_scope),
                          MakeEnumChecker(CongestionScope::QUEUE_PAIR,
                                          "queue_pair",
                                          CongestionScope::PEER,
                                          "peer"))
            .AddAttribute("CnpOnAck",
                          "Whether a congestion notification is a flag in an ACK, not a frame.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&RoceNic::m_isCnpOnAck),
                          MakeBooleanChecker())
            .AddAttribute("InitialPsn",
                          "Sequence number of a queue pair's first packet, 24 bits.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&RoceNic::m_initialPsn),
                          MakeUintegerChecker<uint32_t>(0, PSN_MASK))
            .AddAttribute("Timeout",
                          "Retransmission timeout; negative for 4 unloaded round trips and the "
                          "time to drain the largest queues that the way has seen.",
                          TimeValue(TimeStep(static_cast<uint64_t>(-1))),
                          MakeTimeAccessor(&RoceNic::m_timeout),
                          MakeTimeChecker())
            .AddAttribute("SendLatency",
                          "From the post of a message to its first bit at the port, at the "
                          "earliest.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&RoceNic::m_sendLatency),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("ReceiveLatency",
                          "From a message's last byte to its delivery.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&RoceNic::m_receiveLatency),
                          MakeTimeChecker(Time(0)))
            .AddTraceSource("MessagePosted",
                            "A message is available to the NIC.",
                            MakeTraceSourceAccessor(&RoceNic::m_postedTrace),
                            "ns3::RoceNic::MessageTracedCallback")
            .AddTraceSource("MessageSent",
                            "A message's last bit has left, for the first time.",
                            MakeTraceSourceAccessor(&RoceNic::m_sentTrace),
                            "ns3::RoceNic::MessageTracedCallback")
            .AddTraceSource("MessageAcked",
                            "A message's last acknowledgement is back at the sender.",
                            MakeTraceSourceAccessor(&RoceNic::m_ackedTrace),
                            "ns3::RoceNic::MessageTracedCallback")
            .AddTraceSource("MessageDelivered",
                            "A message's last byte has come, at the receiver's NIC.",
                            MakeTraceSourceAccessor(&RoceNic::m_deliveredTrace),
                            "ns3::RoceNic::MessageTracedCallback")
            .AddTraceSource("Timeout",
                            "A queue pair's retransmission timer ran out.",
                            MakeTraceSourceAccessor(&RoceNic::m_timeoutTrace),
                            "ns3::RoceNic::QueuePairTracedCallback")
            .AddTraceSource("GoBack",
                            "A queue pair sends again from a packet on.",
                            MakeTraceSourceAccessor(&RoceNic::m_goBackTrace),
                            "ns3::RoceNic::QueuePairTracedCallback")
            .AddTraceSource("SelectiveRepeat",
                            "A queue pair sends one missing packet again.",
                            MakeTraceSourceAccessor(&RoceNic::m_repeatTrace),
                            "ns3::RoceNic::QueuePairTracedCallback")
            .AddTraceSource("CnpSent",
                            "The receiver of a queue pair tells of congestion.",
                            MakeTraceSourceAccessor(&RoceNic::m_cnpSentTrace),
                            "ns3::RoceNic::QueuePairTracedCallback")
            .AddTraceSource("CnpReceived",
                            "The sender of a queue pair is told of congestion.",
                            MakeTraceSourceAccessor(&RoceNic::m_cnpReceivedTrace),
                            "ns3::RoceNic::QueuePairTracedCallback")
            .AddTraceSource("Rate",
                            "The control of a queue pair gives another rate, in bit/s.",
                            MakeTraceSourceAccessor(&RoceNic::m_rateTrace),
                            "ns3::RoceNic::RateTracedCallback");
    return tid;
}

void
NicCounters::Add(const NicCounters& other)
{
    sentPayloadBytes += other.sentPayloadBytes;
    receivedPayloadBytes += other.receivedPayloadBytes;
    dataPackets += other.dataPackets;
    acksSent += other.acksSent;
    naksSent += other.naksSent;
    timeouts += other.timeouts;
    repeatedPackets += other.repeatedPackets;
    duplicatePackets += other.duplicatePackets;
    outOfOrderPackets += other.outOfOrderPackets;
    keptPackets += other.keptPackets;
    selectiveRepeats += other.selectiveRepeats;
    markedPackets += other.markedPackets;
    cnpsSent += other.cnpsSent;
}

RoceNic::RoceNic()
    : m_sendLatencyHandler(*this),
      m_receiveLatencyHandler(*this),
      m_timerHandler(*this),
      m_ackHandler(*this),
      m_echoHandler(*this),
      m_leftHandler(*this),
      m_controlHandler(*this),
      m_paceHandler(*this),
      m_cnpHandler(*this)
{
}

RoceNic::~RoceNic() = default;

void
RoceNic::DoDispose()
{
    m_ports.clear();
    m_queuePairs.Clear();
    m_nextNumber.Clear();
    m_peerFlows.clear();
    m_control = nullptr;
    m_fabric = nullptr;
    m_transport = nullptr;
    Object::DoDispose();
}

void
RoceNic::SetHeaderBytes(int64_t bytes)
{
    m_format.headerBytes = bytes;
}

void
RoceNic::SetAckBytes(int64_t bytes)
{
    m_format.ackBytes = bytes;
}

void
RoceNic::Install(RankId rank, Fabric& fabric, RoceTransport& transport)
{
    NS_LOG_FUNCTION(this << rank);
    m_rank = rank;
    m_fabric = &fabric;
    m_transport = &transport;
    if (m_qpPolicy == QpPolicy::STRIPED && m_qpsPerPeer == 0)
    {
        throw ConfigError("ns3::RoceNic::QpPolicy: striped needs a number of queue pairs, and "
                          "ns3::RoceNic::QpsPerPeer makes one for each message");
    }
    switch (m_ackPolicy)
    {
    case AckPolicy::PER_PACKET:
    case AckPolicy::OUT_OF_BAND:
        m_ackAfter = 1;
        break;
    case AckPolicy::EVERY:
        m_ackAfter = m_ackEvery;
        break;
    case AckPolicy::PER_MESSAGE:
        m_ackAfter = MAX_PACKETS_TO_ACK;
        break;
    }
    fabric.SetSink(rank, *this);
    for (const ChannelId channel : transport.Routes().ChannelsFrom(rank))
    {
        auto port = std::make_unique<DataPort>(*this, channel);
        fabric.SetSource(channel, *port);
        m_ports.emplace(channel, std::move(port));
    }
}

} // namespace ns3
