// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_HPCC_H
#define ASTRA_HPCC_H

#include "congestion-control.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"

namespace ns3
{

/**
 * HPCC: windows that follow what each port on the way says of its load.
 *
 * Source: Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, algorithm 1. The
 * telemetry has the paper's size on the wire and our ports' exact figures, which the paper's
 * switches round to fit it.
 */
class Hpcc : public CongestionControl
{
  public:
    static TypeId GetTypeId();

    Hpcc();
    ~Hpcc() override;

    std::unique_ptr<FlowControl> NewFlow(const FlowFigures& figures) const override;

    uint32_t TelemetryBytes() const override
    {
        return m_telemetryBytes;
    }

  private:
    class Flow;

    double m_targetUtilization{0};
    uint32_t m_maxStage{0};
    uint64_t m_additiveIncrease{0};
    Time m_baseRoundTrip;
    DataRate m_minRate;
    uint32_t m_telemetryBytes{0};
};

} // namespace ns3

#endif // ASTRA_HPCC_H
