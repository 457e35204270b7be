// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_CONTROL_COLUMNS_H
#define ASTRA_CONTROL_COLUMNS_H

#include "../roce/control-record.h"

#include <pybind11/pybind11.h>
#include <vector>

namespace ns3
{

/// Add the columns control_* of astra_py.engines.base.EngineColumns.
void GiveControls(pybind11::dict& columns, const std::vector<ControlRecord>& records);

} // namespace ns3

#endif // ASTRA_CONTROL_COLUMNS_H
