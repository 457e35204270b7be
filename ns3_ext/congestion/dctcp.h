// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_DCTCP_H
#define ASTRA_DCTCP_H

#include "congestion-control.h"

namespace ns3
{

/**
 * DCTCP: windows that are cut once a round trip, in proportion to the share of marked packets.
 *
 * Source: Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, section 3.1; what that leaves
 * open is RFC 8257's. All else is TCP's (RFC 5681): slow start, additive increase, half the window
 * after a loss.
 */
class Dctcp : public CongestionControl
{
  public:
    static TypeId GetTypeId();

    Dctcp();
    ~Dctcp() override;

    std::unique_ptr<FlowControl> NewFlow(const FlowFigures& figures) const override;

    bool UsesEcn() const override
    {
        return true;
    }

  private:
    class Flow;

    double m_gain{0};
    uint64_t m_initialWindow{0};
};

} // namespace ns3

#endif // ASTRA_DCTCP_H
