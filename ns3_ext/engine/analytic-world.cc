// SPDX-License-Identifier: GPL-2.0-only
#include "analytic-world.h"

#include "astra-sim-network.h"
#include "loggp-network.h"

#include <utility>

namespace ns3
{

namespace
{

std::unique_ptr<AnalyticNetwork>
MakeNetwork(const PlatformDescription& platform,
            const TransportFigures& figures,
            EventLoop& loop,
            const RunOptions& options)
{
    if (options.analyticModel == AnalyticModel::LOGGP)
    {
        return std::make_unique<LogGpNetwork>(platform, figures, loop, options.seed);
    }
    const bool isAware = options.analyticModel == AnalyticModel::ASTRA_SIM_CONGESTION;
    return std::make_unique<AstraSimNetwork>(platform, loop, options.seed, isAware);
}

} // namespace

AnalyticWorld::AnalyticWorld(PlatformDescription platform,
                             const TransportFigures& figures,
                             const RunOptions& options)
    : m_platform(std::move(platform)),
      m_network(MakeNetwork(m_platform, figures, m_loop, options))
{
    m_loop.SetEventLimit(options.maxEvents);
    m_loop.SetTimeLimit(options.maxTime);
}

uint32_t
AnalyticWorld::Ranks() const
{
    return m_platform.Ranks();
}

EventLoop&
AnalyticWorld::Loop()
{
    return m_loop;
}

MessageNetwork&
AnalyticWorld::Network()
{
    return *m_network;
}

void
AnalyticWorld::UsePriorities(uint32_t)
{
    // Whole messages know no priorities.
}

void
AnalyticWorld::Begin()
{
}

LoopExit
AnalyticWorld::Run(const std::function<void()>& hook)
{
    m_loop.SetHook(hook);
    return m_loop.Run();
}

void
AnalyticWorld::StopWhenIdle()
{
    // Nothing is ever pending but moments of messages and what whoever runs here waits for.
}

bool
AnalyticWorld::IsIdle() const
{
    return m_loop.IsEmpty();
}

void
AnalyticWorld::Count(RunOutcome& outcome) const
{
    for (const ChannelCounters& counters : m_network->Counters())
    {
        outcome.AddChannel(counters);
    }
    outcome.rankSentPayloadBytes = m_network->SentBytes();
    outcome.rankReceivedPayloadBytes = m_network->ReceivedBytes();
    outcome.counters["events"] = static_cast<int64_t>(m_loop.EventCount());
    outcome.counters["events_left"] = static_cast<int64_t>(m_loop.Pending());
    outcome.counters["frames_in_flight"] = 0;
    outcome.counters["packets"] = 0;
    outcome.counters["packet_hops"] = 0;
}

void
AnalyticWorld::Close()
{
}

std::vector<uint32_t>
AnalyticWorld::NodeIds() const
{
    return {};
}

} // namespace ns3
