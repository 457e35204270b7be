// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_ANALYTIC_RUN_H
#define ASTRA_ANALYTIC_RUN_H

#include "../fabric/platform-description.h"
#include "run-outcome.h"
#include "schedule-description.h"
#include "transport-figures.h"

namespace ns3
{

/**
 * Run a schedule on a LogGpNetwork. Uses nothing of ns-3's global state, so it may run while a
 * packet simulation exists.
 *
 * @param platform Checked.
 * @param schedule Checked.
 * @param figures The transport.
 * @param options Seed, delays, limits.
 * @param progress Called now and then, or empty; may throw to end the run.
 * @return What it measured.
 */
RunOutcome RunAnalytic(const PlatformDescription& platform,
                       const ScheduleDescription& schedule,
                       const TransportFigures& figures,
                       const RunOptions& options,
                       const ProgressHook& progress);

} // namespace ns3

#endif // ASTRA_ANALYTIC_RUN_H
