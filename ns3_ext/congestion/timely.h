// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_TIMELY_H
#define ASTRA_TIMELY_H

#include "congestion-control.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"

namespace ns3
{

/**
 * TIMELY: rates that follow the gradient of the round-trip time.
 *
 * Source: Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015,
 * algorithm 1.
 */
class Timely : public CongestionControl
{
  public:
    static TypeId GetTypeId();

    Timely();
    ~Timely() override;

    std::unique_ptr<FlowControl> NewFlow(const FlowFigures& figures) const override;

    bool UsesRoundTrip() const override
    {
        return true;
    }

  private:
    class Flow;

    Time m_lowThreshold;
    Time m_highThreshold;
    Time m_minRoundTrip;
    double m_gradientWeight{0};
    double m_decrease{0};
    DataRate m_additiveIncrease;
    uint32_t m_hyperAfter{0};
    uint32_t m_hyperFactor{0};
    uint64_t m_segment{0};
    DataRate m_minRate;
};

} // namespace ns3

#endif // ASTRA_TIMELY_H
