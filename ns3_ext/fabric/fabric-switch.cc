// SPDX-License-Identifier: GPL-2.0-only
#include "fabric-switch.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(FabricSwitch);

TypeId
FabricSwitch::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FabricSwitch")
            .SetParent<Object>()
            .SetGroupName("Fabric")
            .AddConstructor<FabricSwitch>()
            .AddAttribute("ForwardingLatency",
                          "From a frame's last byte in to its first bit out, at the earliest.",
                          TimeValue(NanoSeconds(300)),
                          MakeTimeAccessor(&FabricSwitch::m_forwardingLatency),
                          MakeTimeChecker(Time(0)));
    return tid;
}

FabricSwitch::FabricSwitch() = default;

FabricSwitch::~FabricSwitch() = default;

} // namespace ns3
