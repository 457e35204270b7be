// SPDX-License-Identifier: GPL-2.0-only
#include "congestion-control.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(CongestionControl);

TypeId
CongestionControl::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::CongestionControl").SetParent<Object>().SetGroupName("Congestion");
    return tid;
}

CongestionControl::CongestionControl() = default;

CongestionControl::~CongestionControl() = default;

} // namespace ns3
