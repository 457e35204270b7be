// SPDX-License-Identifier: GPL-2.0-only
#include "roce-nic.h"

#include "../fabric/fabric.h"
#include "roce-transport.h"

#include "ns3/boolean.h"
#include "ns3/enum.h"
#include "ns3/integer.h"
#include "ns3/log.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RoceNic");

NS_OBJECT_ENSURE_REGISTERED(RoceNic);

namespace
{

constexpr uint32_t PSN_MASK = 0xffffff;

/// A timeout of `auto` is this many unloaded round trips, plus the time to drain the queues.
constexpr int TIMEOUT_ROUND_TRIPS = 4;
/// Doublings after which the timeout grows no further.
constexpr uint8_t MAX_BACKOFF = 16;
/// A receiver acknowledges at least this often, so that a sender never runs out of numbers.
constexpr uint64_t MAX_PACKETS_TO_ACK = MAX_UNACKED_PACKETS / 2;

/// The 64-bit number next to a reference whose lower 24 bits are those of a frame.
uint64_t
ExtendPsn(uint32_t psn, uint64_t reference)
{
    const auto difference =
        static_cast<int32_t>((psn - static_cast<uint32_t>(reference & PSN_MASK)) << 8) >> 8;
    return reference + static_cast<uint64_t>(static_cast<int64_t>(difference));
}

} // namespace

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
                          MakeUintegerChecker<uint32_t>(64, 9000))
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
                            "ns3::RoceNic::QueuePairTracedCallback");
    return tid;
}

RoceNic::RoceNic()
    : m_sendLatencyHandler(*this),
      m_receiveLatencyHandler(*this),
      m_timerHandler(*this),
      m_ackHandler(*this),
      m_leftHandler(*this)
{
}

RoceNic::~RoceNic() = default;

void
RoceNic::DoDispose()
{
    m_ports.clear();
    m_peers.clear();
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
    m_rank = rank;
    m_fabric = &fabric;
    m_transport = &transport;
    fabric.SetSink(rank, *this);
    const PlatformDescription& platform = transport.Platform();
    for (ChannelId channel = 0; channel < platform.Channels(); ++channel)
    {
        if (platform.Transmitter(channel) == platform.rankNode[rank])
        {
            auto port = std::make_unique<DataPort>(*this, channel);
            fabric.SetSource(channel, *port);
            m_ports.emplace(channel, std::move(port));
        }
    }
}

// ---------------------------------------------------------------------------------------- sender

void
RoceNic::Post(const MessageRequest& request)
{
    if (m_sendLatency.IsZero())
    {
        Submit(request);
        return;
    }
    EventLoop& loop = m_fabric->Loop();
    m_submitted.push_back(request);
    loop.ScheduleTimer(loop.Now() + m_sendLatency.GetTimeStep(), m_sendLatencyHandler, 0);
}

void
RoceNic::SendLatencyPassed(uint64_t)
{
    const MessageRequest request = m_submitted.front();
    m_submitted.pop_front();
    Submit(request);
}

void
RoceNic::Submit(const MessageRequest& request)
{
    m_postedTrace(request.id, request.src, request.dst);
    QueuePair* queuePair = SelectQueuePair(request);
    OutgoingMessage* message = m_transport->NewMessage();
    message->id = request.id;
    message->size = request.size;
    message->bytesBefore = queuePair->postedBytes;
    message->firstPsn = queuePair->postedPsn;
    message->packets = static_cast<uint64_t>(LineFormat::PacketsOf(request.size, m_payload));
    queuePair->postedBytes += request.size;
    queuePair->postedPsn = message->EndPsn();
    if (queuePair->tail == nullptr)
    {
        queuePair->head = message;
    }
    else
    {
        queuePair->tail->next = message;
    }
    queuePair->tail = message;
    if (queuePair->sending == nullptr)
    {
        queuePair->sending = message;
    }
    if (queuePair->receiving == nullptr)
    {
        queuePair->receiving = message;
    }
    UpdateReady(queuePair);
}

QueuePair*
RoceNic::SelectQueuePair(const MessageRequest& request)
{
    const uint64_t key = (static_cast<uint64_t>(request.dst) << 8) | request.priority;
    Peer& peer = m_peers[key];
    if (m_qpsPerPeer == 0)
    {
        QueuePair* queuePair = Connect(request, peer.nextNumber++);
        // Frames of a connection that may repeat packets can come after its last ACK.
        queuePair->isTransient = !queuePair->isTimed;
        return queuePair;
    }
    const uint32_t number = peer.nextNumber++ % m_qpsPerPeer;
    if (number == peer.queuePairs.size())
    {
        peer.queuePairs.push_back(Connect(request, number));
    }
    return peer.queuePairs[number];
}

QueuePair*
RoceNic::Connect(const MessageRequest& request, uint32_t number)
{
    QueuePair* queuePair = m_transport->NewQueuePair(request.src, request.dst, number);
    queuePair->priority = request.priority;
    bool isLossy = false;
    for (uint16_t hop = 0; hop < queuePair->hops; ++hop)
    {
        isLossy |= m_fabric->GetPort(queuePair->path[hop]).lossThreshold != 0;
    }
    for (uint16_t hop = 0; hop < queuePair->ackHops; ++hop)
    {
        isLossy |= m_fabric->GetPort(queuePair->ackPath[hop]).lossThreshold != 0;
    }
    // Where no frame can be lost the timer could only ever find that nothing is missing.
    queuePair->isTimed = isLossy || !m_timeout.IsNegative();
    queuePair->ackPathLatency = PathLatency(queuePair->ackPath, queuePair->ackHops);
    const TimePs roundTrip = UnloadedRoundTrip(*queuePair);
    queuePair->baseTimeout = TIMEOUT_ROUND_TRIPS * roundTrip;
    if (m_windowPolicy == WindowPolicy::FIXED)
    {
        queuePair->window = static_cast<ByteCount>(m_window);
    }
    else if (m_windowPolicy == WindowPolicy::BDP)
    {
        BitRate slowest = std::numeric_limits<BitRate>::max();
        for (uint16_t hop = 0; hop < queuePair->hops; ++hop)
        {
            slowest = std::min(slowest, m_fabric->GetPort(queuePair->path[hop]).rate);
        }
        const auto bits = static_cast<Int128>(slowest) * roundTrip / PS_PER_S;
        queuePair->window = std::max<ByteCount>(1, static_cast<ByteCount>(bits / BITS_PER_BYTE));
    }
    return queuePair;
}

TimePs
RoceNic::PathLatency(const ChannelId* path, uint16_t hops) const
{
    TimePs latency = 0;
    for (uint16_t hop = 0; hop < hops; ++hop)
    {
        const Port& port = m_fabric->GetPort(path[hop]);
        latency += port.delay + (hop + 1 < hops ? port.peerLatency : 0);
    }
    return latency;
}

TimePs
RoceNic::UnloadedRoundTrip(const QueuePair& queuePair) const
{
    TimePs time = PathLatency(queuePair.path, queuePair.hops) + queuePair.ackPathLatency;
    for (uint16_t hop = 0; hop < queuePair.hops; ++hop)
    {
        time += m_fabric->SerializationOn(queuePair.path[hop], m_format.DataLine(m_payload, false));
    }
    if (m_ackPolicy != AckPolicy::OUT_OF_BAND)
    {
        for (uint16_t hop = 0; hop < queuePair.ackHops; ++hop)
        {
            time += m_fabric->SerializationOn(queuePair.ackPath[hop], m_format.AckLine());
        }
    }
    return time;
}

bool
RoceNic::CanSend(const QueuePair& queuePair) const
{
    return queuePair.sending != nullptr &&
           (queuePair.window == 0 ||
            queuePair.sentBytes - queuePair.ackedBytes < queuePair.window) &&
           queuePair.nextPsn - queuePair.unackedPsn < MAX_UNACKED_PACKETS;
}

void
RoceNic::UpdateReady(QueuePair* queuePair)
{
    const bool canSend = CanSend(*queuePair);
    if (canSend == queuePair->isReady)
    {
        return;
    }
    DataPort& port = *m_ports.at(queuePair->path[0]);
    if (canSend)
    {
        port.Insert(queuePair);
    }
    else
    {
        port.Remove(queuePair);
    }
}

int
RoceNic::DataPort::ReadyPriority() const
{
    return static_cast<int>(std::bit_width(m_ready)) - 1;
}

void
RoceNic::DataPort::Insert(QueuePair* queuePair)
{
    queuePair->isReady = true;
    m_ring[queuePair->priority].Insert(queuePair);
    m_ready |= 1U << queuePair->priority;
    m_nic.m_fabric->Kick(m_port);
}

void
RoceNic::DataPort::Remove(QueuePair* queuePair)
{
    queuePair->isReady = false;
    ReadyRing& ring = m_ring[queuePair->priority];
    ring.Remove(queuePair);
    if (ring.IsEmpty())
    {
        m_ready &= ~(1U << queuePair->priority);
    }
}

Frame*
RoceNic::DataPort::NextFrame()
{
    const auto priority = static_cast<size_t>(ReadyPriority());
    ReadyRing& ring = m_ring[priority];
    QueuePair* queuePair = ring.Serve();
    m_lastStarted = queuePair->sending;
    Frame* frame = m_nic.BuildDataFrame(queuePair);
    if (!m_nic.CanSend(*queuePair))
    {
        queuePair->isReady = false;
        ring.RemoveServed();
        if (ring.IsEmpty())
        {
            m_ready &= ~(1U << priority);
        }
    }
    return frame;
}

void
RoceNic::DataPort::LastFrameStarted(TimePs end)
{
    if (!m_lastStarted->isSent)
    {
        m_lastStarted->isSent = true;
        m_nic.m_fabric->Loop().ScheduleTimer(end, m_nic.m_leftHandler, m_lastStarted->id);
    }
}

void
RoceNic::MessageHasLeft(uint64_t id)
{
    m_transport->Listener().MessageSent(static_cast<MessageId>(id));
}

Frame*
RoceNic::BuildDataFrame(QueuePair* queuePair)
{
    OutgoingMessage* message = queuePair->sending;
    const uint64_t offset = queuePair->nextPsn - message->firstPsn;
    const bool isLast = offset + 1 == message->packets;
    const auto payload = static_cast<uint32_t>(
        isLast ? message->size - static_cast<ByteCount>(offset) * m_payload : m_payload);
    Frame* frame = m_fabric->NewFrame();
    frame->path = queuePair->path;
    frame->hops = queuePair->hops;
    frame->flow = queuePair->index;
    frame->psn = static_cast<uint32_t>(queuePair->nextPsn & PSN_MASK);
    frame->payloadBytes = payload;
    frame->lineBytes = m_format.DataLine(payload, offset == 0);
    frame->src = queuePair->src;
    frame->dst = queuePair->dst;
    frame->kind = FrameKind::DATA;
    frame->priority = queuePair->priority;
    frame->transitPriority = queuePair->priority;
    frame->isLast = isLast;
    if (queuePair->nextPsn < queuePair->highestPsn)
    {
        frame->isRepetition = true;
        ++m_counters.repeatedPackets;
        m_transport->Listener().PacketRepeated(message->id);
    }
    else
    {
        m_counters.sentPayloadBytes += payload;
        queuePair->highestPsn = queuePair->nextPsn + 1;
    }
    ++queuePair->nextPsn;
    queuePair->sentBytes += payload;
    if (isLast)
    {
        queuePair->sending = message->next;
    }
    if (queuePair->isTimed)
    {
        queuePair->lastProgress = m_fabric->Loop().Now();
        ArmTimer(queuePair);
    }
    return frame;
}

void
RoceNic::HandleAck(QueuePair* queuePair, uint32_t psn, bool isNak)
{
    const uint64_t expected = ExtendPsn(psn, queuePair->unackedPsn);
    if (expected < queuePair->unackedPsn || expected > queuePair->highestPsn)
    {
        return; // Older than what is known already.
    }
    OutgoingMessage* done = nullptr;
    if (expected > queuePair->unackedPsn)
    {
        done = AdvanceAcked(queuePair, expected);
    }
    if (isNak)
    {
        GoBack(queuePair);
    }
    UpdateReady(queuePair);
    const bool isOver = queuePair->isTransient && queuePair->head == nullptr;
    // Told last: whoever hears of it may post to this very queue pair.
    while (done != nullptr)
    {
        OutgoingMessage* message = done;
        done = message->next;
        const MessageId id = message->id;
        m_transport->Release(message);
        m_transport->Listener().MessageAcked(id);
    }
    if (isOver)
    {
        m_transport->Release(queuePair);
    }
}

OutgoingMessage*
RoceNic::AdvanceAcked(QueuePair* queuePair, uint64_t expected)
{
    queuePair->unackedPsn = expected;
    queuePair->lastProgress = m_fabric->Loop().Now();
    queuePair->backoff = 0;
    OutgoingMessage* const first = queuePair->head;
    OutgoingMessage* last = nullptr;
    while (queuePair->head != nullptr && queuePair->head->EndPsn() <= expected)
    {
        last = queuePair->head;
        queuePair->head = last->next;
    }
    const OutgoingMessage* head = queuePair->head;
    if (head == nullptr)
    {
        queuePair->tail = nullptr;
        queuePair->ackedBytes = queuePair->postedBytes;
    }
    else
    {
        const auto packets =
            static_cast<ByteCount>(expected > head->firstPsn ? expected - head->firstPsn : 0);
        queuePair->ackedBytes = head->bytesBefore + std::min(packets * m_payload, head->size);
    }
    if (queuePair->nextPsn < expected)
    {
        // Was to be repeated from further back, and need not be.
        queuePair->nextPsn = expected;
        queuePair->sentBytes = queuePair->ackedBytes;
        queuePair->sending = queuePair->head;
    }
    if (last == nullptr)
    {
        return nullptr;
    }
    last->next = nullptr;
    return first;
}

void
RoceNic::GoBack(QueuePair* queuePair)
{
    m_goBackTrace(queuePair->index, static_cast<uint32_t>(queuePair->unackedPsn & PSN_MASK));
    queuePair->nextPsn = queuePair->unackedPsn;
    queuePair->sentBytes = queuePair->ackedBytes;
    queuePair->sending = queuePair->head;
}

TimePs
RoceNic::Timeout(const QueuePair& queuePair) const
{
    TimePs timeout = m_timeout.GetTimeStep();
    if (m_timeout.IsNegative())
    {
        timeout = queuePair.baseTimeout;
        for (uint16_t hop = 0; hop < queuePair.hops; ++hop)
        {
            timeout += m_fabric->LargestBacklog(queuePair.path[hop]);
        }
        for (uint16_t hop = 0; hop < queuePair.ackHops; ++hop)
        {
            timeout += m_fabric->LargestBacklog(queuePair.ackPath[hop]);
        }
    }
    return timeout << queuePair.backoff;
}

void
RoceNic::ArmTimer(QueuePair* queuePair)
{
    if (!queuePair->isTimerPending)
    {
        queuePair->isTimerPending = true;
        m_fabric->Loop().ScheduleTimer(queuePair->lastProgress + Timeout(*queuePair),
                                       m_timerHandler,
                                       queuePair->index);
    }
}

void
RoceNic::TimerFired(uint64_t index)
{
    QueuePair* queuePair = m_transport->QueuePairAt(static_cast<uint32_t>(index));
    queuePair->isTimerPending = false;
    if (queuePair->unackedPsn == queuePair->nextPsn)
    {
        return; // Nothing is on its way.
    }
    if (m_fabric->Loop().Now() >= queuePair->lastProgress + Timeout(*queuePair))
    {
        ++m_counters.timeouts;
        m_timeoutTrace(queuePair->index, static_cast<uint32_t>(queuePair->unackedPsn & PSN_MASK));
        queuePair->backoff = std::min<uint8_t>(queuePair->backoff + 1, MAX_BACKOFF);
        queuePair->lastProgress = m_fabric->Loop().Now();
        GoBack(queuePair);
        UpdateReady(queuePair);
    }
    ArmTimer(queuePair);
}

void
RoceNic::AckCameBack(uint64_t argument)
{
    QueuePair* queuePair = m_transport->QueuePairAt(static_cast<uint32_t>(argument >> 32));
    HandleAck(queuePair, static_cast<uint32_t>(argument & PSN_MASK), false);
}

// -------------------------------------------------------------------------------------- receiver

void
RoceNic::ReceiveFrame(const Frame& frame)
{
    QueuePair* queuePair = m_transport->QueuePairAt(frame.flow);
    if (frame.kind == FrameKind::DATA)
    {
        ReceiveData(queuePair, frame);
    }
    else
    {
        HandleAck(queuePair, frame.psn, frame.kind == FrameKind::NAK);
    }
}

void
RoceNic::ReceiveData(QueuePair* queuePair, const Frame& frame)
{
    const uint64_t psn = ExtendPsn(frame.psn, queuePair->expectedPsn);
    if (psn > queuePair->expectedPsn)
    {
        ++m_counters.outOfOrderPackets;
        if (!queuePair->isNakSent)
        {
            queuePair->isNakSent = true;
            Acknowledge(queuePair, FrameKind::NAK);
        }
        return;
    }
    if (psn < queuePair->expectedPsn)
    {
        ++m_counters.duplicatePackets;
        Acknowledge(queuePair, FrameKind::ACK);
        return;
    }
    ++queuePair->expectedPsn;
    queuePair->isNakSent = false;
    queuePair->receivedBytes += frame.payloadBytes;
    m_counters.receivedPayloadBytes += frame.payloadBytes;
    ++queuePair->packetsToAck;
    const bool isDue =
        frame.isLast || m_ackPolicy == AckPolicy::PER_PACKET ||
        (m_ackPolicy == AckPolicy::OUT_OF_BAND && (queuePair->window != 0 || queuePair->isTimed)) ||
        (m_ackPolicy == AckPolicy::EVERY && queuePair->packetsToAck >= m_ackEvery) ||
        queuePair->packetsToAck >= MAX_PACKETS_TO_ACK;
    if (isDue)
    {
        Acknowledge(queuePair, FrameKind::ACK);
    }
    if (!frame.isLast)
    {
        return;
    }
    const OutgoingMessage* message = queuePair->receiving;
    const ByteCount bytes = queuePair->receivedBytes;
    queuePair->receiving = message->next;
    queuePair->receivedBytes = 0;
    m_deliveredTrace(message->id, queuePair->src, queuePair->dst);
    if (m_receiveLatency.IsZero())
    {
        m_transport->Listener().MessageDelivered(message->id, bytes);
        return;
    }
    EventLoop& loop = m_fabric->Loop();
    m_arrived.emplace_back(message->id, bytes);
    loop.ScheduleTimer(loop.Now() + m_receiveLatency.GetTimeStep(), m_receiveLatencyHandler, 0);
}

void
RoceNic::ReceiveLatencyPassed(uint64_t)
{
    const auto [id, bytes] = m_arrived.front();
    m_arrived.pop_front();
    m_transport->Listener().MessageDelivered(id, bytes);
}

void
RoceNic::Acknowledge(QueuePair* queuePair, FrameKind kind)
{
    queuePair->packetsToAck = 0;
    const auto psn = static_cast<uint32_t>(queuePair->expectedPsn & PSN_MASK);
    ++(kind == FrameKind::NAK ? m_counters.naksSent : m_counters.acksSent);
    if (m_ackPolicy == AckPolicy::OUT_OF_BAND && kind == FrameKind::ACK)
    {
        EventLoop& loop = m_fabric->Loop();
        loop.ScheduleTimer(loop.Now() + queuePair->ackPathLatency,
                           m_transport->NicOf(queuePair->src).m_ackHandler,
                           (static_cast<uint64_t>(queuePair->index) << 32) | psn);
        return;
    }
    Frame* frame = m_fabric->NewFrame();
    frame->path = queuePair->ackPath;
    frame->hops = queuePair->ackHops;
    frame->flow = queuePair->index;
    frame->psn = psn;
    frame->lineBytes = m_format.AckLine();
    frame->src = queuePair->dst;
    frame->dst = queuePair->src;
    frame->kind = kind;
    frame->priority = ACK_PRIORITY;
    frame->transitPriority = m_isAckClassShared ? queuePair->priority : ACK_PRIORITY;
    m_fabric->Inject(frame);
}

} // namespace ns3
