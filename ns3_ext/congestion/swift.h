// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_SWIFT_H
#define ASTRA_SWIFT_H

#include "congestion-control.h"

#include "ns3/nstime.h"

namespace ns3
{

/**
 * Swift: windows that hold the round trip at a target delay.
 *
 * Source: Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the
 * Datacenter", SIGCOMM 2020, algorithm 1 and section 3.5; the window of the fabric, as a NIC has
 * no host stack whose delay a second window would hold.
 */
class Swift : public CongestionControl
{
  public:
    static TypeId GetTypeId();

    Swift();
    ~Swift() override;

    std::unique_ptr<FlowControl> NewFlow(const FlowFigures& figures) const override;

    bool UsesRoundTrip() const override
    {
        return true;
    }

  private:
    class Flow;

    Time m_baseTarget;
    Time m_hopTarget;
    Time m_flowRange;
    double m_flowMinWindow{0};
    double m_flowMaxWindow{0};
    double m_additiveIncrease{0};
    double m_decrease{0};
    double m_maxDecrease{0};
    uint32_t m_resetAfter{0};
    double m_minWindow{0};
    double m_maxWindow{0};
};

} // namespace ns3

#endif // ASTRA_SWIFT_H
