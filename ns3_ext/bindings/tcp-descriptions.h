// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_TCP_DESCRIPTIONS_H
#define ASTRA_TCP_DESCRIPTIONS_H

#include "../engine/run-outcome.h"
#include "../tcp/host-figures.h"
#include "../tcp/tcp-figures.h"

#include <pybind11/pybind11.h>

namespace ns3
{

namespace py = pybind11;

/// From astra_py.engines.base.TcpModel.
TcpFigures ReadTcp(const py::handle& model);

/// From astra_py.engines.base.HostModel.
HostFigures ReadHost(const py::handle& model);

/// The columns of cores, staging, sockets and of messages at hosts.
void GiveTcpColumns(py::dict& columns, RunOutcome& outcome);

} // namespace ns3

#endif // ASTRA_TCP_DESCRIPTIONS_H
