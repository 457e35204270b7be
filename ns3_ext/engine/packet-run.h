// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_PACKET_RUN_H
#define ASTRA_PACKET_RUN_H

#include "../core/fabric-simulator-impl.h"
#include "../fabric/fabric.h"
#include "../fabric/platform-description.h"
#include "../roce/roce-transport.h"
#include "run-outcome.h"
#include "schedule-description.h"
#include "transport-figures.h"

#include "ns3/attribute.h"
#include "ns3/node.h"
#include "ns3/ptr.h"
#include "ns3/type-id.h"

#include <memory>
#include <vector>

namespace ns3
{

/**
 * A schedule on a platform in ns-3, from its nodes and devices to its last event.
 *
 * Between construction and Run everything is there to be looked at through ns-3's own NodeList and
 * Config. ns-3 has one simulator a process, so there is one PacketRun at a time, on a simulator
 * that nothing has used; its end is that of the simulator and of all that was added to it.
 */
class PacketRun
{
  public:
    /**
     * @param platform The platform, checked; moved in.
     * @param schedule The schedule, checked; moved in.
     * @param figures The transport.
     * @param options Seed, delays, limits, further ns-3 defaults.
     * @throws ConfigError when an ns-3 attribute refuses its value, another PacketRun lives, or
     *         ns-3 already runs another simulator.
     */
    PacketRun(PlatformDescription platform,
              ScheduleDescription schedule,
              const TransportFigures& figures,
              RunOptions options);
    ~PacketRun();

    PacketRun(const PacketRun&) = delete;
    PacketRun& operator=(const PacketRun&) = delete;

    /**
     * Run to the end, once.
     *
     * @param progress Called now and then, or empty; may throw to end the run.
     * @return What was measured.
     */
    RunOutcome Run(const ProgressHook& progress);

    /// Take everything out of ns-3 again; harmless when done twice.
    void Close();

    /// Where the platform's nodes are in ns-3's NodeList.
    std::vector<uint32_t> NodeIds() const;

  private:
    /// An attribute default that is put back at the end.
    struct SavedDefault
    {
        TypeId type;
        size_t index;
        Ptr<const AttributeValue> value;
    };

    void TakeSimulator();
    void SimulatorDestroyed();
    void ApplyDefaults();
    void RestoreDefaults();
    void BuildNodes(const TransportFigures& figures);
    static Ptr<CongestionControl> BuildControl(const TransportFigures& figures);
    static Ptr<RoceNic> BuildNic(const TransportFigures& figures,
                                 const Ptr<CongestionControl>& control);
    void RefreshFigures();

    static bool s_isAlive;

    const PlatformDescription m_platform;
    const ScheduleDescription m_schedule;
    const RunOptions m_options;
    std::vector<SavedDefault> m_savedDefaults;
    Ptr<FabricSimulatorImpl> m_simulator;
    Ptr<Fabric> m_fabric;
    std::vector<Ptr<Node>> m_nodes; ///< In order of the platform.
    std::unique_ptr<RoceTransport> m_transport;
    std::unique_ptr<ScheduleExecutor> m_executor;
    bool m_hasRun{false};
    bool m_isOpen{false};
    bool m_isRunning{false};
};

} // namespace ns3

#endif // ASTRA_PACKET_RUN_H
