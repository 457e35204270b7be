// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_SCHEDULE_RUN_H
#define ASTRA_SCHEDULE_RUN_H

#include "network-world.h"
#include "run-outcome.h"
#include "schedule-description.h"

#include <memory>
#include <vector>

namespace ns3
{

/// A schedule in a world of its own, from construction to its last event.
class ScheduleRun
{
  public:
    /**
     * @param world Where it happens.
     * @param schedule The schedule, checked; moved in.
     * @param options Delays and faults.
     * @throws ConfigError when the schedule has more ranks than the world.
     */
    ScheduleRun(std::unique_ptr<NetworkWorld> world,
                ScheduleDescription schedule,
                const RunOptions& options);

    /**
     * Run to the end, once.
     *
     * @param progress Called now and then, or empty; may throw to end the run.
     * @return What was measured, until what was thrown if something was.
     * @throws ConfigError when it has run already, or its world is closed.
     */
    RunOutcome Run(const ProgressHook& progress);

    /// Close its world; harmless when done twice.
    void Close()
    {
        m_world->Close();
    }

    std::vector<uint32_t> NodeIds() const
    {
        return m_world->NodeIds();
    }

  private:
    const ScheduleDescription m_schedule;
    const std::unique_ptr<NetworkWorld> m_world;
    std::unique_ptr<ScheduleExecutor> m_executor;
    const bool m_isWatched;
    bool m_hasRun{false};
};

} // namespace ns3

#endif // ASTRA_SCHEDULE_RUN_H
