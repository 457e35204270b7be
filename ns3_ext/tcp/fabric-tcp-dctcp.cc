// SPDX-License-Identifier: GPL-2.0-only
#include "fabric-tcp-dctcp.h"

#include "ns3/tcp-socket-state.h"

#include <algorithm>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(FabricTcpDctcp);

TypeId
FabricTcpDctcp::GetTypeId()
{
    static TypeId tid = TypeId("ns3::FabricTcpDctcp")
                            .SetParent<TcpDctcp>()
                            .SetGroupName("Fabric")
                            .AddConstructor<FabricTcpDctcp>();
    return tid;
}

uint32_t
FabricTcpDctcp::GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t bytesInFlight)
{
    constexpr uint32_t LEAST_SEGMENTS = 2;
    return std::max(TcpDctcp::GetSsThresh(tcb, bytesInFlight), LEAST_SEGMENTS * tcb->m_segmentSize);
}

Ptr<TcpCongestionOps>
FabricTcpDctcp::Fork()
{
    return CopyObject<FabricTcpDctcp>(this);
}

} // namespace ns3
