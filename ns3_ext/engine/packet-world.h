// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_PACKET_WORLD_H
#define ASTRA_PACKET_WORLD_H

#include "../core/fabric-simulator-impl.h"
#include "../fabric/channel-sampler.h"
#include "../fabric/fabric.h"
#include "../fabric/packet-router.h"
#include "../fabric/platform-description.h"
#include "../roce/roce-transport.h"
#include "../wire/packet-capture.h"
#include "network-world.h"
#include "ns3-defaults.h"
#include "run-outcome.h"
#include "transport-figures.h"

#include "ns3/attribute.h"
#include "ns3/node.h"
#include "ns3/ptr.h"
#include "ns3/type-id.h"

#include <memory>
#include <vector>

namespace ns3
{

class TcpTransport;

/**
 * A platform in ns-3: its nodes, devices, NICs, and the simulator they share.
 *
 * Between construction and the first event everything is there to be looked at through ns-3's own
 * NodeList and Config. ns-3 has one simulator a process, so there is one PacketWorld at a time, on
 * a simulator that nothing has used; its end is that of the simulator and of all that was added to
 * it.
 */
class PacketWorld : public NetworkWorld
{
  public:
    /**
     * @param platform The platform, checked; moved in.
     * @param figures The transport.
     * @param options Seed, limits, further ns-3 defaults.
     * @throws ConfigError when an ns-3 attribute refuses its value, another PacketWorld lives, or
     *         ns-3 already runs another simulator.
     */
    PacketWorld(PlatformDescription platform, const TransportFigures& figures, RunOptions options);
    ~PacketWorld() override;

    PacketWorld(const PacketWorld&) = delete;
    PacketWorld& operator=(const PacketWorld&) = delete;

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
    void TakeLog(WatchLog& log) override;
    void TakeBins(ChannelBins& bins) override;
    void Close() override;
    std::vector<uint32_t> NodeIds() const override;

  private:
    void TakeSimulator();
    void SimulatorDestroyed();
    void BuildNodes(const TransportFigures& figures);
    void BuildTcp(const TransportFigures& figures);
    NicCounters CountersOf(RankId rank) const;
    void TellConnections(RunOutcome& outcome) const;
    static Ptr<RoceNic> BuildNic(const TransportFigures& figures,
                                 const Ptr<CongestionControl>& control);
    static FrameFigures FrameFiguresOf(const TransportFigures& figures,
                                       const Ptr<CongestionControl>& control);
    void RefreshFigures();

    static bool s_isAlive;

    const PlatformDescription m_platform;
    const RunOptions m_options;
    Ns3Defaults m_defaults;
    Ptr<FabricSimulatorImpl> m_simulator;
    Ptr<Fabric> m_fabric;
    std::vector<Ptr<Node>> m_nodes; ///< In order of the platform.
    std::unique_ptr<RoceTransport> m_transport;
    std::unique_ptr<TcpTransport> m_tcp; ///< Where TCP carries what goes over Ethernet.
    std::unique_ptr<PacketRouter> m_router;
    std::unique_ptr<ChannelSampler> m_sampler;
    std::unique_ptr<PacketCapture> m_capture;
    std::unique_ptr<FrameWatch> m_frameWatch;
    std::unique_ptr<QueuePairWatch> m_queuePairWatch;
    FrameFigures m_frameFigures;
    size_t m_mostPendingEvents{0}; ///< Of the instants at which the run's hook was called.
    bool m_isOpen{false};
    bool m_isRunning{false};
};

} // namespace ns3

#endif // ASTRA_PACKET_WORLD_H
