// SPDX-License-Identifier: GPL-2.0-only
#include "schedule-run.h"

#include "../core/errors.h"

#include <string>
#include <utility>

namespace ns3
{

ScheduleRun::ScheduleRun(std::unique_ptr<NetworkWorld> world,
                         ScheduleDescription schedule,
                         const RunOptions& options)
    : m_schedule(std::move(schedule)),
      m_world(std::move(world)),
      m_isWatched(options.watch.isOn)
{
    if (static_cast<uint32_t>(m_schedule.ranks) > m_world->Ranks())
    {
        throw ConfigError("the schedule has " + std::to_string(m_schedule.ranks) +
                          " ranks and the platform " + std::to_string(m_world->Ranks()));
    }
    m_world->UsePriorities(m_schedule.PriorityMask());
    m_executor = std::make_unique<ScheduleExecutor>(m_schedule,
                                                    m_world->Loop(),
                                                    m_world->Network(),
                                                    options.endpointDelay,
                                                    options.computeSlowdown,
                                                    options.fault);
    m_executor->Announce();
    if (m_isWatched)
    {
        m_executor->WatchOperations();
    }
}

RunOutcome
ScheduleRun::Run(const ProgressHook& progress)
{
    if (m_hasRun)
    {
        throw ConfigError("a simulation runs once; build another one");
    }
    m_hasRun = true;
    m_world->Begin();
    EventLoop& loop = m_world->Loop();
    std::function<void()> hook;
    if (progress)
    {
        hook = [&] {
            progress(loop.Now(), loop.EventCount(), m_executor->DoneOps(), m_schedule.Ops());
        };
    }
    m_executor->SetCompletion([this] { m_world->StopWhenIdle(); });
    RunOutcome outcome;
    LoopExit exit = LoopExit::EMPTY;
    try
    {
        m_executor->Start();
        // A schedule that is complete before anything has happened has nothing to wait for.
        if (!(m_executor->IsComplete() && m_world->IsIdle()))
        {
            exit = m_world->Run(hook);
        }
    }
    catch (...)
    {
        outcome.failure = std::current_exception();
    }
    outcome.TakeFrom(*m_executor, exit, loop.Now());
    m_world->Count(outcome);
    m_world->TakeBins(outcome.bins);
    if (m_isWatched)
    {
        outcome.log.emplace();
        outcome.log->operations = m_executor->TakeOperations();
        m_world->TakeLog(*outcome.log);
    }
    return outcome;
}

} // namespace ns3
