// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_DCQCN_H
#define ASTRA_DCQCN_H

#include "congestion-control.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"

namespace ns3
{

/// When DCQCN's estimate of congestion takes notice of CNPs.
enum class AlphaUpdate : uint8_t
{
    PER_CNP = 0,      ///< With each CNP; it decays after intervals without one (the paper).
    PER_INTERVAL = 1, ///< At the end of each interval, by whether it had CNPs (NICs).
};

/**
 * DCQCN: rates that are cut when CNPs come and recover by a timer and a byte counter.
 *
 * Source: Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015,
 * section 3.1. Where NICs and the simulators made after them differ from the paper, an attribute
 * tells the two apart.
 */
class Dcqcn : public CongestionControl
{
  public:
    static TypeId GetTypeId();

    Dcqcn();
    ~Dcqcn() override;

    std::unique_ptr<FlowControl> NewFlow(const FlowFigures& figures) const override;

    bool UsesCnp() const override
    {
        return true;
    }

    bool UsesEcn() const override
    {
        return true;
    }

    bool ActsOnCnpOnly() const override
    {
        return true;
    }

    TimePs CnpInterval() const override
    {
        return m_cnpInterval.GetPicoSeconds();
    }

    TimePs CnpDelay() const override
    {
        return m_cnpDelay.GetPicoSeconds();
    }

  private:
    class Flow;

    double m_gain{0};
    Time m_alphaInterval;
    AlphaUpdate m_alphaUpdate{AlphaUpdate::PER_CNP};
    Time m_increaseTimer;
    uint64_t m_byteCounter{0};
    uint32_t m_fastRecovery{0};
    DataRate m_additiveIncrease;
    DataRate m_hyperIncrease;
    DataRate m_minRate;
    Time m_decreaseInterval;
    bool m_doesClampTarget{false};
    Time m_cnpInterval;
    Time m_cnpDelay;
};

} // namespace ns3

#endif // ASTRA_DCQCN_H
