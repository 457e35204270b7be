// SPDX-License-Identifier: GPL-2.0-only
#include "flow-world.h"

#include <utility>

namespace ns3
{

FlowWorld::FlowWorld(PlatformDescription platform,
                     const TransportFigures& figures,
                     const RunOptions& options)
    : m_platform(std::move(platform)),
      m_network(m_platform, figures, m_loop, options.seed)
{
    m_loop.SetEventLimit(options.maxEvents);
    m_loop.SetTimeLimit(options.maxTime);
}

uint32_t
FlowWorld::Ranks() const
{
    return m_platform.Ranks();
}

EventLoop&
FlowWorld::Loop()
{
    return m_loop;
}

MessageNetwork&
FlowWorld::Network()
{
    return m_network;
}

void
FlowWorld::UsePriorities(uint32_t mask)
{
    m_network.UsePriorities(mask);
}

void
FlowWorld::Begin()
{
    m_network.StopWhenIdle(false);
}

LoopExit
FlowWorld::Run(const std::function<void()>& hook)
{
    m_loop.SetHook(hook);
    m_network.SetHook(hook);
    return m_loop.Run();
}

void
FlowWorld::StopWhenIdle()
{
    m_network.StopWhenIdle(true);
}

bool
FlowWorld::IsIdle() const
{
    return m_network.IsIdle();
}

void
FlowWorld::Count(RunOutcome& outcome) const
{
    for (ChannelId channel = 0; channel < m_platform.Channels(); ++channel)
    {
        ChannelCounters counters = m_network.Counters()[channel];
        // As long as it would have sent at its full rate.
        counters.busy =
            SerializationTime(counters.lineBytes, m_platform.Rate(channel), TimeRounding::PS_CEIL);
        outcome.AddChannel(counters);
    }
    outcome.rankSentPayloadBytes = m_network.SentBytes();
    outcome.rankReceivedPayloadBytes = m_network.ReceivedBytes();
    outcome.counters["events"] = static_cast<int64_t>(m_loop.EventCount());
    outcome.counters["events_left"] =
        static_cast<int64_t>(m_loop.Pending() - m_network.IdleTimers());
    outcome.counters["frames_in_flight"] = 0;
    outcome.counters["packets"] = 0;
    outcome.counters["packet_hops"] = 0;
    outcome.counters["rates_given"] = static_cast<int64_t>(m_network.GivenRates());
}

void
FlowWorld::Close()
{
}

std::vector<uint32_t>
FlowWorld::NodeIds() const
{
    return {};
}

} // namespace ns3
