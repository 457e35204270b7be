// SPDX-License-Identifier: GPL-2.0-only
#include "fabric-simulator-impl.h"

#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <limits>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FabricSimulatorImpl");

NS_OBJECT_ENSURE_REGISTERED(FabricSimulatorImpl);

namespace
{

/// Cancelled events are kept in the queue while they are fewer than this, or than the others.
constexpr size_t MOST_CANCELLED = 4096;

} // namespace

TypeId
FabricSimulatorImpl::GetTypeId()
{
    static TypeId tid = TypeId("ns3::FabricSimulatorImpl")
                            .SetParent<SimulatorImpl>()
                            .SetGroupName("Fabric")
                            .AddConstructor<FabricSimulatorImpl>();
    return tid;
}

FabricSimulatorImpl::FabricSimulatorImpl()
    : m_nextUid(EventId::UID::VALID),
      m_context(Simulator::NO_CONTEXT)
{
}

FabricSimulatorImpl::~FabricSimulatorImpl() = default;

void
FabricSimulatorImpl::DoDispose()
{
    for (Pending& pending : m_pending)
    {
        if (pending.impl != nullptr)
        {
            pending.impl->Unref();
        }
    }
    m_pending.clear();
    m_freeSlots.clear();
    m_cancelled = 0;
    m_loop.Clear();
    SimulatorImpl::DoDispose();
}

void
FabricSimulatorImpl::Destroy()
{
    while (!m_destroyEvents.empty())
    {
        const Ptr<EventImpl> event = m_destroyEvents.front().PeekEventImpl();
        m_destroyEvents.pop_front();
        if (!event->IsCancelled())
        {
            event->Invoke();
        }
    }
}

size_t
FabricSimulatorImpl::PendingNs3Events() const
{
    return m_pending.size() - m_freeSlots.size();
}

bool
FabricSimulatorImpl::IsFinished() const
{
    return m_loop.IsEmpty();
}

void
FabricSimulatorImpl::Run()
{
    NS_LOG_FUNCTION(this);
    m_lastExit = m_loop.Run();
}

void
FabricSimulatorImpl::Stop()
{
    m_loop.Stop();
}

EventId
FabricSimulatorImpl::Stop(const Time& delay)
{
    return Simulator::Schedule(delay, &Simulator::Stop);
}

EventId
FabricSimulatorImpl::Insert(uint32_t context, TimePs time, EventImpl* event)
{
    uint32_t slot;
    if (m_freeSlots.empty())
    {
        slot = static_cast<uint32_t>(m_pending.size());
        m_pending.emplace_back();
    }
    else
    {
        slot = m_freeSlots.back();
        m_freeSlots.pop_back();
    }
    const uint32_t uid = m_nextUid++;
    m_pending[slot] = Pending{event, context, uid};
    m_loop.ScheduleTimer(time, *this, slot);
    return EventId(event, static_cast<uint64_t>(time), context, uid);
}

void
FabricSimulatorImpl::HandleEvent(uint64_t slot)
{
    const Pending pending = m_pending[slot];
    m_pending[slot] = Pending{};
    m_freeSlots.push_back(static_cast<uint32_t>(slot));
    m_lastTime = m_loop.Now();
    m_lastUid = pending.uid;
    if (pending.impl->IsCancelled() && m_cancelled > 0)
    {
        --m_cancelled;
    }
    const Ptr<EventImpl> event(pending.impl, false); // Given back even if it throws.
    m_context = pending.context;
    try
    {
        event->Invoke();
    }
    catch (...)
    {
        m_context = Simulator::NO_CONTEXT;
        throw;
    }
    m_context = Simulator::NO_CONTEXT; // The events of the fabric have no context.
}

EventId
FabricSimulatorImpl::Schedule(const Time& delay, EventImpl* event)
{
    return Insert(GetContext(), m_loop.Now() + delay.GetTimeStep(), event);
}

void
FabricSimulatorImpl::ScheduleWithContext(uint32_t context, const Time& delay, EventImpl* event)
{
    Insert(context, m_loop.Now() + delay.GetTimeStep(), event);
}

EventId
FabricSimulatorImpl::ScheduleNow(EventImpl* event)
{
    return Insert(GetContext(), m_loop.Now(), event);
}

EventId
FabricSimulatorImpl::ScheduleDestroy(EventImpl* event)
{
    const EventId id(Ptr<EventImpl>(event, false),
                     static_cast<uint64_t>(m_loop.Now()),
                     Simulator::NO_CONTEXT,
                     EventId::UID::DESTROY);
    m_destroyEvents.push_back(id);
    return id;
}

void
FabricSimulatorImpl::Remove(const EventId& id)
{
    if (id.GetUid() == EventId::UID::DESTROY)
    {
        m_destroyEvents.remove(id);
        return;
    }
    Cancel(id);
}

void
FabricSimulatorImpl::Cancel(const EventId& id)
{
    // The slot stays in the queue and is skipped by EventImpl::Invoke when its time comes, unless
    // there are too many such: a timer that each ACK sets anew leaves thousands behind.
    if (IsExpired(id))
    {
        return;
    }
    id.PeekEventImpl()->Cancel();
    if (id.GetUid() != EventId::UID::DESTROY && ++m_cancelled > MOST_CANCELLED &&
        2 * m_cancelled > PendingNs3Events())
    {
        ForgetCancelled();
    }
}

void
FabricSimulatorImpl::ForgetCancelled()
{
    m_loop.Forget([this](const Event& event) {
        if (event.handler != this || !m_pending[event.argument].impl->IsCancelled())
        {
            return false;
        }
        m_pending[event.argument].impl->Unref();
        m_pending[event.argument] = Pending{};
        m_freeSlots.push_back(static_cast<uint32_t>(event.argument));
        return true;
    });
    m_cancelled = 0;
}

bool
FabricSimulatorImpl::IsExpired(const EventId& id) const
{
    EventImpl* event = id.PeekEventImpl();
    if (event == nullptr || event->IsCancelled())
    {
        return true;
    }
    if (id.GetUid() == EventId::UID::DESTROY)
    {
        return std::find(m_destroyEvents.begin(), m_destroyEvents.end(), id) ==
               m_destroyEvents.end();
    }
    const auto now = static_cast<uint64_t>(m_loop.Now());
    if (id.GetTs() != now)
    {
        return id.GetTs() < now;
    }
    // Ordinary events of one instant run in the order in which they were scheduled.
    return m_lastTime == m_loop.Now() && id.GetUid() <= m_lastUid;
}

Time
FabricSimulatorImpl::Now() const
{
    return TimeStep(static_cast<uint64_t>(m_loop.Now()));
}

Time
FabricSimulatorImpl::GetDelayLeft(const EventId& id) const
{
    return IsExpired(id) ? TimeStep(0) : TimeStep(id.GetTs() - static_cast<uint64_t>(m_loop.Now()));
}

Time
FabricSimulatorImpl::GetMaximumSimulationTime() const
{
    return TimeStep(static_cast<uint64_t>(std::numeric_limits<TimePs>::max()));
}

void
FabricSimulatorImpl::SetScheduler(ObjectFactory schedulerFactory)
{
    // The order of simultaneous events is part of the results, so there is one queue only.
    NS_LOG_WARN("FabricSimulatorImpl keeps its own event queue; "
                << schedulerFactory.GetTypeId().GetName() << " is not used");
}

uint32_t
FabricSimulatorImpl::GetSystemId() const
{
    return 0;
}

uint32_t
FabricSimulatorImpl::GetContext() const
{
    return m_context;
}

uint64_t
FabricSimulatorImpl::GetEventCount() const
{
    return m_loop.EventCount();
}

} // namespace ns3
