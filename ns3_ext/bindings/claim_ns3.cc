// SPDX-License-Identifier: GPL-2.0-only
#include "../core/errors.h"
#include "bindings.h"

#include "ns3/global-value.h"
#include "ns3/nstime.h"
#include "ns3/string.h"

namespace ns3
{

void
ClaimNs3()
{
    if (Time::GetResolution() != Time::PS)
    {
        // Times that exist already are converted, unless a simulation has run before: then ns-3 no
        // longer knows them, and each would silently be off by a factor of 1,000.
        const Time probe = NanoSeconds(1);
        Time::SetResolution(Time::PS);
        if (probe.GetTimeStep() != 1000)
        {
            throw ConfigError("ns-3 has run a simulation in this process with a time resolution "
                              "other than picoseconds: import astra_py's engine before that");
        }
    }
    if (!GlobalValue::BindFailSafe("SimulatorImplementationType",
                                   StringValue("ns3::FabricSimulatorImpl")))
    {
        throw ConfigError("ns-3 does not know ns3::FabricSimulatorImpl: the extension is linked to "
                          "another ns-3 than the process uses");
    }
}

} // namespace ns3
