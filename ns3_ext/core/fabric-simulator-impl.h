// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_FABRIC_SIMULATOR_IMPL_H
#define ASTRA_FABRIC_SIMULATOR_IMPL_H

#include "event-loop.h"

#include "ns3/simulator-impl.h"

#include <list>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * ns-3's simulator on an EventLoop: typed events of the fabric and ordinary EventImpls share one
 * queue and one clock, so anything written for ns-3 runs unchanged beside the fabric.
 *
 * The clock counts picoseconds: ns-3's time resolution must be PS.
 */
class FabricSimulatorImpl : public SimulatorImpl, private EventHandler
{
  public:
    static TypeId GetTypeId();

    FabricSimulatorImpl();
    ~FabricSimulatorImpl() override;

    /// The loop that fabric models schedule on.
    EventLoop& Loop()
    {
        return m_loop;
    }

    /// Why the last Run came back.
    LoopExit LastExit() const
    {
        return m_lastExit;
    }

    /// Ordinary events that are in the queue, cancelled ones included.
    size_t PendingNs3Events() const;

    /// The node on whose behalf an event of the fabric acts; the former one is returned.
    uint32_t SwapContext(uint32_t context)
    {
        return std::exchange(m_context, context);
    }

    // SimulatorImpl
    void Destroy() override;
    bool IsFinished() const override;
    void Stop() override;
    EventId Stop(const Time& delay) override;
    EventId Schedule(const Time& delay, EventImpl* event) override;
    void ScheduleWithContext(uint32_t context, const Time& delay, EventImpl* event) override;
    EventId ScheduleNow(EventImpl* event) override;
    EventId ScheduleDestroy(EventImpl* event) override;
    void Remove(const EventId& id) override;
    void Cancel(const EventId& id) override;
    bool IsExpired(const EventId& id) const override;
    void Run() override;
    Time Now() const override;
    Time GetDelayLeft(const EventId& id) const override;
    Time GetMaximumSimulationTime() const override;
    void SetScheduler(ObjectFactory schedulerFactory) override;
    uint32_t GetSystemId() const override;
    uint32_t GetContext() const override;
    uint64_t GetEventCount() const override;

  private:
    /// An ordinary event that waits in the loop.
    struct Pending
    {
        EventImpl* impl{nullptr};
        uint32_t context{0};
        uint32_t uid{0};
    };

    void HandleEvent(uint64_t slot) override;
    void ForgetCancelled();
    void DoDispose() override;
    EventId Insert(uint32_t context, TimePs time, EventImpl* event);

    EventLoop m_loop;
    LoopExit m_lastExit{LoopExit::EMPTY};
    std::vector<Pending> m_pending;
    std::vector<uint32_t> m_freeSlots;
    std::list<EventId> m_destroyEvents;
    size_t m_cancelled{0}; ///< Of m_pending, those that will do nothing.
    uint32_t m_nextUid;
    uint32_t m_context;
    TimePs m_lastTime{NEVER_PS}; ///< Of the ordinary event that ran last.
    uint32_t m_lastUid{0};
};

/// For its life, what happens is of a node: ns-3 asks for that where packets come up from a device.
class ContextGuard
{
  public:
    ContextGuard(FabricSimulatorImpl& simulator, uint32_t node)
        : m_simulator(simulator),
          m_before(simulator.SwapContext(node))
    {
    }

    ~ContextGuard()
    {
        m_simulator.SwapContext(m_before);
    }

    ContextGuard(const ContextGuard&) = delete;
    ContextGuard& operator=(const ContextGuard&) = delete;

  private:
    FabricSimulatorImpl& m_simulator;
    uint32_t m_before;
};

} // namespace ns3

#endif // ASTRA_FABRIC_SIMULATOR_IMPL_H
