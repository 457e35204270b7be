// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_BINDINGS_H
#define ASTRA_BINDINGS_H

#include <pybind11/pybind11.h>

namespace ns3
{

void BindCongestion(pybind11::module_& module);
void BindErrors(pybind11::module_& module);
void BindEvents(pybind11::module_& module);
void BindHost(pybind11::module_& module);
void BindNetwork(pybind11::module_& module);
void BindRouteTable(pybind11::module_& module);
void BindRuns(pybind11::module_& module);
void BindTypeIds(pybind11::module_& module);

/// Make ns-3 count picoseconds and run on our event queue, in this process, from now on.
void ClaimNs3();

} // namespace ns3

#endif // ASTRA_BINDINGS_H
