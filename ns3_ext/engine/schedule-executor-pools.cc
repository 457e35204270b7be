// SPDX-License-Identifier: GPL-2.0-only
// The part of ScheduleExecutor that takes units of pools and gives them back.
#include "../core/errors.h"
#include "schedule-executor.h"

#include <string>

namespace ns3
{

void
ScheduleExecutor::Granted(uint64_t who)
{
    if (who == PoolSet::NOBODY)
    {
        return;
    }
    const auto index = static_cast<uint32_t>(who >> 32);
    const auto op = static_cast<uint32_t>(who);
    if (index == OUTER)
    {
        ++m_poolsHeld[op];
        OuterReady(op);
    }
    else
    {
        ++m_instances[index]->poolsHeld[op];
        InnerReady(index, op);
    }
}

bool
ScheduleExecutor::TakePool(uint32_t index, uint32_t op, int32_t pool)
{
    Instance& instance = *m_instances[index];
    const uint64_t who = Pack(index, op);
    const uint8_t priority = m_schedule.instancePriority[index];
    if (pool >= 0)
    {
        return instance.pools.Take(static_cast<size_t>(pool), who, priority);
    }
    const auto owner = static_cast<uint32_t>(instance.graph->Description().src[op]);
    return m_pools.Take(SharedPool(index, owner, pool), who, priority);
}

size_t
ScheduleExecutor::SharedPool(uint32_t index, uint32_t member, int32_t pool) const
{
    const auto& shared = m_instances[index]->graph->Description().sharedPool;
    const int32_t first = shared[static_cast<size_t>(FIRST_SHARED_POOL - pool)];
    return static_cast<size_t>(first + RankOf(index, static_cast<int32_t>(member)));
}

void
ScheduleExecutor::ReleaseInner(uint32_t index, uint32_t op, EdgeOn moment)
{
    Instance& instance = *m_instances[index];
    for (const TemplateGraph::HeldUnit& unit : instance.graph->Released(op, moment))
    {
        if (instance.poolsHeld[unit.taker] == 0)
        {
            throw InvariantError("operation " + std::to_string(op) + " gives back what operation " +
                                 std::to_string(unit.taker) + " has not taken");
        }
        Granted(unit.pool >= 0 ? instance.pools.Release(static_cast<size_t>(unit.pool))
                               : m_pools.Release(SharedPool(index, unit.member, unit.pool)));
    }
}

} // namespace ns3
