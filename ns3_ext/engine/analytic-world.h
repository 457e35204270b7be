// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_ANALYTIC_WORLD_H
#define ASTRA_ANALYTIC_WORLD_H

#include "../core/event-loop.h"
#include "../fabric/platform-description.h"
#include "analytic-network.h"
#include "network-world.h"
#include "run-outcome.h"
#include "transport-figures.h"

#include <memory>
#include <vector>

namespace ns3
{

/**
 * A model of whole messages with its clock. Uses nothing of ns-3's global state, so it may run
 * while a packet simulation exists.
 */
class AnalyticWorld : public NetworkWorld
{
  public:
    /**
     * @param platform The platform, checked; moved in.
     * @param figures The transport.
     * @param options Seed, limits, and which model.
     */
    AnalyticWorld(PlatformDescription platform,
                  const TransportFigures& figures,
                  const RunOptions& options);

    // NetworkWorld
    uint32_t Ranks() const override;
    EventLoop& Loop() override;
    MessageNetwork& Network() override;
    void UsePriorities(uint32_t mask) override;
    void Begin() override;
    LoopExit Run(const std::function<void()>& hook) override;
    void StopWhenIdle() override;
    bool IsIdle() const override;
    void Count(RunOutcome& outcome) const override;
    void Close() override;
    std::vector<uint32_t> NodeIds() const override;

  private:
    const PlatformDescription m_platform;
    EventLoop m_loop;
    const std::unique_ptr<AnalyticNetwork> m_network;
};

} // namespace ns3

#endif // ASTRA_ANALYTIC_WORLD_H
