// SPDX-License-Identifier: GPL-2.0-only
// Queue pairs of a RoceNic: which one a message takes, and what it knows of its ways.
#include "../fabric/fabric.h"
#include "controlled-flow.h"
#include "roce-nic.h"
#include "roce-transport.h"

#include <algorithm>
#include <limits>
#include <memory>

namespace ns3
{

namespace
{

/// A timeout of `auto` is this many unloaded round trips, plus the time to drain the queues.
constexpr int TIMEOUT_ROUND_TRIPS = 4;

/// Of a message's priority, 0..6, and of a queue pair's number, below the largest QpsPerPeer.
constexpr unsigned PRIORITY_BITS = 3;
constexpr unsigned NUMBER_BITS = 12;

} // namespace

QueuePair*
RoceNic::SelectQueuePair(const MessageRequest& request)
{
    const uint64_t peer = (static_cast<uint64_t>(request.dst) << PRIORITY_BITS) | request.priority;
    if (m_qpsPerPeer == 0)
    {
        QueuePair* queuePair = Connect(request, m_nextNumber[peer]++);
        // Frames of a connection that may repeat packets can come after its last ACK.
        queuePair->isTransient = !queuePair->isTimed;
        return queuePair;
    }
    // Queue pairs are taken in turn, so that they are made in order.
    const uint32_t number = m_qpsPerPeer == 1 ? 0 : m_nextNumber[peer]++ % m_qpsPerPeer;
    QueuePair*& queuePair = m_queuePairs[(peer << NUMBER_BITS) | number];
    if (queuePair == nullptr)
    {
        queuePair = Connect(request, number);
    }
    return queuePair;
}

QueuePair*
RoceNic::Connect(const MessageRequest& request, uint32_t number)
{
    QueuePair* queuePair = m_transport->NewQueuePair(request.src, request.dst, number);
    queuePair->priority = request.priority;
    queuePair->nextPsn = m_initialPsn;
    queuePair->unackedPsn = m_initialPsn;
    queuePair->highestPsn = m_initialPsn;
    queuePair->askedPsn = m_initialPsn;
    queuePair->postedPsn = m_initialPsn;
    queuePair->expectedPsn = m_initialPsn;
    SetWays(queuePair);
    if (queuePair->isSprayed || (m_recovery == Recovery::SELECTIVE_REPEAT && !queuePair->isScaleUp))
    {
        queuePair->kept = std::make_unique<KeptPackets>(m_initialPsn);
    }
    if (m_recovery == Recovery::SELECTIVE_REPEAT && !queuePair->isScaleUp)
    {
        queuePair->repeat = std::make_unique<SelectiveRepeat>(m_initialPsn);
    }
    if (queuePair->isTimed)
    {
        queuePair->baseTimeout = TIMEOUT_ROUND_TRIPS * UnloadedRoundTrip(*queuePair);
    }
    // Credits keep a scale-up link's rate; there is no window to fill and nothing to control.
    if (!queuePair->isScaleUp)
    {
        SetWindow(queuePair);
        if (m_control)
        {
            SetFlow(queuePair);
        }
    }
    return queuePair;
}

void
RoceNic::SetWays(QueuePair* queuePair)
{
    const auto isScaleUp = [this](const Way& way) {
        return std::all_of(way.path, way.path + way.hops, [this](ChannelId channel) {
            return m_fabric->GetPort(channel).efficiencyPpm != 0;
        });
    };
    queuePair->way.port = m_ports.at(queuePair->way.path[0]).get();
    queuePair->isScaleUp = isScaleUp(queuePair->way);
    queuePair->payload = queuePair->isScaleUp ? SCALE_UP_PAYLOAD : m_payload;
    if (queuePair->ways != nullptr)
    {
        for (Way& way : *queuePair->ways)
        {
            way.port = m_ports.at(way.path[0]).get();
        }
    }
    // Where no frame can be lost the timer could only ever find that nothing is missing.
    queuePair->isTimed = IsLossy(*queuePair) || (!m_timeout.IsNegative() && !queuePair->isScaleUp);
    queuePair->ackPathLatency = PathLatency(queuePair->ackPath, queuePair->ackHops);
}

void
RoceNic::SetWindow(QueuePair* queuePair) const
{
    if (m_windowPolicy == WindowPolicy::FIXED)
    {
        queuePair->window = static_cast<ByteCount>(m_window);
    }
    else if (m_windowPolicy == WindowPolicy::BDP)
    {
        BitRate rate = 0;
        for (const Way& way : queuePair->Ways())
        {
            BitRate slowest = std::numeric_limits<BitRate>::max();
            for (uint16_t hop = 0; hop < way.hops; ++hop)
            {
                slowest = std::min(slowest, m_fabric->GetPort(way.path[hop]).rate);
            }
            rate += slowest;
        }
        const auto bits = static_cast<Int128>(rate) * UnloadedRoundTrip(*queuePair) / PS_PER_S;
        queuePair->window = std::max<ByteCount>(1, static_cast<ByteCount>(bits / BITS_PER_BYTE));
    }
}

void
RoceNic::SetFlow(QueuePair* queuePair)
{
    queuePair->isControlled = true;
    queuePair->countedSentPsn = m_initialPsn;
    queuePair->countedAckedPsn = m_initialPsn;
    if (m_scope == CongestionScope::QUEUE_PAIR)
    {
        m_transport->CountControlledFlow();
        if (!m_control->ActsOnCnpOnly())
        {
            FlowOf(queuePair);
        }
        return;
    }
    const ChannelId port = queuePair->way.port->Channel();
    ControlledFlow*& shared = m_peerFlows[(static_cast<uint64_t>(queuePair->dst) << 32) | port];
    if (shared == nullptr)
    {
        m_transport->CountControlledFlow();
        shared = NewFlow(*queuePair);
        shared->isShared = true;
    }
    queuePair->flow = shared;
    shared->queuePairs.push_back(queuePair);
}

ControlledFlow*
RoceNic::FlowOf(QueuePair* queuePair)
{
    if (queuePair->flow == nullptr)
    {
        queuePair->flow = NewFlow(*queuePair);
        queuePair->flow->queuePairs.push_back(queuePair);
        for (const Way& way : queuePair->Ways())
        {
            way.port->Resize(*queuePair); // From now on its packets are told of in time.
        }
    }
    return queuePair->flow;
}

ControlledFlow*
RoceNic::NewFlow(const QueuePair& queuePair)
{
    FlowFigures figures;
    for (const Way& way : queuePair.Ways())
    {
        figures.lineRate += m_fabric->GetPort(way.port->Channel()).rate;
    }
    figures.baseRoundTrip = UnloadedRoundTrip(queuePair);
    figures.hops = queuePair.way.hops;
    figures.payload = queuePair.payload;
    figures.packetLineBytes =
        m_format.DataLine(queuePair.payload, false) + TelemetryBytes(queuePair);
    ControlledFlow* flow = m_transport->NewFlow();
    flow->control = m_control->NewFlow(figures);
    flow->isToldOfAcks = !m_control->ActsOnCnpOnly();
    flow->lineRate = figures.lineRate;
    flow->rate = flow->control->Rate();
    flow->record.src = queuePair.src;
    flow->record.dst = queuePair.dst;
    flow->record.number = queuePair.number;
    flow->record.priority = queuePair.priority;
    flow->record.Begin(flow->lineRate, flow->rate, flow->control->Window());
    ControlSpoke(flow, m_fabric->Loop().Now());
    return flow;
}

template <typename PREDICATE>
bool
RoceNic::HasChannel(const QueuePair& queuePair, const PREDICATE& predicate) const
{
    const uint8_t ackPriority = m_isAckClassShared ? queuePair.priority : ACK_PRIORITY;
    if (queuePair.isRoutedByHop)
    {
        const ChannelId channels = m_transport->Platform().Channels();
        for (ChannelId channel = 0; channel < channels; ++channel)
        {
            if (predicate(channel, queuePair.priority) || predicate(channel, ackPriority))
            {
                return true;
            }
        }
        return false;
    }
    const auto isOn = [&predicate](const ChannelId* path, uint16_t hops, uint8_t priority) {
        return std::any_of(path, path + hops, [&predicate, priority](ChannelId channel) {
            return predicate(channel, priority);
        });
    };
    const auto ways = queuePair.Ways();
    return isOn(queuePair.ackPath, queuePair.ackHops, ackPriority) ||
           std::any_of(ways.begin(), ways.end(), [&](const Way& way) {
               return isOn(way.path, way.hops, queuePair.priority);
           });
}

bool
RoceNic::IsLossy(const QueuePair& queuePair) const
{
    return HasChannel(queuePair, [this](ChannelId channel, uint8_t priority) {
        return m_fabric->CanLose(channel, priority);
    });
}

bool
RoceNic::HasDropped(const QueuePair& queuePair) const
{
    return HasChannel(queuePair, [this](ChannelId channel, uint8_t) {
        const ChannelCounters& counters = m_fabric->GetPort(channel).counters;
        return counters.droppedFrames + counters.bufferDrops != 0;
    });
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
RoceNic::UnloadedRoundTrip(const QueuePair& queuePair, const Way& way) const
{
    TimePs time = PathLatency(way.path, way.hops) + queuePair.ackPathLatency;
    Frame frame;
    frame.payloadBytes = queuePair.payload;
    frame.lineBytes = m_format.DataLine(queuePair.payload, false) + TelemetryBytes(queuePair);
    for (uint16_t hop = 0; hop < way.hops; ++hop)
    {
        time += m_fabric->SerializationOn(way.path[hop], frame);
    }
    if (m_ackPolicy != AckPolicy::OUT_OF_BAND)
    {
        frame.payloadBytes = 0;
        frame.lineBytes = m_format.AckLine() + TelemetryBytes(queuePair);
        for (uint16_t hop = 0; hop < queuePair.ackHops; ++hop)
        {
            time += m_fabric->SerializationOn(queuePair.ackPath[hop], frame);
        }
    }
    return time;
}

TimePs
RoceNic::UnloadedRoundTrip(const QueuePair& queuePair) const
{
    TimePs longest = 0;
    for (const Way& way : queuePair.Ways())
    {
        longest = std::max(longest, UnloadedRoundTrip(queuePair, way));
    }
    return longest;
}

uint32_t
RoceNic::TelemetryBytes(const QueuePair& queuePair) const
{
    return m_control && !queuePair.isScaleUp ? m_control->TelemetryBytes() : 0;
}

} // namespace ns3
