// SPDX-License-Identifier: GPL-2.0-only
#include "../core/errors.h"
#include "bindings.h"

#include "ns3/global-value.h"
#include "ns3/nstime.h"
#include "ns3/string.h"

namespace ns3
{

namespace
{

/**
 * Whether ns-3 still knows all times that exist and would convert them to another resolution.
 *
 * It stops to when a simulation has run or a resolution was set, and then aborts the process on an
 * attempt. Only its private list tells; explicit instantiation may name private members.
 */
bool DoesNs3KnowItsTimes();

template <auto LIST>
struct KnownTimes
{
    friend bool DoesNs3KnowItsTimes()
    {
        return *LIST != nullptr;
    }
};

template struct KnownTimes<&Time::g_markingTimes>;

} // namespace

void
ClaimNs3()
{
    if (Time::GetResolution() != Time::PS)
    {
        if (!DoesNs3KnowItsTimes())
        {
            throw ConfigError(
                "ns-3 has run a simulation in this process, or had its time resolution "
                "set, other than to picoseconds: import astra_py's engine before that");
        }
        Time::SetResolution(Time::PS);
    }
    if (!GlobalValue::BindFailSafe("SimulatorImplementationType",
                                   StringValue("ns3::FabricSimulatorImpl")))
    {
        throw ConfigError("ns-3 does not know ns3::FabricSimulatorImpl: the extension is linked to "
                          "another ns-3 than the process uses");
    }
}

} // namespace ns3
