// SPDX-License-Identifier: GPL-2.0-only
#include "fabric.h"

#include "../core/errors.h"
#include "../core/hash.h"
#include "fabric-device.h"

#include "ns3/enum.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(Fabric);

namespace
{

/// Keep the draws of losses and of marks apart from everything else that hashes the run's seed.
constexpr uint64_t LOSS_STREAM = 0x6c6f7373;
constexpr uint64_t ECN_STREAM = 0x65636e;
/// Preamble and gap of a CNP, whose size is always RoCEv2's own.
constexpr uint32_t CNP_GAP = 20;

} // namespace

TypeId
Fabric::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::Fabric")
            .SetParent<Object>()
            .SetGroupName("Fabric")
            .AddConstructor<Fabric>()
            .AddAttribute("TimeRounding",
                          "How a serialisation time becomes an integer: the next whole picosecond, "
                          "or the nearest whole nanosecond.",
                          EnumValue(TimeRounding::PS_CEIL),
                          MakeEnumAccessor<TimeRounding>(&Fabric::m_rounding),
                          MakeEnumChecker(TimeRounding::PS_CEIL,
                                          "ps_ceil",
                                          TimeRounding::NS_NEAREST,
                                          "ns_nearest"));
    return tid;
}

Fabric::Fabric()
    : m_arrivals(*this),
      m_forwards(*this),
      m_cutThroughs(*this),
      m_picks(*this),
      m_releases(*this),
      m_pauseEffects(*this),
      m_pauseExpiries(*this),
      m_pauseRefreshes(*this)
{
}

Fabric::~Fabric() = default;

void
Fabric::Build(const PlatformDescription& platform, EventLoop& loop, uint64_t seed)
{
    m_loop = &loop;
    m_lossStream = Mix64(seed ^ LOSS_STREAM);
    m_ecnStream = Mix64(seed ^ ECN_STREAM);
    m_sinks.assign(platform.Ranks(), nullptr);
    m_rankNode = platform.rankNode;
    m_buffers.resize(platform.Nodes());
    m_ports.resize(platform.Channels());
    for (ChannelId channel = 0; channel < platform.Channels(); ++channel)
    {
        Port& port = m_ports[channel];
        port.node = platform.Transmitter(channel);
        port.peer = platform.Receiver(channel);
        port.rate = platform.Rate(channel);
        port.delay = platform.Delay(channel);
        port.efficiencyPpm = platform.EfficiencyPpm(channel);
        port.lossThreshold =
            static_cast<uint64_t>(std::ldexp(static_cast<long double>(platform.Loss(channel)), 64));
    }
}

void
Fabric::Configure(const std::vector<Ptr<FabricSwitch>>& switches, const FrameFigures& figures)
{
    m_switches = switches;
    m_figures = figures;
    for (NodeIndex node = 0; node < switches.size(); ++node)
    {
        const Ptr<FabricSwitch>& forwarder = switches[node];
        m_buffers[node] =
            forwarder && forwarder->Buffer().size != 0
                ? std::make_unique<SharedBuffer>(forwarder->Buffer(), figures.prioritiesInUse)
                : nullptr;
    }
    for (ChannelId channel = 0; channel < m_ports.size(); ++channel)
    {
        Port& port = m_ports[channel];
        const bool isEthernet = port.efficiencyPpm == 0;
        const Ptr<FabricSwitch>& own = switches[port.node];
        const Ptr<FabricSwitch>& next = switches[port.peer];
        port.peerLatency = next ? next->ForwardingLatency() : 0;
        port.peerBuffer = isEthernet ? m_buffers[port.peer].get() : nullptr;
        port.peerCutThrough =
            isEthernet && next && next->CutsThrough() ? next->CutThroughHeader() : 0;
        if (port.peerBuffer != nullptr)
        {
            const ByteCount headroom =
                next->HeadroomOf(port.rate, port.delay, figures.largestLineBytes);
            port.peerIngress =
                port.peerBuffer->AddIngress(next->ReserveOf(figures.largestLineBytes), headroom);
        }
        port.extras = std::make_unique<PortExtras>();
        port.marksAtEnqueue = false;
        port.marksAtDequeue = false;
        if (isEthernet && own && own->MarksEcn())
        {
            EcnMarker& marker = port.extras->marker;
            std::tie(marker.kmin, marker.kmax) = own->EcnThresholds(port.rate);
            marker.pmax = own->EcnPmax();
            marker.stream = m_ecnStream;
            marker.port = channel;
            port.marksAtEnqueue = own->MarkAt() == EcnMarkAt::ENQUEUE;
            port.marksAtDequeue = own->MarkAt() == EcnMarkAt::DEQUEUE;
        }
        // An end's port shares its link as the switch at the far end does.
        const Ptr<FabricSwitch>& sharing = own ? own : next;
        if (isEthernet && sharing && sharing->Scheduling() == PriorityScheduling::DWRR)
        {
            port.extras->scheduler.emplace(sharing->Weights());
        }
    }
}

void
Fabric::SetSink(RankId rank, FrameSink& sink)
{
    m_sinks[rank] = &sink;
}

void
Fabric::SetSource(ChannelId port, FrameSource& source)
{
    m_ports[port].source = &source;
}

void
Fabric::RefreshTracing()
{
    for (Port& port : m_ports)
    {
        port.isTraced = port.device != nullptr && port.device->IsTraced();
    }
}

bool
Fabric::CanLose(ChannelId channel, uint8_t priority) const
{
    const Port& port = m_ports[channel];
    return port.lossThreshold != 0 ||
           (port.peerBuffer != nullptr &&
            !(port.peerBuffer->IsLossless(priority) && m_switches[port.peer]->HasCalculatedRoom()));
}

void
Fabric::StopWhenIdle()
{
    m_isDraining = true;
    if (m_frames.Live() == 0)
    {
        m_loop->Stop();
    }
}

void
Fabric::Kick(ChannelId id)
{
    Port& port = m_ports[id];
    if (!port.isPickPending)
    {
        port.isPickPending = true;
        m_loop->SchedulePick(std::max(m_loop->Now(), port.busyUntil), id, m_picks);
    }
}

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
        return frame.lineBytes - CNP_GAP;
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
        const bool isLast = frame->isLast; // A lost frame is gone after Transmit.
        const TimePs end = Transmit(id, port, frame);
        if (isLast)
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
    if (frame->kind == FrameKind::DATA)
    {
        ++counters.dataFrames;
        counters.payloadBytes += frame->payloadBytes;
    }
    ++m_packetHops;
    if (frame->ingress != NO_CHANNEL)
    {
        LeaveNode(channel, port, *frame);
    }
    if (port.extras->scheduler) [[unlikely]]
    {
        port.extras->scheduler->Pay(frame->priority, lineBytes);
    }
    if (port.isTraced) [[unlikely]]
    {
        port.device->NotifyTransmit(*frame);
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
        Free(frame);
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
    if (frame->kind == FrameKind::DATA)
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

void
Fabric::Free(Frame* frame)
{
    if (frame->notes != nullptr)
    {
        m_notes.Give(frame->notes);
    }
    m_frames.Give(frame);
    if (m_isDraining && m_frames.Live() == 0)
    {
        m_loop->Stop();
    }
}

} // namespace ns3
