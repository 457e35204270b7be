// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_DESCRIPTIONS_H
#define ASTRA_DESCRIPTIONS_H

#include "../engine/run-outcome.h"
#include "../engine/schedule-description.h"
#include "../engine/transport-figures.h"
#include "../fabric/platform-description.h"

#include <pybind11/pybind11.h>

namespace ns3
{

/// From astra_py.platforms.PlatformArrays; checked.
PlatformDescription ReadPlatform(const pybind11::handle& arrays);

/// From astra_py.collectives.schedule.Schedule; checked.
ScheduleDescription ReadSchedule(const pybind11::handle& schedule);

/// From astra_py.engines.base.TransportModel.
TransportFigures ReadTransport(const pybind11::handle& model);

/// The moment at which the receiver's side is told, from astra_py.engines.base.TransportModel.
EdgeOn ReadNotifyOn(const pybind11::handle& model);

/// From astra_py.engines.base.EngineOptions.
RunOptions ReadOptions(const pybind11::handle& options);

/// The columns of astra_py.engines.base.EngineColumns by name, and `waiting` as dictionaries.
pybind11::dict GiveOutcome(RunOutcome&& outcome);

} // namespace ns3

#endif // ASTRA_DESCRIPTIONS_H
