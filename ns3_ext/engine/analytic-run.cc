// SPDX-License-Identifier: GPL-2.0-only
#include "analytic-run.h"

#include "../core/errors.h"
#include "loggp-network.h"

#include <string>

namespace ns3
{

RunOutcome
RunAnalytic(const PlatformDescription& platform,
            const ScheduleDescription& schedule,
            const TransportFigures& figures,
            const RunOptions& options,
            const ProgressHook& progress)
{
    if (static_cast<uint32_t>(schedule.ranks) > platform.Ranks())
    {
        throw ConfigError("the schedule has " + std::to_string(schedule.ranks) +
                          " ranks and the platform " + std::to_string(platform.Ranks()));
    }
    EventLoop loop;
    loop.SetEventLimit(options.maxEvents);
    loop.SetTimeLimit(options.maxTime);
    LogGpNetwork network(platform, figures, loop, options.seed);
    ScheduleExecutor executor(schedule, loop, network, options.endpointDelay, options.fault);
    if (progress)
    {
        loop.SetHook(
            [&] { progress(loop.Now(), loop.EventCount(), executor.DoneOps(), schedule.Ops()); });
    }
    executor.Start();
    const LoopExit exit = loop.Run();

    RunOutcome outcome;
    outcome.TakeFrom(executor, exit, loop.Now());
    for (const ChannelCounters& counters : network.Counters())
    {
        outcome.AddChannel(counters);
    }
    outcome.rankSentPayloadBytes = network.SentBytes();
    outcome.rankReceivedPayloadBytes = network.ReceivedBytes();
    outcome.counters["events"] = static_cast<int64_t>(loop.EventCount());
    outcome.counters["events_left"] = static_cast<int64_t>(loop.Pending());
    outcome.counters["frames_in_flight"] = 0;
    outcome.counters["packets"] = 0;
    outcome.counters["packet_hops"] = 0;
    return outcome;
}

} // namespace ns3
