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
    Advance(id);
    Enter(id, port, frame, m_loop->Now());
    Rearm(id, port);
}

void
Fabric::Enter(ChannelId id, Port& port, Frame* frame, TimePs now)
{
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
        Transmit(id, port, frame, now);
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
        PlanPick(id, port, now);
    }
}

bool
Fabric::IsLost(ChannelId channel, const Port& port) const
{
    const int64_t number = port.counters.frames - 1 - port.counters.pfcFrames;
    return Draw(m_lossStream, channel, static_cast<uint64_t>(number)) < port.lossThreshold;
}

TimePs
Fabric::Transmit(ChannelId channel, Port& port, Frame* frame, TimePs now)
{
    if (port.release.ingress != NO_CHANNEL)
    {
        Settle(port);
    }
    const uint32_t lineBytes = port.LineBytes(*frame);
    port.isLastData = frame->IsData();
    WireTime& wire = port.wireTime[port.isLastData ? 0 : 1];
    if (lineBytes != wire.lineBytes)
    {
        wire = WireTime{lineBytes, FrameTime(port, lineBytes)};
    }
    const TimePs end = now + wire.time;
    port.busyUntil = end;
    port.sendingBytes = FrameBytes(*frame);
    port.sendingQueue = frame->priority;
    ChannelCounters& counters = port.counters;
    ++counters.frames;
    counters.lineBytes += lineBytes;
    counters.busy += wire.time;
    if (frame->IsData())
    {
        ++counters.dataFrames;
        counters.payloadBytes += frame->payloadBytes;
    }
    ++m_packetHops;
    if (frame->ingress != NO_CHANNEL)
    {
        LeaveNode(channel, port, *frame, now);
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
    Fly(channel, port, frame, now);
    return end;
}

void
Fabric::LeaveNode(ChannelId channel, Port& port, Frame& frame, TimePs now)
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
            now,
            port.counters.lineBytes - port.LastOnWire().lineBytes,
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
Fabric::Fly(ChannelId channel, Port& port, Frame* frame, TimePs now)
{
    if (port.peerCutThrough != 0 && !EndsAtPeer(*frame, port))
    {
        const TimePs header = SerializationTime(port.peerCutThrough, port.rate, m_rounding);
        if (header < port.LastOnWire().time)
        {
            m_loop->ScheduleArrival(now + header + port.delay + port.peerLatency,
                                    channel,
                                    true,
                                    m_cutThroughs,
                                    reinterpret_cast<uint64_t>(frame));
        }
    }
    const TimePs arrival = port.busyUntil + port.delay;
    port.flying.Push(TimedFrame{frame, arrival});
    if (port.flying.Size() == 1 && arrival < port.wakeTime)
    {
        ScheduleWake(channel, port, arrival);
    }
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
Fabric::Deliver(ChannelId channel, Port& port, Frame* frame)
{
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
    if (frame->path == nullptr && port.peerLatency > 0 && !port.IsLatencyApart())
    {
        // Nobody wants to know of it before: its way is chosen when it goes on.
        m_loop->ScheduleArrival(m_loop->Now() + port.peerLatency,
                                channel,
                                true,
                                m_lateRoutes,
                                reinterpret_cast<uint64_t>(frame));
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
    PassOn(port, frame);
}

void
Fabric::PassOn(const Port& port, Frame* frame)
{
    const ChannelId id = frame->channel;
    Port& egress = m_ports[id];
    ListUnsettled(id, egress);
    if (port.peerLatency == 0)
    {
        Enqueue(id, frame);
        return;
    }
    frame->isInPipeline = true;
    const TimedFrame entry{frame, m_loop->Now() + port.peerLatency};
    egress.coming.Push(entry);
    if (egress.IsTimely()) [[unlikely]]
    {
        ScheduleEntry(id, entry);
    }
    else if (egress.coming.Size() == 1 && egress.flying.IsEmpty())
    {
        Rearm(id, egress);
    }
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
Fabric::RouteLate(uint64_t argument)
{
    auto* frame = reinterpret_cast<Frame*>(argument);
    Route(frame);
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
    Advance(ahead->channel);
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
    Transmit(ahead->channel, egress, ahead, m_loop->Now());
}

} // namespace ns3
