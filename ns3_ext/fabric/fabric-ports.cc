// SPDX-License-Identifier: GPL-2.0-only
// Fabric and its ports: what each has done by now, and when it has to be looked at again.
#include "../core/cache-line.h"
#include "../core/errors.h"
#include "fabric.h"

#include <algorithm>
#include <bit>
#include <string>

namespace ns3
{

namespace
{

/// Bring what is touched for every frame closer.
void
PrefetchPort(const Port& port)
{
    const auto* bytes = reinterpret_cast<const char*>(&port);
    for (size_t line = 0; line < 10; ++line)
    {
        __builtin_prefetch(bytes + line * CACHE_LINE);
    }
}

/// Where in its instant a frame that was passed on enters its port's queues.
uint64_t
EntryOrder(const TimedFrame& entry)
{
    return EventLoop::ArrivalOrder(entry.frame->ingress, true);
}

} // namespace

void
Fabric::CatchUp(ChannelId id)
{
    Port& port = m_ports[id];
    const auto [now, order] = m_loop->Horizon();
    for (;;)
    {
        const TimePs entry = port.coming.IsEmpty() ? MAX_TIME_PS : port.coming.Front().time;
        const TimePs pick = port.isPickPending ? port.pickTime : MAX_TIME_PS;
        if (entry <= pick) // In one instant, arrivals come first.
        {
            // The frame itself is far from here: only within an instant its ingress counts.
            if (entry > now || (entry == now && EntryOrder(port.coming.Front()) >= order))
            {
                return;
            }
            const TimedFrame frame = port.coming.Pop();
            if (!port.coming.IsEmpty())
            {
                __builtin_prefetch(port.coming.Front().frame); // Often its turn is next.
            }
            EnterFromAfar(id, port, frame);
        }
        else if (pick < now || (pick == now && EventLoop::PickOrder(id) < order))
        {
            Pick(id, port, pick);
        }
        else
        {
            return;
        }
    }
}

void
Fabric::EnterFromAfar(ChannelId id, Port& port, const TimedFrame& entry)
{
    if (entry.frame->isGone) [[unlikely]]
    {
        Free(entry.frame); // Cut through meanwhile.
        return;
    }
    entry.frame->isInPipeline = false;
    Enter(id, port, entry.frame, entry.time);
}

void
Fabric::AdvanceAll()
{
    for (ChannelId id = 0; id < m_ports.size(); ++id)
    {
        Advance(id);
    }
}

void
Fabric::Rearm(ChannelId id, Port& port)
{
    if (!port.flying.IsEmpty())
    {
        if (port.flying.Front().time < port.wakeTime)
        {
            ScheduleWake(id, port, port.flying.Front().time);
        }
        if (port.isPickPending && port.source != nullptr && !MayPickLate(port))
        {
            SchedulePick(id, port, port.pickTime);
        }
    }
    else if (port.isPickPending)
    {
        SchedulePick(id, port, port.pickTime);
    }
    else if (!port.coming.IsEmpty())
    {
        const TimedFrame& first = port.coming.Front();
        if (first.time < port.busyUntil || port.pausedClasses != 0)
        {
            // A PAUSE frame is on the wire, or a class is held: others may start before this one.
            SchedulePick(id, port, std::max(first.time, port.busyUntil));
            return;
        }
        // An idle port: unless something comes between, its first frame starts when it is there.
        const TimePs arrival = first.time + SerializationOn(id, *first.frame) + port.delay;
        if (arrival < port.wakeTime)
        {
            ScheduleWake(id, port, arrival);
        }
    }
}

void
Fabric::Wake(uint64_t argument)
{
    --m_portEvents;
    const auto id = static_cast<ChannelId>(argument);
    Port& port = m_ports[id];
    const TimePs now = m_loop->Now();
    if (port.wakeTime != now)
    {
        return; // An earlier one was needed meanwhile, and has seen to what comes after it.
    }
    Advance(id);
    Frame* frame = nullptr;
    if (!port.flying.IsEmpty() && port.flying.Front().time <= now)
    {
        if (port.flying.Front().time < now) [[unlikely]]
        {
            throw InvariantError("port " + std::to_string(id) + " was looked at too late");
        }
        frame = port.flying.Pop().frame;
    }
    port.wakeTime = MAX_TIME_PS;
    Rearm(id, port);
    if (frame != nullptr)
    {
        Deliver(id, port, frame);
    }
}

void
Fabric::ForeseeWake(ChannelId id, unsigned step) const
{
    const Port& port = m_ports[id];
    if (step == 0)
    {
        PrefetchPort(port);
        return;
    }
    if (step == 1)
    {
        port.flying.PrefetchFront();
        port.coming.PrefetchFront();
        return;
    }
    if (step == 2 && !port.coming.IsEmpty())
    {
        __builtin_prefetch(port.coming.Front().frame);
    }
    if (port.flying.IsEmpty())
    {
        return;
    }
    const Frame* frame = port.flying.Front().frame;
    if (step == 2)
    {
        __builtin_prefetch(frame);
        return;
    }
    if (EndsAtPeer(*frame, port))
    {
        if (step == 3)
        {
            m_sinks[frame->dst]->Foresee(*frame);
        }
        return;
    }
    if (frame->path == nullptr)
    {
        return;
    }
    const ChannelId* next = frame->path + frame->hop + 1;
    if (step == 3)
    {
        __builtin_prefetch(next);
        return;
    }
    const Port& egress = m_ports[*next];
    if (step == 4)
    {
        PrefetchPort(egress);
        if (port.peerBuffer != nullptr)
        {
            port.peerBuffer->Prefetch(port.peerIngress, frame->transitPriority);
        }
    }
    else if (step == 5)
    {
        egress.coming.PrefetchFront();
        egress.flying.PrefetchFront();
    }
    else if (!egress.coming.IsEmpty())
    {
        __builtin_prefetch(egress.coming.Front().frame);
    }
}

void
Fabric::PickIsDue(uint64_t argument)
{
    --m_portEvents;
    const auto id = static_cast<ChannelId>(argument);
    Port& port = m_ports[id];
    const TimePs now = m_loop->Now();
    if (port.pickEvent == now)
    {
        port.pickEvent = MAX_TIME_PS;
    }
    Advance(id);
    if (port.isPickPending && port.pickTime == now)
    {
        Pick(id, port, now);
    }
    Rearm(id, port);
}

void
Fabric::EntryIsDue(uint64_t argument)
{
    --m_portEvents;
    const auto id = static_cast<ChannelId>(argument);
    Port& port = m_ports[id];
    Advance(id);
    if (!port.coming.IsEmpty() && port.coming.Front().time == m_loop->Now() &&
        EntryOrder(port.coming.Front()) == m_loop->Order())
    {
        EnterFromAfar(id, port, port.coming.Pop());
    }
    Rearm(id, port);
}

void
Fabric::ScheduleWake(ChannelId id, Port& port, TimePs time)
{
    ++m_portEvents;
    port.wakeTime = time;
    m_loop->ScheduleArrival(time, id, false, m_wakes, id);
}

void
Fabric::SchedulePick(ChannelId id, Port& port, TimePs time)
{
    if (port.pickEvent != time)
    {
        ++m_portEvents;
        port.pickEvent = time;
        m_loop->SchedulePick(time, id, m_picks);
    }
}

void
Fabric::ScheduleEntry(ChannelId id, const TimedFrame& entry)
{
    ++m_portEvents;
    m_loop->ScheduleArrival(entry.time, entry.frame->ingress, true, m_entries, id);
}

void
Fabric::BeTimely(ChannelId id)
{
    Port& port = m_ports[id];
    for (size_t i = 0; i < port.coming.Size(); ++i)
    {
        ScheduleEntry(id, port.coming.At(i));
    }
    if (port.isPickPending)
    {
        SchedulePick(id, port, port.pickTime);
    }
}

void
Fabric::RefreshTimeliness()
{
    for (Port& port : m_ports)
    {
        // What a rank's host makes itself depends on what it knows then; so does what a source
        // gives, but that says how late it may be asked.
        const bool isAtRank = m_isRankNode[port.node] || !m_switches[port.node];
        const bool isAsked = port.source != nullptr && m_segmentOwner == nullptr;
        const bool isOfCutThrough = port.peerCutThrough != 0 ||
                                    (m_switches[port.node] && m_switches[port.node]->CutsThrough());
        port.isTimely =
            (isAtRank && !isAsked) || isOfCutThrough || port.isTraced || port.lossThreshold != 0;
    }
}

void
Fabric::Kick(ChannelId id)
{
    PlanPick(id, m_ports[id], m_loop->Now());
    Replan(id);
}

void
Fabric::Replan(ChannelId id)
{
    Port& port = m_ports[id];
    port.latestPick = NEVER_PS;
    Rearm(id, port);
}

void
Fabric::PlanPick(ChannelId id, Port& port, TimePs now)
{
    if (!port.isPickPending)
    {
        port.isPickPending = true;
        port.latestPick = NEVER_PS;
        port.pickTime = std::max(now, port.busyUntil);
        if (port.IsTimely() || (port.source != nullptr && !MayPickLate(port)))
        {
            SchedulePick(id, port, port.pickTime);
        }
    }
}

bool
Fabric::MayPickLate(Port& port) const
{
    if (port.flying.IsEmpty())
    {
        return false; // Nobody would look.
    }
    const TimePs nextLook = port.flying.Front().time;
    if (nextLook <= port.pickTime)
    {
        return true;
    }
    if (port.latestPick == NEVER_PS)
    {
        port.latestPick = LatestPick(port);
    }
    return nextLook <= port.latestPick;
}

TimePs
Fabric::LatestPick(const Port& port) const
{
    const uint32_t ready = port.source->ReadyMask() & ~port.paused;
    if (ready == 0)
    {
        return MAX_TIME_PS; // Only who waits in the queues may leave.
    }
    if (port.extras->scheduler)
    {
        return port.pickTime;
    }
    const FrameSize size = port.source->SizeIfLate(static_cast<uint8_t>(std::bit_width(ready) - 1));
    if (size.lineBytes == 0)
    {
        return port.pickTime;
    }
    // What waits in the queues and goes before it makes it only later.
    const uint32_t lineBytes = port.LineBytes(size);
    const WireTime& last = port.wireTime[0];
    return port.pickTime + (lineBytes == last.lineBytes ? last.time : FrameTime(port, lineBytes));
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
Fabric::Pick(ChannelId id, Port& port, TimePs now)
{
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
        Transmit(id, port, frame, now);
    }
    else
    {
        Frame* frame = port.source->NextFrame(priority);
        frame->channel = id;
        const TimePs end = Transmit(id, port, frame, now);
        if (frame->isLast)
        {
            port.source->LastFrameStarted(end);
        }
    }
    if (port.EligibleMask() != 0)
    {
        PlanPick(id, port, now);
    }
}

} // namespace ns3
