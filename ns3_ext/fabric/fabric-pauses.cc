// SPDX-License-Identifier: GPL-2.0-only
// Fabric and priority-based flow control (IEEE 802.1Qbb): PAUSE frames, their effect and their end.
#include "fabric-device.h"
#include "fabric.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ns3
{

namespace
{

/// Episodes that a run keeps; a table of more would be larger than anybody reads.
constexpr size_t MOST_EPISODES = 1U << 20;

uint64_t
Pack(ChannelId channel, uint8_t priority)
{
    return static_cast<uint64_t>(channel) * PRIORITIES + priority;
}

std::pair<ChannelId, uint8_t>
Unpack(uint64_t packed)
{
    return {static_cast<ChannelId>(packed / PRIORITIES), static_cast<uint8_t>(packed % PRIORITIES)};
}

} // namespace

void
Fabric::PauseIngress(ChannelId channel, uint8_t priority)
{
    Port& ingress = m_ports[channel];
    SharedBuffer& buffer = *ingress.peerBuffer;
    if (!buffer.IsWatched())
    {
        SettleAll(buffer);
    }
    buffer.At(ingress.peerIngress, priority).isPaused = true;
    if (buffer.BeginPause())
    {
        // From here on a release may end a pause, so each must be told when it happens.
        for (const ChannelId id : buffer.unsettled)
        {
            const Port& port = m_ports[id];
            if (port.release.ingress != NO_CHANNEL)
            {
                ++m_releaseEvents;
                m_loop->ScheduleRelease(port.busyUntil, id, m_releases);
            }
            BeTimely(id);
        }
    }
    SendPause(channel, priority, m_switches[ingress.peer]->PauseQuanta());
}

void
Fabric::ResumeIngress(ChannelId channel, uint8_t priority)
{
    Port& ingress = m_ports[channel];
    ingress.peerBuffer->At(ingress.peerIngress, priority).isPaused = false;
    ingress.peerBuffer->EndPause();
    SendPause(channel, priority, 0);
}

void
Fabric::SendPause(ChannelId channel, uint8_t priority, uint32_t quanta)
{
    Port& ingress = m_ports[channel];
    Frame* frame = m_frames.Take();
    frame->kind = FrameKind::PAUSE;
    frame->channel = channel ^ 1U;
    frame->priority = CONTROL_QUEUE;
    frame->lineBytes = PAUSE_LINE_BYTES;
    frame->flow = priority;
    frame->psn = quanta;
    if (quanta != 0)
    {
        SharedBuffer::Queue& queue = ingress.peerBuffer->At(ingress.peerIngress, priority);
        queue.refreshAt = m_loop->Now() + FabricSwitch::QuantaTime(quanta, ingress.rate) / 2;
        if (!queue.isRefreshPending)
        {
            queue.isRefreshPending = true;
            ++m_pauseTimers;
            m_loop->ScheduleTimer(queue.refreshAt, m_pauseRefreshes, Pack(channel, priority));
        }
    }
    ListUnsettled(frame->channel, m_ports[frame->channel]);
    Enqueue(frame->channel, frame);
}

void
Fabric::RefreshPause(uint64_t argument)
{
    --m_pauseTimers;
    const auto [channel, priority] = Unpack(argument);
    const Port& ingress = m_ports[channel];
    SharedBuffer::Queue& queue = ingress.peerBuffer->At(ingress.peerIngress, priority);
    queue.isRefreshPending = false;
    if (!queue.isPaused)
    {
        return;
    }
    if (m_loop->Now() < queue.refreshAt)
    {
        // Paused anew since the timer was set.
        queue.isRefreshPending = true;
        ++m_pauseTimers;
        m_loop->ScheduleTimer(queue.refreshAt, m_pauseRefreshes, argument);
        return;
    }
    SendPause(channel, priority, m_switches[ingress.peer]->PauseQuanta());
    LookForDeadlock();
}

void
Fabric::SchedulePauseEffect(ChannelId channel, const Port& port, Frame* frame)
{
    // The node that sent it says how long the other end takes: both calculate the headroom so.
    const TimePs response =
        FabricSwitch::QuantaTime(m_switches[port.node]->ResponseQuanta(), port.rate);
    m_loop->ScheduleArrival(port.busyUntil + port.delay + response,
                            channel,
                            response > 0,
                            m_pauseEffects,
                            reinterpret_cast<uint64_t>(frame));
}

void
Fabric::PauseActs(uint64_t argument)
{
    auto* frame = reinterpret_cast<Frame*>(argument);
    const ChannelId channel = frame->channel ^ 1U;
    const auto priority = static_cast<uint8_t>(frame->flow);
    const uint32_t quanta = frame->psn;
    Free(frame);
    Port& port = m_ports[channel];
    Advance(channel);
    if (quanta == 0)
    {
        Unpause(channel, priority);
        return;
    }
    const TimePs now = m_loop->Now();
    PriorityPause& pause = port.extras->pause[priority];
    pause.until = now + FabricSwitch::QuantaTime(quanta, port.rate);
    if (!pause.isActive)
    {
        pause.isActive = true;
        ++port.counters.pauses;
        pause.start = now;
        SetPausedMask(port);
        Replan(channel);
        if (port.isTraced)
        {
            port.device->NotifyPause(priority);
        }
    }
    if (!pause.isTimerPending)
    {
        pause.isTimerPending = true;
        ++m_pauseTimers;
        m_loop->ScheduleTimer(pause.until, m_pauseExpiries, Pack(channel, priority));
    }
}

void
Fabric::PauseMayExpire(uint64_t argument)
{
    --m_pauseTimers;
    const auto [channel, priority] = Unpack(argument);
    PriorityPause& pause = m_ports[channel].extras->pause[priority];
    pause.isTimerPending = false;
    if (!pause.isActive)
    {
        return;
    }
    if (m_loop->Now() < pause.until)
    {
        // A PAUSE has come since the timer was set.
        pause.isTimerPending = true;
        ++m_pauseTimers;
        m_loop->ScheduleTimer(pause.until, m_pauseExpiries, argument);
        return;
    }
    Unpause(channel, priority);
}

void
Fabric::Unpause(ChannelId channel, uint8_t priority)
{
    Port& port = m_ports[channel];
    Advance(channel);
    PriorityPause& pause = port.extras->pause[priority];
    if (!pause.isActive)
    {
        return; // The quanta were over before.
    }
    pause.isActive = false;
    SetPausedMask(port);
    port.counters.paused += m_loop->Now() - pause.start;
    if (m_pauses.size() < MOST_EPISODES)
    {
        m_pauses.push_back(PauseEpisode{channel, priority, pause.start, m_loop->Now()});
    }
    else
    {
        ++m_unlistedPauses;
    }
    if (port.isTraced)
    {
        port.device->NotifyResume(priority);
    }
    if (port.EligibleMask() != 0)
    {
        Kick(channel);
    }
}

void
Fabric::SetPausedMask(Port& port) const
{
    port.pausedClasses = 0;
    for (uint8_t priority = 0; priority < PRIORITIES; ++priority)
    {
        port.pausedClasses |= port.extras->pause[priority].isActive ? 1U << priority : 0;
    }
    port.paused = port.pausedClasses;
    HoldAcks(port);
}

void
Fabric::HoldAcks(Port& port) const
{
    // ACKs of a NIC that are in the class of their data on the wire wait with it, each with its
    // own.
    if (!m_figures.isAckClassShared || port.pausedClasses == 0)
    {
        return;
    }
    const Frame* frame = port.queue[ACK_PRIORITY].Head();
    while (frame != nullptr && (port.pausedClasses >> frame->transitPriority & 1) != 0)
    {
        frame = frame->next;
    }
    const bool isHeld = frame == nullptr && !port.queue[ACK_PRIORITY].IsEmpty();
    constexpr uint32_t bit = 1U << ACK_PRIORITY;
    port.paused = isHeld ? port.paused | bit : port.paused & ~bit;
}

std::vector<PauseEpisode>
Fabric::TakePauses()
{
    for (ChannelId channel = 0; channel < m_ports.size(); ++channel)
    {
        for (uint8_t priority = 0; priority < PRIORITIES; ++priority)
        {
            const PriorityPause& pause = m_ports[channel].extras->pause[priority];
            if (pause.isActive)
            {
                m_pauses.push_back(PauseEpisode{channel, priority, pause.start, NEVER_PS});
            }
        }
    }
    return std::move(m_pauses);
}

void
Fabric::LookForDeadlock()
{
    if (m_loop->Now() < m_nextDeadlockCheck || !m_deadlocked.empty())
    {
        return;
    }

    // Bytes of each paused queue that wait at ports where their priority is paused, by port.
    struct Stuck
    {
        ByteCount held{0};
        std::map<uint64_t, ByteCount> at;
    };

    AdvanceAll();
    std::map<uint64_t, Stuck> paused;
    TimePs interval = MAX_TIME_PS;
    for (ChannelId channel = 0; channel < m_ports.size(); ++channel)
    {
        const Port& port = m_ports[channel];
        for (uint8_t priority = 0; port.peerBuffer != nullptr && priority < PRIORITIES; ++priority)
        {
            const SharedBuffer::Queue& queue = port.peerBuffer->At(port.peerIngress, priority);
            if (queue.isPaused && port.extras->pause[priority].isActive)
            {
                paused[Pack(channel, priority)].held = queue.Held();
                const uint32_t quanta = m_switches[port.peer]->PauseQuanta();
                interval = std::min(interval, FabricSwitch::QuantaTime(quanta, port.rate) / 2);
            }
        }
    }
    m_nextDeadlockCheck = m_loop->Now() + interval;
    for (ChannelId channel = 0; channel < m_ports.size(); ++channel)
    {
        const Port& port = m_ports[channel];
        for (uint8_t priority = 0; port.paused != 0 && priority < PRIORITIES; ++priority)
        {
            for (const Frame* frame = port.queue[priority].Head(); frame != nullptr;
                 frame = frame->next)
            {
                const auto found =
                    frame->isCharged ? paused.find(Pack(frame->ingress, priority)) : paused.end();
                if (found != paused.end())
                {
                    found->second.at[Pack(channel, priority)] += FrameBytes(*frame);
                }
            }
        }
    }
    // Whoever has bytes that can still leave is no part of it; nor is who waits for him only.
    for (bool hasChanged = true; hasChanged;)
    {
        hasChanged = false;
        for (auto entry = paused.begin(); entry != paused.end();)
        {
            ByteCount stuck = 0;
            for (const auto& [where, bytes] : entry->second.at)
            {
                stuck += paused.contains(where) ? bytes : 0;
            }
            const bool isStuck = stuck == entry->second.held;
            hasChanged |= !isStuck;
            entry = isStuck ? std::next(entry) : paused.erase(entry);
        }
    }
    for (const auto& [where, stuck] : paused)
    {
        const ChannelId channel = Unpack(where).first;
        if (m_deadlocked.empty() || m_deadlocked.back() != channel)
        {
            m_deadlocked.push_back(channel);
        }
    }
    if (!m_deadlocked.empty())
    {
        m_loop->Stop();
    }
}

} // namespace ns3
