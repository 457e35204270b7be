// SPDX-License-Identifier: GPL-2.0-only
#include "bindings.h"

PYBIND11_MODULE(_ns3_ext, module)
{
    module.doc() = "The packet engine: event core, fabric, RoCE and schedule executor, in ns-3.";
    ns3::BindErrors(module);
    ns3::ClaimNs3();
    ns3::BindCongestion(module);
    ns3::BindEvents(module);
    ns3::BindHost(module);
    ns3::BindNetwork(module);
    ns3::BindRouteTable(module);
    ns3::BindRuns(module);
    ns3::BindTypeIds(module);
}
