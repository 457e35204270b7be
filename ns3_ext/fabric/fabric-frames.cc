// SPDX-License-Identifier: GPL-2.0-only
// The way of a frame through Fabric: its queues, its wire, the node at the far end.
#include "../core/hash.h"
#include "fabric-device.h"
#include "fabric.h"
#include "frame-watch.h"

#include <algorithm>
#include <bit>

namespace ns3
{

namespace
{

/// Preamble and gap of frames whose size is always their protocol's own: CNPs and segments.
constexpr uint32_t OWN_GAP = 20;

} // namespace

uint32_t
Fabric::FrameBytes(const Frame& frame) const
{
    switch (frame.kind)
    {
    case FrameKind::DATA:
        return frame.lineBytes - std::min(frame.lineBytes, m_figures.dataGap);
    case FrameKind::ACK:
    case FrameKind::NAK:
        return frame.lineBytes - std::min(frame.lineBytes, m_figures.ackGap);
    case FrameKind::CNP:
    case FrameKind::SEGMENT:
        return frame.lineBytes - OWN_GAP;
    case FrameKind::PAUSE:
        break;
    }
    return 0; // No buffer holds it.
}

bool
Fabric::CameByEthernet(const Frame& frame) const
{
    return frame.ingress != NO_CHANNEL && m_ports[frame.ingress].efficiencyPpm == 0;
}

void
Fabric::Mark(Port& port, Frame& frame, ByteCount depth)
{
    if (port.extras->marker.Marks(depth))
    {
        frame.isMarked = true;
        ++port.counters.markedFrames;
        if (port.isTraced)
        {
            port.device->NotifyMark(frame);
        }
    }
}

void
Fabric::Enqueue(ChannelId id, Frame* frame)
{
    Port& port = m_ports[id];
    const TimePs now = m_loop->Now();
    const uint8_t priority = frame->priority;
    const uint32_t bytes = FrameBytes(*frame);
    // A frame that is being sent still takes its place in the buffer.
    const ByteCount sending = port.busyUntil > now ? port.sendingBytes : 0;
    port.counters.maxQueueBytes =
        std::max(port.counters.maxQueueBytes, port.waitingBytes + sending + bytes);
    if (port.isTraced) [[unlikely]]
    {
        port.device->NotifyEnqueue(*frame);
        if (m_watch != nullptr && m_watch->Watches(id))
        {
            m_watch->Enqueued(*frame, now);
        }
    }
    if (port.marksAtEnqueue && frame->isEcnCapable && CameByEthernet(*frame))
    {
        Mark(port, *frame, port.Depth(priority, now));
    }
    const bool isPaused =
        priority != CONTROL_QUEUE && (port.pausedClasses >> frame->transitPriority & 1) != 0;
    if (port.busyUntil <= now && !port.isPickPending && !isPaused)
    {
        Transmit(id, port, frame);
        return;
    }
    port.queue[priority].Push(frame);
    port.waiting |= 1U << priority;
    port.queueBytes[priority] += bytes;
    port.waitingBytes += bytes;
    if (port.pausedClasses != 0) [[unlikely]]
    {
        HoldAcks(port);
    }
    if (!isPaused)
    {
        Kick(id);
    }
}

uint8_t
Fabric::ChoosePriority(Port& port, uint32_t eligible)
{
    const auto highest = static_cast<uint8_t>(std::bit_width(eligible) - 1);
    if (port.extras->scheduler && highest < ACK_PRIORITY) [[unlikely]]
    {
        return port.extras->scheduler->Choose(eligible);
    }
    return highest;
}

void
Fabric::Pick(uint64_t argument)
{
    const auto id = static_cast<ChannelId>(argument);
    Port& port = m_ports[id];
    port.isPickPending = false;
    const uint32_t eligible = port.EligibleMask();
    if (eligible == 0)
    {
        return;
    }
    const uint8_t priority = ChoosePriority(port, eligible);
    if ((port.waiting >> priority & 1) != 0)
    {
        FrameFifo& fifo = port.queue[priority];
        const bool isMixed = port.pausedClasses != 0 && priority == ACK_PRIORITY;
        Frame* frame = isMixed ? fifo.PopOutside(port.pausedClasses) : fifo.Pop();
        if (fifo.IsEmpty())
        {
            port.waiting &= ~(1U << priority);
        }
        const uint32_t bytes = FrameBytes(*frame);
        port.queueBytes[priority] -= bytes;
        port.waitingBytes -= bytes;
        HoldAcks(port);
        Transmit(id, port, frame);
    }
    else
    {
        Frame* frame = port.source->NextFrame(priority);
        frame->channel = id;
        const TimePs end = Transmit(id, port, frame);
        if (frame->isLast)
        {
            port.source->LastFrameStarted(end);
        }
    }
    if (port.EligibleMask() != 0)
    {
        Kick(id);
    }
}

bool
Fabric::IsLost(ChannelId channel, const Port& port) const
{
    const int64_t number = port.counters.frames - 1 - port.counters.pfcFrames;
    return Draw(m_lossStream, channel, static_cast<uint64_t>(number)) < port.lossThreshold;
}

TimePs
Fabric::Transmit(ChannelId channel, Port& port, Frame* frame)
{
    const TimePs now = m_loop->Now();
    if (port.release.ingress != NO_CHANNEL)
    {
        Settle(port);
    }
    const uint32_t lineBytes = port.LineBytes(*frame);
    if (lineBytes != port.lastLineBytes)
    {
        port.lastLineBytes = lineBytes;
        port.lastSerialization = SerializationTime(lineBytes, port.rate, m_rounding);
    }
    const TimePs end = now + port.lastSerialization;
    port.busyUntil = end;
    port.sendingBytes = FrameBytes(*frame);
    port.sendingQueue = frame->priority;
    ChannelCounters& counters = port.counters;
    ++counters.frames;
    counters.lineBytes += lineBytes;
    counters.busy += port.lastSerialization;
    if (frame->IsData())
    {
        ++counters.dataFrames;
        counters.payloadBytes += frame->payloadBytes;
    }
    ++m_packetHops;
    if (frame->ingress != NO_CHANNEL)
    {
        LeaveNode(channel, port, *frame);
    }
    else if (frame->kind == FrameKind::SEGMENT)
    {
        m_segmentOwner->SegmentStarted(*frame, end);
    }
    if (port.extras->scheduler) [[unlikely]]
    {
        port.extras->scheduler->Pay(frame->priority, lineBytes);
    }
    if (port.isTraced) [[unlikely]]
    {
        port.device->NotifyTransmit(*frame);
        if (m_watch != nullptr && m_watch->Watches(channel))
        {
            m_watch->Started(channel, *frame, lineBytes, now, end);
        }
    }
    if (frame->kind == FrameKind::PAUSE) [[unlikely]]
    {
        ++counters.pfcFrames;
        SchedulePauseEffect(channel, port, frame);
        return end;
    }
    if (port.lossThreshold != 0 && IsLost(channel, port)) [[unlikely]]
    {
        ++counters.droppedFrames;
        if (port.isTraced)
        {
            port.device->NotifyDrop(*frame);
        }
        // It is on the wire, and in the buffer it came from, as long as any other.
        m_loop->ScheduleArrival(end, channel, false, m_losses, reinterpret_cast<uint64_t>(frame));
        return end;
    }
    ScheduleArrival(channel, port, frame);
    return end;
}

void
Fabric::LeaveNode(ChannelId channel, Port& port, Frame& frame)
{
    if (frame.isCharged)
    {
        HoldUntilSent(channel, port, frame);
    }
    if (port.marksAtDequeue && frame.isEcnCapable && CameByEthernet(frame))
    {
        Mark(port, frame, port.queueBytes[frame.priority]);
    }
    FrameNotes* notes = frame.notes;
    if (notes != nullptr && notes->isTelemetryWanted && notes->hops < MAX_TELEMETRY_HOPS)
    {
        notes->telemetry[notes->hops++] = TelemetryHop{
            m_loop->Now(),
            port.counters.lineBytes - port.lastLineBytes,
            port.waitingBytes,
            port.rate,
        };
        notes->path = Mix64(notes->path ^ channel);
    }
}

bool
Fabric::EndsAtPeer(const Frame& frame, const Port& port) const
{
    return frame.path != nullptr ? frame.hop + 1 == frame.hops : port.peer == m_rankNode[frame.dst];
}

void
Fabric::ScheduleArrival(ChannelId channel, const Port& port, Frame* frame)
{
    const auto argument = reinterpret_cast<uint64_t>(frame);
    const TimePs arrival = port.busyUntil + port.delay;
    if (EndsAtPeer(*frame, port))
    {
        m_loop->ScheduleArrival(arrival, channel, false, m_arrivals, argument);
        return;
    }
    if (port.peerCutThrough != 0)
    {
        const TimePs header = SerializationTime(port.peerCutThrough, port.rate, m_rounding);
        if (header < port.lastSerialization)
        {
            m_loop->ScheduleArrival(m_loop->Now() + header + port.delay + port.peerLatency,
                                    channel,
                                    true,
                                    m_cutThroughs,
                                    argument);
        }
    }
    // A buffer wants to know of the last byte, nobody else before the forwarding latency is over.
    const TimePs latency = port.IsLatencyApart() ? 0 : port.peerLatency;
    m_loop->ScheduleArrival(arrival + latency, channel, latency > 0, m_arrivals, argument);
}

bool
Fabric::WouldCutThroughLater(const Port& port, const Frame& frame) const
{
    if (port.peerCutThrough == 0)
    {
        return false;
    }
    const TimePs header = SerializationTime(port.peerCutThrough, port.rate, m_rounding);
    const TimePs whole = SerializationTime(port.LineBytes(frame), port.rate, m_rounding);
    return header < whole && header + port.peerLatency > whole;
}

void
Fabric::Arrive(uint64_t argument)
{
    auto* frame = reinterpret_cast<Frame*>(argument);
    const ChannelId channel = frame->channel;
    Port& port = m_ports[channel];
    if (frame->IsData())
    {
        port.counters.deliveredPayloadBytes += frame->payloadBytes;
    }
    if (port.isTraced) [[unlikely]]
    {
        port.device->NotifyArrival(*frame);
    }
    if (EndsAtPeer(*frame, port))
    {
        m_sinks[frame->dst]->ReceiveFrame(*frame);
        Free(frame);
        return;
    }
    if (frame->isGone)
    {
        Free(frame);
        return;
    }
    Route(frame);
    if (port.peerBuffer != nullptr && !Admit(*frame))
    {
        if (WouldCutThroughLater(port, *frame))
        {
            frame->isGone = true; // That event frees it.
            return;
        }
        Free(frame);
        return;
    }
    if (port.IsLatencyApart())
    {
        frame->isInPipeline = true;
        m_loop->ScheduleArrival(m_loop->Now() + port.peerLatency,
                                channel,
                                true,
                                m_forwards,
                                argument);
        return;
    }
    Enqueue(frame->channel, frame);
}

void
Fabric::Route(Frame* frame)
{
    frame->priority = frame->transitPriority;
    frame->ingress = frame->channel;
    ++frame->hop;
    frame->channel = frame->path != nullptr ? frame->path[frame->hop] : m_nextHop->Choose(*frame);
}

void
Fabric::Forward(uint64_t argument)
{
    auto* frame = reinterpret_cast<Frame*>(argument);
    if (frame->isGone)
    {
        Free(frame);
        return;
    }
    frame->isInPipeline = false;
    Enqueue(frame->channel, frame);
}

void
Fabric::CutThrough(uint64_t argument)
{
    auto* frame = reinterpret_cast<Frame*>(argument);
    if (frame->isGone)
    {
        Free(frame);
        return;
    }
    // The copy goes on; the frame itself stays for what happens when its last byte is in.
    Frame* ahead = m_frames.Take();
    *ahead = *frame;
    if (frame->isInPipeline)
    {
        ahead->isInPipeline = false;
    }
    else
    {
        Route(ahead);
    }
    Port& egress = m_ports[ahead->channel];
    const bool isIdle = egress.busyUntil <= m_loop->Now() && !egress.isPickPending &&
                        (egress.pausedClasses >> ahead->priority & 1) == 0;
    if (!isIdle || egress.efficiencyPpm != 0 || egress.rate > m_ports[ahead->ingress].rate)
    {
        ahead->notes = nullptr; // Still the frame's own.
        m_frames.Give(ahead);
        return;
    }
    frame->isGone = true;
    frame->isCharged = false;
    frame->notes = nullptr;
    Transmit(ahead->channel, egress, ahead);
}

} // namespace ns3
