// SPDX-License-Identifier: GPL-2.0-only
#include "fabric.h"

#include "../core/hash.h"
#include "fabric-device.h"

#include "ns3/enum.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(Fabric);

namespace
{

/// Keeps the draws of losses apart from everything else that hashes the run's seed.
constexpr uint64_t LOSS_STREAM = 0x6c6f7373;

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
      m_picks(*this)
{
}

Fabric::~Fabric() = default;

void
Fabric::Build(const PlatformDescription& platform, EventLoop& loop, uint64_t seed)
{
    m_loop = &loop;
    m_seed = Mix64(seed ^ LOSS_STREAM);
    m_sinks.assign(platform.Ranks(), nullptr);
    m_ports.assign(platform.Channels(), Port{});
    for (ChannelId channel = 0; channel < platform.Channels(); ++channel)
    {
        Port& port = m_ports[channel];
        port.rate = platform.Rate(channel);
        port.delay = platform.Delay(channel);
        port.efficiencyPpm = platform.EfficiencyPpm(channel);
        port.lossThreshold =
            static_cast<uint64_t>(std::ldexp(static_cast<long double>(platform.Loss(channel)), 64));
    }
}

void
Fabric::SetSink(RankId rank, FrameSink& sink)
{
    m_sinks[rank] = &sink;
}

void
Fabric::SetForwardingLatency(ChannelId channel, TimePs latency)
{
    m_ports[channel].peerLatency = latency;
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

void
Fabric::Enqueue(ChannelId id, Frame* frame)
{
    Port& port = m_ports[id];
    const TimePs now = m_loop->Now();
    const uint32_t lineBytes = port.LineBytes(*frame);
    // A frame that is being sent still takes its place in the buffer.
    const ByteCount sending = port.busyUntil > now ? port.sendingBytes : 0;
    port.counters.maxQueueBytes =
        std::max(port.counters.maxQueueBytes, port.waitingBytes + sending + lineBytes);
    if (port.isTraced) [[unlikely]]
    {
        port.device->NotifyEnqueue(*frame);
    }
    if (port.busyUntil <= now && !port.isPickPending)
    {
        Transmit(id, port, frame);
        return;
    }
    port.queue[frame->priority].Push(frame);
    port.waiting |= 1U << frame->priority;
    port.waitingBytes += lineBytes;
    Kick(id);
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
    const auto priority = static_cast<uint8_t>(std::bit_width(eligible) - 1);
    if ((port.waiting >> priority & 1) != 0)
    {
        FrameFifo& fifo = port.queue[priority];
        Frame* frame = fifo.Pop();
        if (fifo.IsEmpty())
        {
            port.waiting &= ~(1U << priority);
        }
        port.waitingBytes -= port.LineBytes(*frame);
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
    const uint64_t draw = Mix64(m_seed ^ Mix64((static_cast<uint64_t>(channel) << 40) ^
                                               static_cast<uint64_t>(port.counters.frames)));
    return draw < port.lossThreshold;
}

TimePs
Fabric::Transmit(ChannelId channel, Port& port, Frame* frame)
{
    const uint32_t lineBytes = port.LineBytes(*frame);
    if (lineBytes != port.lastLineBytes)
    {
        port.lastLineBytes = lineBytes;
        port.lastSerialization = SerializationTime(lineBytes, port.rate, m_rounding);
    }
    const TimePs end = m_loop->Now() + port.lastSerialization;
    port.busyUntil = end;
    port.sendingBytes = lineBytes;
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
    if (port.isTraced) [[unlikely]]
    {
        port.device->NotifyTransmit(*frame);
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
    // A node that forwards handles the frame once its latency has passed, its end at once.
    const TimePs latency = frame->hop + 1 < frame->hops ? port.peerLatency : 0;
    m_loop->ScheduleArrival(end + port.delay + latency,
                            channel,
                            latency > 0,
                            m_arrivals,
                            reinterpret_cast<uint64_t>(frame));
    return end;
}

void
Fabric::Arrive(uint64_t argument)
{
    auto* frame = reinterpret_cast<Frame*>(argument);
    Port& port = m_ports[frame->channel];
    if (frame->kind == FrameKind::DATA)
    {
        port.counters.deliveredPayloadBytes += frame->payloadBytes;
    }
    if (port.isTraced) [[unlikely]]
    {
        port.device->NotifyArrival(*frame);
    }
    if (++frame->hop < frame->hops)
    {
        frame->priority = frame->transitPriority;
        frame->ingress = frame->channel;
        frame->channel = frame->path[frame->hop];
        Enqueue(frame->channel, frame);
        return;
    }
    m_sinks[frame->dst]->ReceiveFrame(*frame);
    Free(frame);
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
