// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_FABRIC_TCP_DCTCP_H
#define ASTRA_FABRIC_TCP_DCTCP_H

#include "ns3/tcp-dctcp.h"

namespace ns3
{

/**
 * ns-3's DCTCP with a window of two segments at least.
 *
 * ns-3's halves its window down to one segment, and then each round trip waits for the timer of
 * delayed acknowledgements. All other controls of ns-3, and DCTCP in Linux (dctcp_ssthresh), keep
 * two (RFC 5681, equation 4).
 */
class FabricTcpDctcp : public TcpDctcp
{
  public:
    static TypeId GetTypeId();

    uint32_t GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t bytesInFlight) override;
    Ptr<TcpCongestionOps> Fork() override;
};

} // namespace ns3

#endif // ASTRA_FABRIC_TCP_DCTCP_H
