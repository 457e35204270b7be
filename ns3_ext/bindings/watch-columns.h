// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_WATCH_COLUMNS_H
#define ASTRA_WATCH_COLUMNS_H

#include "../engine/run-outcome.h"

#include <pybind11/pybind11.h>

namespace ns3
{

/// Read an astra_py.engines.watch.Watch; throws ConfigError where it is not one.
WatchOptions ReadWatch(const pybind11::handle& watch);

/// Give what was written down, by the names of astra_py.engines.watch.WatchLog.
pybind11::dict GiveLog(WatchLog&& log);

} // namespace ns3

#endif // ASTRA_WATCH_COLUMNS_H
